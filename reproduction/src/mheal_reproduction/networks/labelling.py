"""Active learning with networks: buy labels, train from scratch, test; many runs in step, so that they train together.

A run asks for a network whenever it has bought labels, and goes on when it gets one. What it has bought is written down
each time, so a run that was stopped goes on where it was. Methods that look at neither labels nor networks can make
their plan before.
"""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mheal.runtime.files import replacing
from mheal.strategies import Pool, Strategy

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


class Network(Protocol):
    """A trained classifier, asked about images by number."""

    def predict_proba(self, images: Rows) -> Floats:
        """(images, classes)."""

    def samples(self, images: Rows, samples: int, seed: int) -> Floats:
        """The same under `samples` draws of the dropout: (samples, images, classes)."""

    def embed(self, images: Rows) -> Floats:
        """What the last layer sees."""


@dataclass(frozen=True, eq=False)
class ImagePool:
    """What can be bought: an image and a label a row; an image may be there twice, and a label may be wrong."""

    images: Rows
    labels: Rows

    def training_set(self, rows: Rows) -> tuple[Rows, Rows]:
        """Images and labels of what was bought."""
        return self.images[rows], self.labels[rows]


@dataclass(frozen=True)
class Method:
    """How a line of a table buys labels.

    network : whether the strategy is to be shown a network, trained anew before each purchase
    features : "given", or "network": the last layer of that network
    batch : labels a round; None buys all that the next budget allows at once
    candidates : each round looks at so many rows, drawn anew; None looks at all
    """

    strategy: Strategy
    network: bool = False
    features: str = "given"
    batch: int | None = None
    candidates: int | None = None

    @property
    def asks_network(self) -> bool:
        """Whether a network must be trained before each purchase."""
        return self.network or self.strategy.needs_model or self.features == "network"

    @property
    def plans(self) -> bool:
        """Whether all purchases are settled before the first label is seen."""
        return self.strategy.kind != "adaptive" and not self.asks_network


def plan(method: Method, X: Floats, budgets: Sequence[int], first: Rows, seed: int) -> dict[int, Rows]:
    """What a method that plans buys by number of labels: a ranked one always adds, others start anew from `first`."""
    found: dict[int, Rows] = {}
    for n in sorted(budgets, reverse=True):
        if method.strategy.kind != "ranked" or not found:
            pool = Pool(X, first, np.empty(0, np.int64), None, np.random.default_rng([seed, n]))
            picks = method.strategy.select(pool, n - len(first)).indices if n > len(first) else first[:0]
            found[n] = np.append(first, picks)
        else:
            found[n] = found[max(budgets)][:n]
    return found


