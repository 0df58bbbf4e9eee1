"""Active learning with networks: label, train from scratch, test. Many runs proceed together and share the GPU.

Whenever a run has new labels, it waits for a network. Its picks are saved each time, so an interrupted run resumes.
Methods that use neither labels nor networks can make all their picks before training.
"""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from mheal import MHEAL
from mheal.runtime.files import replacing
from mheal.strategies import Strategy

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


class Network(Protocol):
    """A trained classifier, which takes the numbers of images."""

    def predict_proba(self, images: Rows) -> Floats:
        """(images, classes)."""

    def samples(self, images: Rows, samples: int, seed: int) -> Floats:
        """Probabilities of `samples` passes with dropout: (samples, images, classes)."""

    def embed(self, images: Rows) -> Floats:
        """The input of the last layer."""


@dataclass(frozen=True, eq=False)
class ImagePool:
    """Rows that can be labelled: an image and a label each; images may repeat, and labels may be wrong."""

    images: Rows
    labels: Rows

    def training_set(self, rows: Rows) -> tuple[Rows, Rows]:
        """Images and labels of these rows."""
        return self.images[rows], self.labels[rows]


@dataclass(frozen=True)
class Acquisition:
    """How a method picks the rows to label.

    uses : "nothing" beside features; the "labels" of earlier picks; or a "network", trained anew before each round
    features : "given", or "network": the last layer of that network
    batch : labels a round; None: as many as the next budget allows
    candidates : rows that each round considers, drawn anew; None: all
    """

    strategy: Strategy
    uses: Literal["nothing", "labels", "network"] = "nothing"
    features: Literal["given", "network"] = "given"
    batch: int | None = None
    candidates: int | None = None

    @property
    def nested(self) -> bool:
        """For a method that uses nothing but features: whether its picks are the first picks of any larger budget."""
        return self.strategy.kind == "ranked" or isinstance(self.strategy, MHEAL)

    def pick(self, X: Floats, n: int, labeled: Rows, y: Rows | None, model: Any, rng: np.random.Generator) -> Rows:
        """Pick n rows of X, without labels and model where the strategy has too few labels to use them."""
        strategy = self.strategy
        optional = not (strategy.needs_labels or strategy.needs_model)
        if self.uses == "nothing" or (optional and len(labeled) < strategy.min_labels):
            y, model = None, None
        return strategy.select(X, n, labeled=labeled, y=y, estimator=model, random_state=rng).indices


def pick_ahead(acquisition: Acquisition, X: Floats, budgets: Sequence[int], first: Rows, seed: int) -> dict[int, Rows]:
    """Picks by budget of a method that uses nothing but features; if not nested, they start after the rows `first`."""
    found: dict[int, Rows] = {}
    for n in sorted(budgets, reverse=True):
        if acquisition.nested and found:
            found[n] = found[max(budgets)][:n]
        elif n > len(first):
            rng = np.random.default_rng([seed, n])
            found[n] = np.append(first, acquisition.pick(X, n - len(first), first, None, None, rng))
        else:
            found[n] = first
    return found


