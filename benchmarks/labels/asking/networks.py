"""How should MHEAL ask a network? Variants judged on training images that are left out of the pool.

    python results/asking/networks.py DATA NAME OUT.jsonl [SEEDS]

NAME is mnist, cifar10 or cifar100; DATA holds NAME.npz and, in features/, what `mheal reproduce table3` leaves there:
codes of MNIST, features of SimCLR of the others. The last 10,000 training images are the test set, the others the pool;
networks, recipe, rounds and first labels are those of Table 3, but on MNIST all that ask see 10,000 images a round.
Wants a GPU. What is done already is not done again; unfinished runs go on from the folder beside OUT.
"""

import json
import sys
from pathlib import Path

import numpy as np
from variants import Asking

from mheal import datasets
from mheal.strategies import get
from mheal.strategies.base import Strategy
from mheal_reproduction.networks.labelling import Method, Run, run_together
from mheal_reproduction.paper.image_lines import CANDIDATES, COLUMNS, DRAWS, FIRST, ROUND
from mheal_reproduction.paper.image_pools import image_pool
from mheal_reproduction.paper.image_tables import Task, Trainers, channels_first
from mheal_reproduction.paper.machine import gpu

LEFT_OUT = 10_000
BUDGETS = {"mnist": COLUMNS["mnist"], "cifar10": (1000, 2000, 5000), "cifar100": (2000, 5000, 10_000)}
ON_DIGITS = [
    *(get(name)() for name in ("mheal", "badge")),
    get("variation-ratios")(draws=DRAWS),
    *(Asking(ask_from=start) for start in (32, 64, 128)),
    Asking(then="spread"),
    *(Asking(then=then, draws=DRAWS, space=space) for then in ("cover", "spread") for space in ("given", "network")),
]
ON_PHOTOGRAPHS = [
    *(get(name)() for name in ("random", "mheal")),
    *(Asking(power=power) for power in (1, 2)),
    Asking(space="network"),
    Asking(power=1, draws=DRAWS, by="bald"),
]


def main() -> None:
    data, name, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    digits, seeds = name == "mnist", int((sys.argv[4:] or [4])[0])
    X, y, _, _ = datasets.load(name, data)
    X = channels_first(X)
    X, y, X_left, y_left = X[:-LEFT_OUT], y[:-LEFT_OUT], X[-LEFT_OUT:], y[-LEFT_OUT:]
    task = Task(name, "clean", False, X, y, X_left, y_left, None)  # type: ignore[arg-type]  # features are read here
    there = [json.loads(line) for line in out.open(encoding="utf-8")] if out.exists() else []
    done = {
        (row["strategy"], row["seed"])
        for row in there
        if row.get("dataset", "mnist") == name and set(row["accuracy"]) >= set(map(str, BUDGETS[name]))
    }
    strategies = {strategy.name: strategy for strategy in (ON_DIGITS if digits else ON_PHOTOGRAPHS)}
    runs = {}
    for seed in range(seeds):
        kind = f"codes_{seed}" if digits else "simclr_0"
        features = np.load(data / "features" / f"{name}_{kind}.npz")["features"][: len(X)].astype(np.float32)
        for title, strategy in strategies.items():
            if (title, seed) not in done:
                diary = out.with_suffix("") / name / f"{title} {seed}.json"
                runs[title, seed] = _run(strategy, digits, y, features, BUDGETS[name], seed, diary)

    def finished(key: tuple[str, int], run: Run) -> None:
        with out.open("a", encoding="utf-8") as file:
            row = {"dataset": name, "strategy": key[0], "seed": key[1], "accuracy": run.scores, "device": gpu()}
            file.write(json.dumps(row) + "\n")
        print(*key, run.scores, flush=True)

    with Trainers(task, len(runs)) as trainers:
        run_together(runs, trainers.train, trainers.score, finished, 8)


def _run(
    strategy: Strategy, digits: bool, y: np.ndarray, features: np.ndarray, budgets: tuple[int, ...], seed: int,
    diary: Path,
) -> Run:  # fmt: skip
    asks = strategy.kind == "adaptive"
    rounds = {"batch": ROUND, "candidates": CANDIDATES} if asks and digits else {}
    first = np.random.default_rng(seed).permutation(len(y))[: budgets[0] if strategy.name == "random" else FIRST]
    method = Method(strategy, network=asks, **rounds)
    return Run(method, image_pool(y, "clean", seed), features, budgets, first, seed, diary)


if __name__ == "__main__":
    main()
