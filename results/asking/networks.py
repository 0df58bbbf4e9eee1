"""How should MHEAL ask a network? Variants on MNIST, judged on training images that are left out of the pool.

    python results/asking/networks.py DATA OUT.jsonl [SEEDS]

DATA holds mnist.npz and features/mnist_codes_SEED.npz, which `mheal reproduce table3` leaves there. The last 10,000
training images are the test set, the others the pool; networks, recipe, rounds and first labels are those of Table 3.
Wants a GPU. What is done already is not done again; unfinished runs go on from the folder beside OUT.
"""

import json
import sys
from pathlib import Path

import numpy as np
from variants import Asking

from mheal import datasets
from mheal.learn.networks import Method, Run, run_together
from mheal.paper.image_lines import CANDIDATES, COLUMNS, DRAWS, FIRST, ROUND
from mheal.paper.image_pools import image_pool
from mheal.paper.image_tables import Task, Trainers
from mheal.strategies import get

LEFT_OUT = 10_000
STRATEGIES = [
    *(get(name)() for name in ("mheal", "badge")),
    get("variation-ratios")(draws=DRAWS),
    *(Asking(ask_from=start) for start in (32, 64, 128)),
    Asking(then="spread"),
    *(Asking(then=then, draws=DRAWS, space=space) for then in ("cover", "spread") for space in ("given", "network")),
]


def main() -> None:
    data, out, seeds = Path(sys.argv[1]), Path(sys.argv[2]), int((sys.argv[3:] or [4])[0])
    X, y, _, _ = datasets.load("mnist", data)
    X, y, X_left, y_left = X[:-LEFT_OUT], y[:-LEFT_OUT], X[-LEFT_OUT:], y[-LEFT_OUT:]
    task = Task("mnist", "clean", False, X, y, X_left, y_left, None)  # type: ignore[arg-type]  # features are read here
    there = [json.loads(line) for line in out.open(encoding="utf-8")] if out.exists() else []
    done = {(row["strategy"], row["seed"]) for row in there}
    strategies = {strategy.name: strategy for strategy in STRATEGIES}
    runs = {}
    for seed in range(seeds):
        codes = np.load(data / "features" / f"mnist_codes_{seed}.npz")["features"][: len(X)].astype(np.float32)
        first = np.random.default_rng(seed).permutation(len(X))[:FIRST]
        for name, strategy in strategies.items():
            if (name, seed) in done:
                continue
            asks = strategy.kind == "adaptive"
            rounds = {"batch": ROUND, "candidates": CANDIDATES} if asks else {}
            method, pool = Method(strategy, network=asks, **rounds), image_pool(y, "clean", seed)
            diary = out.with_suffix("") / f"{name} {seed}.json"
            runs[name, seed] = Run(method, pool, codes, COLUMNS["mnist"], first, seed, diary)

    def finished(key: tuple[str, int], run: Run) -> None:
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"strategy": key[0], "seed": key[1], "accuracy": run.scores}) + "\n")
        print(*key, run.scores, flush=True)

    with Trainers(task, len(runs)) as trainers:
        run_together(runs, trainers.train, trainers.score, finished, 8)


if __name__ == "__main__":
    main()
