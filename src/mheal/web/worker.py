"""Work in the background: reading the pool, picking, learning from the labels, drawing the map, planning."""

import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

import numpy as np

from ..exceptions import UserError
from .pool import Pool
from .project import Project

ROUND = 50  # picks at a time
LOW = 8  # picks left that no tab holds, with which the next round begins
GUESS = 20  # labels from which the model's guess is shown
FOLDS = 5
SURE = 0.5  # cross-validated accuracy from which its guess is shown
PAUSE = 0.2  # seconds between two reports of progress

Publish = Callable[[dict[str, Any]], None]


@dataclass
class Status:
    """How far a task is: state is "idle", "waiting", "running", "done" or "failed"."""

    state: str = "idle"
    done: int = 0
    total: int = 0
    what: str = ""


class Learned:
    """A small model of the labels: its predictions, and the labels that it finds unlikely."""

    def __init__(self, pool: Pool, labels: dict[int, str]) -> None:
        from ..estimators import fit_on_pool, for_pool

        at = pool.at([*labels])
        y = np.array([labels[row] for row in pool.rows(at)])
        self.pool, self.n = pool, len(y)
        self.model = fit_on_pool("logistic", 0, pool.X, at, y)
        self.chance = self._held_out(for_pool("logistic", pool.X), at, y)
        known = [one for one in self.chance.values() if one is not None]
        self.accuracy = float(np.mean([guess == label for label, guess, _ in known])) if known else 0.0

    def guess(self, row: int) -> tuple[str, float] | None:
        """The most likely class of a row, and its probability."""
        if self.n < GUESS or self.accuracy < SURE or not len(at := self.pool.at([row])):
            return None
        proba = self.model.predict_proba(self.pool.X[at])[0]
        best = int(proba.argmax())
        return str(self.model.classes_[best]), float(proba[best])

    def doubted(self) -> list[tuple[int, str, float]]:
        """Rows whose label a model of the other labels finds unlikely, what it expects, and the label's probability."""
        wrong = [(row, one[1], one[2]) for row, one in self.chance.items() if one is not None and one[0] != one[1]]
        return sorted(wrong, key=lambda one: one[2])

    def _held_out(self, model: Any, at: Any, y: Any) -> dict[int, tuple[str, str, float] | None]:
        """For each labelled row its label, the guess of a model that was not fitted on it, and the label's probability.

        None where that model does not know the label.
        """
        from ..estimators import fit_model

        fold = np.empty(len(y), np.int64)
        fold[np.lexsort((np.random.default_rng(0).random(len(y)), y))] = np.arange(len(y)) % FOLDS
        found: dict[int, tuple[str, str, float] | None] = {}
        for k in range(FOLDS):
            test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
            if not len(test) or not len(train):
                continue
            fitted = fit_model(model, 0, self.pool.X[at[train]], y[train])
            proba, classes = fitted.predict_proba(self.pool.X[at[test]]), fitted.classes_.tolist()
            for i, row, likely in zip(test, self.pool.rows(at[test]), proba, strict=True):
                label = str(y[i])
                known = label in classes
                chance = float(likely[classes.index(label)]) if known else 0.0
                found[row] = (label, str(classes[int(likely.argmax())]), chance) if known else None
        return found


