"""Features of four sets of images and one of texts, by each method, for run.py.

    pip install '.[vision,text]'
    python benchmarks/labels/features/prepare.py DATA TEXTS.csv     # writes DATA/features; resumes where it was stopped
    python benchmarks/labels/features/prepare.py DATA TEXTS.csv --speed     # appends to speed.csv; on an idle machine

DATA holds NAME.npz files with X_train and y_train, TEXTS.csv the news of Reuters-52 with columns text and category.
"""

import argparse
import csv
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

import mheal.embed

ITEMS = {"cifar10": 2000, "reuters-r52": 2000, "fashion_mnist": 1500, "mnist": 1500, "cifar100": 1500}
METHODS = {"images": ("shapes", "efficientnet", "efficientnet+shapes"), "texts": ("tfidf", "minilm", "minilm+tfidf")}
TIMED = 512


def items(data: Path, texts: Path, name: str) -> tuple[list[Path] | list[str], np.ndarray]:
    """Image files or texts, drawn at random, and their classes."""
    if name == "reuters-r52":
        table = pl.read_csv(texts).drop_nulls()
        keep = np.random.default_rng(0).permutation(len(table))[: ITEMS[name]]
        return table["text"].gather(keep).to_list(), table["category"].gather(keep).to_numpy()
    stored = np.load(data / f"{name}.npz")
    keep = np.random.default_rng(0).permutation(len(stored["y_train"]))[: ITEMS[name]]
    images = stored["X_train"][keep]
    folder = data / "png" / name
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{at:05d}.png" for at in range(len(keep))]
    for path, image in zip(paths, images, strict=True):
        if not path.exists():
            Image.fromarray(image).save(path)
    return paths, stored["y_train"].ravel()[keep]


def embedded(name: str, given: list[Path] | list[str], method: str) -> np.ndarray:
    """Features of all items."""
    return (mheal.embed.texts if name == "reuters-r52" else mheal.embed.images)(given, method)


def speed(data: Path, texts: Path) -> None:
    """Items a second of each method, with nothing kept before and the network loaded."""
    lines = []
    for name in ("cifar10", "reuters-r52"):
        given, _ = items(data, texts, name)
        for method in METHODS["texts" if name == "reuters-r52" else "images"]:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["MHEAL_CACHE"] = folder
                embedded(name, given[:8], method)
                begun = time.perf_counter()
                embedded(name, given[8 : 8 + TIMED], method)
                middle = time.perf_counter()
                embedded(name, given[8 : 8 + TIMED], method)
                again = time.perf_counter() - middle
            lines.append([name, method, os.cpu_count(), round(TIMED / (middle - begun), 1), round(TIMED / again, 1)])
            print(*lines[-1], flush=True)
    with (Path(__file__).parent / "speed.csv").open("w", newline="", encoding="utf-8") as file:
        head = ["dataset", "method", "cores", "items a second", "items a second, the second time"]
        csv.writer(file, lineterminator="\n").writerows([head, *lines])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--speed", action="store_true")
    args = parser.parse_args()
    if args.speed:
        speed(args.data, args.texts)
    else:
        (args.data / "features").mkdir(exist_ok=True)
        for name in ITEMS:
            given, y = items(args.data, args.texts, name)
            for method in METHODS["texts" if name == "reuters-r52" else "images"]:
                out = args.data / "features" / f"{name}_{method}.npz"
                if not out.exists():
                    np.savez(out, X=embedded(name, given, method), y=np.unique(y, return_inverse=True)[1])
                    print(out.name, flush=True)
