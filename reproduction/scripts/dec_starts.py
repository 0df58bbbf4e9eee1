"""From which clusters should DEC start? Compares DEC and IDEC with different first centres on the same autoencoders.

    python scripts/dec_starts.py DATA results/dec/rows.jsonl [SEEDS]

DATA holds mnist.npz and fashion_mnist.npz. Their 60,000 training images are clustered, as in Table 1 at its largest n.
A dataset that has rows is skipped. On a GPU a dataset takes minutes.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import mheal
from mheal import SphericalKMeans
from mheal_reproduction.clustering_accuracy import clustering_accuracy
from mheal_reproduction.machine import gpu
from mheal_reproduction.networks.dec import Refinement, Rows, codes_of, pretrain
from mheal_reproduction.networks.initial import MAX_ITER, STARTS, initial_clusters
from mheal_reproduction.networks.stack import fast_matmul
from mheal_reproduction.paper.table1.deep import recipe_of
from mheal_reproduction.paper.table1.images import drawn, load
from mheal_reproduction.paper.table1.names import DEC

N = 60_000
Start = tuple[np.ndarray, np.ndarray]  # centres and labels


def spherical(codes: np.ndarray, seed: int) -> np.ndarray:
    """Labels of spherical k-means."""
    return SphericalKMeans(10, n_init=STARTS, max_iter=MAX_ITER, random_state=seed).fit(codes).labels_


def means(codes: np.ndarray, labels: np.ndarray) -> Start:
    return np.stack([codes[labels == c].mean(axis=0) for c in range(10)]), labels


BEGIN: dict[str, Callable[[np.ndarray, int], Start]] = {
    "spherical, as in Table 1": lambda codes, seed: initial_clusters(codes, "spherical", 10, seed, center=False),
    "spherical, means": lambda codes, seed: means(codes, spherical(codes, seed)),
    "spherical, centred, means": lambda codes, seed: initial_clusters(codes, "spherical", 10, seed),
    "spherical, standardised, means": lambda codes, seed: means(
        codes, spherical((codes - codes.mean(axis=0)) / codes.std(axis=0), seed)
    ),
    "kmeans": lambda codes, seed: initial_clusters(codes, "kmeans", 10, seed),
}


def main() -> None:
    data, out, seeds = Path(sys.argv[1]), Path(sys.argv[2]), list(range(int((sys.argv[3:] or [5])[0])))
    done = {json.loads(line)["dataset"] for line in out.open(encoding="utf-8")} if out.exists() else set()
    for name in ("mnist", "fashion_mnist"):
        if name not in done:
            found = measure(name, data, seeds)
            with out.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in found)


def measure(name: str, data: Path, seeds: list[int]) -> list[dict]:
    """All starts of all seeds, from one autoencoder a seed."""
    X, y = load(name, N, data)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    index = np.stack([drawn(len(X), N, seed) for seed in seeds])
    pixels = torch.from_numpy(X.reshape(len(X), -1) / np.float32(255)).to(device)
    rows = Rows(pixels, torch.as_tensor(index, device=device))
    recipe, found = recipe_of(DEC, quick=False), []
    with fast_matmul(device):
        encoder, decoder = pretrain(rows, seeds, recipe)
        codes = codes_of(encoder, rows).cpu().numpy()
        every = [(place, start) for place in range(len(seeds)) for start in BEGIN]
        begun = [(place, start, BEGIN[start](codes[place], seeds[place])) for place, start in every]
        places = [place for place, *_ in begun]
        centers = torch.from_numpy(np.stack([start[0] for *_, start in begun]).astype(np.float32)).to(device)
        for variant in ("dec", "idec"):
            parts = encoder.take(places), decoder.take(places), centers.clone()
            mine = [seeds[place] for place in places]
            refined = Refinement(rows.take(places), mine, replace(recipe, variant=variant), *parts).run()
            for (place, start, (_, before)), one in zip(begun, refined, strict=True):
                truth = y[index[place]]
                row = {
                    "mheal": mheal.__version__,
                    "dataset": name, "variant": variant, "start": start, "seed": seeds[place],
                    "before": clustering_accuracy(truth, before),
                    "accuracy": clustering_accuracy(truth, one.labels.cpu().numpy()),
                    "iterations": one.n_iter, "device": gpu() or "CPU",
                }  # fmt: skip
                print(row, flush=True)
                found.append(row)
    return found


if __name__ == "__main__":
    main()