class Worker:
    """Two threads: one reads, picks and learns, the other draws the map and plans."""

    def __init__(self, project: Project, key: str, publish: Publish) -> None:
        self.project, self.key, self.publish = project, key, publish
        self.pool: Pool | None = None
        self.learned: Learned | None = None
        self.plan: dict[str, Any] | None = None
        self.jobs = {name: Status() for name in ("pool", "picks", "model", "map", "plan")}
        self._first, self._second = _line("picks"), _line("map")
        self._learnt, self._lock, self._loaded = 0, Lock(), Event()

    def load(self, read: Callable[[Any], Pool]) -> None:
        """Read the pool, then pick where there is nothing to label."""

        def work(report: Any) -> None:
            try:
                self.pool = read(report)
            finally:
                self._loaded.set()
            self.changed()

        self._start("pool", work)

    def changed(self) -> None:
        """After new labels: pick more where few picks are left, and learn where there are enough new labels."""
        if self.pool is None:
            return
        waiting, n = len(self.project.waiting()), len(self.project.labels)
        wanted = min(ROUND, self.project.budget - n - waiting)
        if wanted > 0 and self.project.free() < LOW and self.jobs["picks"].state != "failed":
            self.pick(wanted)
        if len(set(self.project.labels.values())) > 1 and n >= 10 and abs(n - self._learnt) >= max(5, n // 20):
            self._start("model", self._learn)

    def pick(self, n: int) -> bool:
        """Pick n more rows with the labels so far; whether that begins now."""
        return self._start("picks", lambda report: self._pick(n, report))

    def map(self) -> None:
        """Draw the map, unless it is there."""
        if self.jobs["map"].state in ("idle", "failed"):
            self._start("map", self._map)

    def make_plan(self) -> None:
        """Estimate the learning curve, unless no label has changed since."""
        if self.plan is None or self.plan["labels"] != self.project.labels:
            self._start("plan", self._plan)

    def statuses(self) -> dict[str, dict[str, Any]]:
        """How far all tasks are."""
        return {name: asdict(status) for name, status in self.jobs.items()}

    def _start(self, name: str, work: Callable[[Any], None]) -> bool:
        with self._lock:
            if self.jobs[name].state in ("waiting", "running"):
                return False
            status = self.jobs[name] = Status("waiting")
        last = 0.0

        def tell() -> None:
            self.publish({"type": "job", "name": name, **asdict(status)})

        def report(done: int, total: int, what: str) -> None:
            nonlocal last
            status.done, status.total, status.what = done, total, what
            if (now := monotonic()) - last > PAUSE:
                last = now
                tell()

        def run() -> None:
            status.state = "running"
            tell()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    work(report)
                status.state = "done"
            except UserError as error:
                status.state, status.what = "failed", str(error)
            except Exception as error:
                status.state, status.what = "failed", f"a bug in mheal: {type(error).__name__}: {error}"
                traceback.print_exc(file=sys.stderr)
            tell()

        tell()
        (self._second if name in ("map", "plan") else self._first).put(run)
        return True

    def _pick(self, n: int, report: Any) -> None:
        from .. import api

        assert self.pool is not None
        labels, pool = dict(self.project.labels), self.pool
        taken = pool.at([*{*labels, *self.project.skipped, *self.project.picks}])
        y = np.full(pool.n, None, object)
        y[pool.at([*labels])] = [labels[row] for row in pool.rows(pool.at([*labels]))]
        n = min(n, pool.n - len(taken))
        if n < 1:
            raise UserError("every row of the pool is picked already")
        report(0, n, f"picking {n} items")
        picks = api.select(
            pool.source.X, n, labeled=taken, y=y if labels else None,
            deduplicate=True if pool.source.kind == "images" else "auto", progress=report,
        )  # fmt: skip
        rows = pool.rows(picks.indices)
        chosen, items = [*zip(rows, picks.reason, strict=True)], pool.items(rows)
        self.project.store.write(lambda: self.project.add_picks(chosen, items, first=False)).result()
        self.publish({"type": "picks", "waiting": len(self.project.waiting())})

    def _learn(self, report: Any) -> None:
        assert self.pool is not None
        labels = dict(self.project.labels)
        self._learnt = len(labels)
        report(0, 0, "learning from the labels")
        self.learned = Learned(self.pool, labels)
        self.publish({"type": "model", "labels": len(labels)})

    def _map(self, report: Any) -> None:
        from .map import drawn_map

        store = self.project.store
        if store.cached("map", self.key) is None:
            self._loaded.wait()
            if self.pool is None:
                raise UserError(f"without the pool there is no map: {self.jobs['pool'].what}")
            made = drawn_map(self.pool, report)
            store.write(lambda: store.cache("map", self.key, made)).result()

    def _plan(self, report: Any) -> None:
        from ..evaluate import accuracy_plan, horizon

        assert self.pool is not None
        labels, pool, batch = dict(self.project.labels), self.pool, ROUND
        at = pool.at([*labels])
        y = np.array([labels[row] for row in pool.rows(at)])
        report(0, 0, "learning from some of the labels, testing on the others")
        made = accuracy_plan(pool.X, y, labeled=at, ahead=horizon(pool.n, len(at)), batch=batch)
        fit, curve = made.fits["accuracy"], made.curves["accuracy"]
        last = max(self.project.budget, len(y) + batch)
        grid = np.unique(np.linspace(len(y), last, 20).round()).tolist()
        self.plan = {
            "labels": labels, "now": fit.predict(len(y))._asdict(), "advice": made.sentences, "go_on": made.go_on,
            "measured": [*zip(curve.labels.tolist(), curve.accuracy.tolist(), strict=True)],
            "ahead": [[k, *fit.predict(k)] for k in grid],
        }  # fmt: skip
        self.publish({"type": "plan"})


def _line(name: str) -> "SimpleQueue[Callable[[], None]]":
    """A thread that does what is put into this queue, one after the other, and ends with the process."""
    line: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def run() -> None:
        while True:
            line.get()()

    Thread(target=run, name=f"mheal-{name}", daemon=True).start()
    return line