@dataclass
class Run:
    """One method in one pool under one seed; `first` are the rows whose labels are there at the start."""

    method: Method
    pool: ImagePool
    X: Floats
    budgets: Sequence[int]
    first: Rows
    seed: int
    diary: Path | None = None  # where purchases are written down
    planned: Mapping[int, Rows] | None = None  # see `plan`; made when it is needed, if it is not given
    labeled: Rows = field(init=False)
    seconds: float = field(init=False, default=0.0)
    scores: dict[int, float] = field(init=False, default_factory=dict)
    bought: dict[int, Rows] = field(init=False, default_factory=dict)  # by budget

    def __post_init__(self) -> None:
        self.labeled = self.first
        if self.diary is not None and self.diary.exists():
            written = json.loads(self.diary.read_text(encoding="utf-8"))
            self.labeled = np.array(written["labeled"], np.int64)
            self.scores = {int(budget): score for budget, score in written["scores"].items()}
            self.bought = {int(budget): np.array(rows, np.int64) for budget, rows in written["bought"].items()}
            self.seconds = written["seconds"]

    def rounds(self, score: Callable[[Network], float]) -> Generator[Rows, Network, None]:
        """Yield rows to train on, and expect a network trained on their labels."""
        network = None
        for n in self._sizes():
            if len(self.labeled) < n:
                self.labeled = self._buy(n, network)
                self._write()
            if n in self.budgets or self.method.asks_network:
                network = yield self.labeled
            if n in self.budgets and network is not None:
                self.scores[n], self.bought[n] = score(network), self.labeled
                self._write()

    def training_seed(self) -> int:
        """Runs of one seed start from the same network at the same number of labels."""
        return int(np.random.SeedSequence([self.seed, len(self.labeled)]).generate_state(1)[0] // 2)

    def _sizes(self) -> Iterator[int]:
        """Numbers of labels at which something happens, from where the run is."""
        sizes = {len(self.first), *self.budgets}
        if self.method.batch:
            sizes |= set(range(len(self.first), max(self.budgets), self.method.batch))
        here = len(self.labeled)
        if here in self.scores and not self.method.asks_network:
            here += 1
        yield from (n for n in sorted(sizes) if n >= here)

    def _buy(self, n: int, network: Network | None) -> Rows:
        """The first n labels: as planned, or what there is and more."""
        if self.method.plans:
            if self.planned is None:
                self.planned = plan(self.method, self.X, self.budgets, self.first, self.seed)
            return self.planned[n]
        rng = np.random.default_rng([self.seed, n])
        return np.append(self.labeled, self._pick(n - len(self.labeled), network, rng))

    def _pick(self, budget: int, network: Network | None, rng: np.random.Generator) -> Rows:
        seen, labeled = np.arange(len(self.X)), self.labeled
        if self.method.candidates is not None:
            free = np.setdiff1d(seen, labeled)
            few = rng.choice(free, min(len(free), max(budget, self.method.candidates)), replace=False)
            seen = np.concatenate([labeled, np.sort(few)])
            labeled = np.arange(len(labeled))
        model, X = None, self.X[seen]
        if network is not None and self.method.asks_network:
            model = _ByRow(network, self.pool.images[seen], int(self.pool.labels.max()) + 1)
            X = X if self.method.features == "given" else model.row_embedding(np.arange(len(seen)))
        labels = self.pool.labels[seen[labeled]]
        return seen[self.method.strategy.select(Pool(X, labeled, labels, model, rng), budget).indices]

    def _write(self) -> None:
        if self.diary is not None:
            self.diary.parent.mkdir(parents=True, exist_ok=True)
            written = {
                "labeled": self.labeled.tolist(),
                "scores": self.scores,
                "bought": {budget: rows.tolist() for budget, rows in self.bought.items()},
                "seconds": self.seconds,
            }
            with replacing(self.diary) as part:
                part.write_text(json.dumps(written), encoding="utf-8")


class _ByRow:
    """A network as the strategies ask it: about rows of their pool."""

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
) -> None:
    """Take all runs to their end: in each step the networks they wait for are trained in one call of `train`.

    Where runs ask for the same network, it is trained once. `workers` threads buy for as many runs at a time.
    """
    started = {key: run.rounds(score) for key, run in runs.items()}
    replies: Mapping[Any, Network | None] = dict.fromkeys(runs)
    with ThreadPoolExecutor(workers) as pool:
        while started:
            begin = perf_counter()
            wanted = pool.map(_next, started.values(), [replies[key] for key in started])
            asked = {key: rows for key, rows in zip(started, wanted, strict=True) if rows is not None}
            for key in [key for key in started if key not in asked]:
                del started[key]
                finished(key, runs[key])
            replies = _train(runs, asked, train)
            for key in asked:
                runs[key].seconds += (perf_counter() - begin) / len(asked)


def _next(rounds: Generator[Rows, Network, None], network: Network | None) -> Rows | None:
    """What a run wants its next network to be trained on; None: it has ended."""
    try:
        return rounds.send(network)  # type: ignore[arg-type]  # None starts a generator
    except StopIteration:
        return None


def _train(runs: Mapping[Any, Run], asked: Mapping[Any, Rows], train: Callable[..., Any]) -> dict[Any, Network]:
    """A network for each run that asked for one."""
    lessons, keys = {}, {}
    for key, rows in asked.items():
        images, labels = runs[key].pool.training_set(rows)
        keys[key] = (images.tobytes(), labels.tobytes(), runs[key].training_seed())
        lessons[keys[key]] = (images, labels)
    seeds = [seed for _, _, seed in lessons]
    trained = dict(zip(lessons, train(list(lessons.values()), seeds), strict=True)) if lessons else {}
    return {key: trained[keys[key]] for key in asked}