@dataclass
class Run:
    """One method on one pool with one seed; `first` are the rows that are labelled at the start."""

    acquisition: Acquisition
    pool: ImagePool
    X: Floats
    budgets: Sequence[int]
    first: Rows
    seed: int
    log: Path | None = None  # file that keeps the picks
    ahead: Mapping[int, Rows] | None = None  # see `pick_ahead`; made when it is needed, if it is not given
    labeled: Rows = field(init=False)
    seconds: float = field(init=False, default=0.0)
    scores: dict[int, float] = field(init=False, default_factory=dict)
    picks: dict[int, Rows] = field(init=False, default_factory=dict)  # by budget

    def __post_init__(self) -> None:
        self.labeled = self.first
        if self.log is not None and self.log.exists():
            stored = json.loads(self.log.read_text(encoding="utf-8"))
            self.labeled = np.array(stored["labeled"], np.int64)
            self.scores = {int(budget): score for budget, score in stored["scores"].items()}
            self.picks = {int(budget): np.array(rows, np.int64) for budget, rows in stored["picks"].items()}
            self.seconds = stored["seconds"]

    def rounds(self, score: Callable[[Network], float]) -> Generator[Rows, Network, None]:
        """Yield rows to train on; the caller sends back a network that is trained on their labels."""
        network = None
        for n in self._sizes():
            if len(self.labeled) < n:
                self.labeled = self.label(n, network)
                self._save()
            if n in self.budgets or self._queries:
                network = yield self.labeled
            if n in self.budgets and network is not None:
                self.scores[n], self.picks[n] = score(network), self.labeled
                self._save()

    def label(self, n: int, network: Network | None) -> Rows:
        """The first n rows to label: picks made ahead, or the picks so far and new ones."""
        if self.acquisition.uses == "nothing":
            if self.ahead is None:
                self.ahead = pick_ahead(self.acquisition, self.X, self.budgets, self.first, self.seed)
            return self.ahead[n]
        rng = np.random.default_rng([self.seed, n])
        return np.append(self.labeled, self._pick(n - len(self.labeled), network, rng))

    def training_seed(self) -> int:
        """The seed of the network, which is the same for runs of one seed with the same number of labels."""
        return int(np.random.SeedSequence([self.seed, len(self.labeled)]).generate_state(1)[0] // 2)

    @property
    def _queries(self) -> bool:
        return self.acquisition.uses == "network"

    def _sizes(self) -> Iterator[int]:
        """Numbers of labels, from the present one on, at which a network is trained or labels are added."""
        sizes = {len(self.first), *self.budgets}
        if self.acquisition.batch:
            sizes |= set(range(len(self.first), max(self.budgets), self.acquisition.batch))
        here = len(self.labeled)
        if here in self.scores and not self._queries:
            here += 1
        yield from (n for n in sorted(sizes) if n >= here)

    def _pick(self, n: int, network: Network | None, rng: np.random.Generator) -> Rows:
        acquisition, seen, labeled = self.acquisition, np.arange(len(self.X)), self.labeled
        if acquisition.candidates is not None:
            free = np.setdiff1d(seen, labeled)
            few = rng.choice(free, min(len(free), max(n, acquisition.candidates)), replace=False)
            seen = np.concatenate([labeled, np.sort(few)])
            labeled = np.arange(len(labeled))
        model, X = None, self.X[seen]
        if network is not None and self._queries:
            model = _ByRow(network, self.pool.images[seen], int(self.pool.labels.max()) + 1)
            X = X if acquisition.features == "given" else model.row_embedding(np.arange(len(seen)))
        return seen[acquisition.pick(X, n, labeled, self.pool.labels[seen[labeled]], model, rng)]

    def _save(self) -> None:
        if self.log is not None:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            content = {
                "labeled": self.labeled.tolist(),
                "scores": self.scores,
                "picks": {budget: rows.tolist() for budget, rows in self.picks.items()},
                "seconds": self.seconds,
            }
            with replacing(self.log) as part:
                part.write_text(json.dumps(content), encoding="utf-8")


class _ByRow:
    """A network as strategies query it, by the rows of their pool."""

    def __init__(self, network: Network, images: Rows, classes: int) -> None:
        self.network, self.images, self.classes_ = network, images, np.arange(classes)

    def row_proba(self, rows: Rows) -> Floats:
        return self.network.predict_proba(self.images[rows])

    def row_samples(self, rows: Rows, n: int, rng: np.random.Generator) -> Floats:
        return self.network.samples(self.images[rows], n, int(rng.integers(2**31)))

    def row_embedding(self, rows: Rows) -> Floats:
        return self.network.embed(self.images[rows])


def run_together(
    runs: Mapping[Any, Run],
    train: Callable[[list[tuple[Rows, Rows]], list[int]], Sequence[Network]],
    score: Callable[[Network], float],
    finished: Callable[[Any, Run], None],
    workers: int = 1,
    clock: Callable[[], float] = perf_counter,
) -> None:
    """Complete all runs; in each step, one call of `train` trains the networks that they wait for.

    A network that several runs wait for is trained once. `workers` is the number of runs that pick at the same time, a
    thread each. The seconds of a step, by the `clock`, are divided equally among the runs that wait in it.
    """
    started = {key: run.rounds(score) for key, run in runs.items()}
    replies: Mapping[Any, Network | None] = dict.fromkeys(runs)
    with ThreadPoolExecutor(workers) as pool:
        while started:
            begin = clock()
            wanted = pool.map(_next, started.values(), [replies[key] for key in started])
            waiting = {key: rows for key, rows in zip(started, wanted, strict=True) if rows is not None}
            for key in [key for key in started if key not in waiting]:
                del started[key]
                finished(key, runs[key])
            replies = _train(runs, waiting, train)
            took = clock() - begin
            for key in waiting:
                runs[key].seconds += took / len(waiting)


def _next(rounds: Generator[Rows, Network, None], network: Network | None) -> Rows | None:
    """The rows that a run needs a network for next; None if the run has ended."""
    try:
        return rounds.send(network)  # type: ignore[arg-type]  # None starts a generator
    except StopIteration:
        return None


def _train(runs: Mapping[Any, Run], waiting: Mapping[Any, Rows], train: Callable[..., Any]) -> dict[Any, Network]:
    """A network for each run that waits for one."""
    sets, keys = {}, {}
    for key, rows in waiting.items():
        images, labels = runs[key].pool.training_set(rows)
        keys[key] = (images.tobytes(), labels.tobytes(), runs[key].training_seed())
        sets[keys[key]] = (images, labels)
    seeds = [seed for _, _, seed in sets]
    trained = dict(zip(sets, train(list(sets.values()), seeds), strict=True)) if sets else {}
    return {key: trained[keys[key]] for key in waiting}
