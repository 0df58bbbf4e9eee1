"""How long should ResNet20 be trained on few photographs? Measured by accuracy on the test set.

    python scripts/recipes_cifar.py DATA OUT.jsonl            random labels, several numbers of steps
    python scripts/recipes_cifar.py DATA OUT.jsonl --full     all 50,000 images, once

DATA holds cifar10.npz. The script needs a GPU. Targets were set before: 48–55, 60–66, 75–80 and 83–86 % with 1,000,
2,000, 5,000 and 10,000 random labels, and 91 % with all images. Steps were chosen to reach the targets, not to favour a
strategy.
"""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

import mheal
from mheal import datasets
from mheal_reproduction.networks import recipes
from mheal_reproduction.networks.classifier import accuracies
from mheal_reproduction.networks.training import train_many

folder, out = Path(sys.argv[1]), Path(sys.argv[2])
X, y, X_test, y_test = datasets.load("cifar10", folder)
X, X_test = (np.ascontiguousarray(images.transpose(0, 3, 1, 2)) for images in (X, X_test))


def measure(recipe: recipes.Recipe, sizes: tuple[int, ...], seeds: range) -> None:
    """Train one network for each size and seed, all together, and add a row for each."""
    begin = perf_counter()
    units = [(n, seed) for n in sizes for seed in seeds]
    rows = [np.random.default_rng(seed).permutation(len(X))[:n] for n, seed in units]
    networks = train_many(X, [(r, y[r]) for r in rows], [seed for _, seed in units], recipe, classes=10)
    found = accuracies(networks, X_test, y_test)
    seconds = (perf_counter() - begin) / len(units)
    with out.open("a") as file:
        for (n, seed), accuracy in zip(units, found, strict=True):
            about = {
                "mheal": mheal.__version__,
                "labels": n,
                "seed": seed,
                "accuracy": round(float(accuracy), 4),
                "seconds": round(seconds, 2),
            }
            file.write(json.dumps(about | {"device": torch.cuda.get_device_name(), "recipe": asdict(recipe)}) + "\n")


if "--full" in sys.argv:
    measure(recipes.cifar_full(), (len(X),), range(1))
else:
    few, many = recipes.cifar(1000), recipes.cifar(5000)
    for steps in (1500, 3000):
        measure(replace(few, steps=steps), (1000, 2000), range(4))
    measure(replace(few, steps=1500, rate=0.05), (1000, 2000), range(4))
    measure(replace(many, steps=2000), (5000, 10_000), range(4))
