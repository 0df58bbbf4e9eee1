"""Which learning rate suits the autoencoder on photographs? Measured by a nearest-neighbour vote on its codes.

    python scripts/recipes_autoencoder.py DATA OUT.jsonl

The script trains on 6,000 images of CIFAR-10 for 20 epochs. For 1,000 of them it measures how often a vote of the 20
nearest codes gives the right class (null if the codes are not finite); chance is 10 %. Existing rows are skipped.
"""

import json
import sys
from pathlib import Path

from sklearn.neighbors import KNeighborsClassifier

import mheal
from mheal import datasets
from mheal_reproduction.networks.dec import Recipe
from mheal_reproduction.networks.many import fit_many

IMAGES, JUDGED, EPOCHS, NEIGHBOURS = 6000, 1000, 20, 20
RATES, SEEDS = (1.0, 0.1), range(5)


def main() -> None:
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    X, y, _, _ = datasets.load("cifar10", data)
    X, y = X[:IMAGES], y[:IMAGES]
    there = [json.loads(line) for line in out.open(encoding="utf-8")] if out.exists() else []
    for rate in RATES:
        for seed in SEEDS:
            if any((row["rate"], row["seed"]) == (rate, seed) for row in there):
                continue
            recipe = Recipe(
                10, image_shape=X.shape[1:], pretrain_epochs=EPOCHS, pretrain_rate=rate, max_iter=1
            )  # DEC is not needed
            right = None
            try:
                (one,) = fit_many(X.reshape(IMAGES, -1), [seed], recipe=recipe)
            except ValueError as error:  # it diverged, which is a result too
                print(error)
            else:
                codes = one.initial_codes
                model = KNeighborsClassifier(NEIGHBOURS).fit(codes[JUDGED:], y[JUDGED:])
                right = float(model.score(codes[:JUDGED], y[:JUDGED]))
            with out.open("a", encoding="utf-8") as file:
                file.write(
                    json.dumps(
                        {
                            "mheal": mheal.__version__,
                            "rate": rate,
                            "seed": seed,
                            "epochs": EPOCHS,
                            "neighbours_right": right,
                        }
                    )
                    + "\n"
                )
            print(rate, seed, right, flush=True)


if __name__ == "__main__":
    main()
