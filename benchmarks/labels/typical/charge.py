"""Do networks gain by a charge of 1? CIFAR-10, judged on training images that are left out of the pool.

    python results/typical/charge.py DATA OUT.jsonl LABELS

As `results/asking/networks.py`, whose rows of mheal and random it is compared with: DATA holds cifar10.npz and
features/cifar10_simclr_0.npz, the last 10,000 training images are the test set. Trains in bfloat16, on a CPU too. What
is done already is not done again.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
import finish_on_cpu

from mheal import datasets
from mheal.embed.device_images import Images
from mheal.strategies import get
from mheal_reproduction.networks import training
from mheal_reproduction.networks.labelling import Method, plan
from mheal_reproduction.networks.recipes import cifar
from mheal_reproduction.paper.image_lines import FIRST
from mheal_reproduction.paper.image_tables import channels_first
from mheal_reproduction.paper.machine import gpu

CHARGE, LEFT_OUT, PLANNED, SEEDS = 1.0, 10_000, (1000, 2000, 5000), range(3)


def main() -> None:
    data, out, labels = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    X, y, _, _ = datasets.load("cifar10", data)
    pixels, truth = channels_first(X), y[:-LEFT_OUT]
    features = np.load(data / "features" / "cifar10_simclr_0.npz")["features"][:-LEFT_OUT].astype(np.float32)
    device = training.default_device(pixels)
    if not torch.cuda.is_available():
        training.Place = finish_on_cpu.Place  # type: ignore[misc]  # what a Trainer makes its places of
    images = Images.load(pixels[:-LEFT_OUT], device)
    tests = images.like(pixels[-LEFT_OUT:])
    there = [json.loads(line) for line in out.open(encoding="utf-8")] if out.exists() else []
    done = {(row["labels"], row["seed"]) for row in there}
    for seed in SEEDS:
        if (labels, seed) in done:
            continue
        first = np.random.default_rng(seed).permutation(len(truth))[:FIRST]
        rows = plan(Method(get("mheal")(charge=CHARGE)), features, PLANNED, first, seed)[labels]
        start = int(np.random.SeedSequence([seed, labels]).generate_state(1)[0] // 2)  # as runs of that seed do
        with training.Trainer(images, cifar(labels), classes=10, places=1) as trainer:
            network = trainer.train([(rows, truth[rows])], [start])[0]
        accuracy = network.accuracy(tests, y[-LEFT_OUT:])
        row = {"charge": CHARGE, "labels": labels, "seed": seed, "accuracy": accuracy, "device": gpu() or "CPU"}
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


if __name__ == "__main__":
    main()
