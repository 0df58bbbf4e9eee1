"""At which rate does the autoencoder learn from photographs? Its codes, judged by their neighbours.

    python results/recipes/autoencoder.py DATA OUT.jsonl

Trains on 6,000 images of CIFAR-10 for 20 epochs, and says how often the class of 1,000 of them is that of most of their
20 nearest codes among the others (null where the codes are not finite); blind guessing is right 10 % of the time. Rows
of what is done are not made again.
"""

import json
import sys
from pathlib import Path

from sklearn.neighbors import KNeighborsClassifier

from mheal import datasets
from mheal_reproduction.networks.clustering import fit_many
from mheal_reproduction.networks.dec import Recipe

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
            )  # of DEC nothing is wanted
            right = None
            try:
                (one,) = fit_many(X.reshape(IMAGES, -1), [seed], recipe=recipe)
            except ValueError as error:  # it diverged, which is an answer too
                print(error)
            else:
                codes = one.initial_codes
                model = KNeighborsClassifier(NEIGHBOURS).fit(codes[JUDGED:], y[JUDGED:])
                right = float(model.score(codes[:JUDGED], y[:JUDGED]))
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"rate": rate, "seed": seed, "epochs": EPOCHS, "neighbours_right": right}) + "\n")
            print(rate, seed, right, flush=True)


if __name__ == "__main__":
    main()
