"""What `mheal demo` makes of scikit-learn's digits: an experiment, and example files for all commands.

In the experiment, each split keeps 70 % of the 1,797 digits as the pool, by class, and tests on the rest. The model is
scikit-learn's logistic regression with its defaults, run to convergence, on pixels standardised over the whole pool
(which needs no labels). Smaller budgets use the first picks of the largest, also for the published algorithm, which
might start elsewhere for them.
"""

import csv
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import polars
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ..api import select
from ..evaluate import Curves
from ..exceptions import UserFileError
from ..runtime.files import replacing
from ..runtime.progress import Progress

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

BUDGETS = (10, 20, 30, 50, 75, 100)
STRATEGIES = {"mheal": "mheal", "random": "random", "k-center": "coreset", "MHEAL (paper)": "mheal-paper"}

MODEL = "logistic regression on digits"
LABELED = 15  # every so many rows one has a label
IMAGES, TEXTS = 120, 150
TOPICS = (
    "goal match team player season coach score win league cup",
    "bread butter soup oven recipe salt sugar dinner taste fresh",
    "rocket orbit planet launch moon crew probe star mission signal",
)


def run(budget: int, seeds: int, progress: Progress) -> tuple[Curves, Floats]:
    """Accuracy by strategy, seed and number of labels; and the images that mheal picked in the first split.

    Picks `budget` rows with every strategy in one split per seed, and scores the model on the picks.
    """
    images, y = load_digits(return_X_y=True)
    rows = []
    first = np.empty((0, 8, 8))
    for seed in range(seeds):
        progress(seed, seeds, "picking and training")
        pool, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
        scale = StandardScaler().fit(images[pool])
        X, X_test = scale.transform(images[pool]), scale.transform(images[test])
        for title, name in STRATEGIES.items():
            picks = select(images[pool], budget, strategy=name, random_state=seed).indices
            if not len(first):
                first = images[pool][picks].reshape(-1, 8, 8)
            with threadpool_limits(1):  # tiny fits: threaded BLAS only waits, 60 times as long on busy cores
                for labels in (*(b for b in BUDGETS if b < budget), budget):
                    accuracy = _score(X[picks[:labels]], y[pool][picks[:labels]], X_test, y[test])
                    rows.append(dict(strategy=title, seed=seed, estimator=MODEL, labels=labels, accuracy=accuracy))
    return Curves(rows), first


def _score(X: Floats, y: Rows, X_test: Floats, y_test: Rows) -> float:
    if len(np.unique(y)) == 1:  # nothing to learn yet
        return float(np.mean(y_test == y[0]))
    return float(LogisticRegression(max_iter=1000).fit(X, y).score(X_test, y_test))


def save(curves: Curves, path: Path) -> None:
    """Write a row for each strategy, seed and number of labels; no times, so that equal runs give equal files."""
    with replacing(path) as part, part.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["strategy", "seed", "labels", "accuracy"])
        for row in sorted(curves.rows, key=lambda row: (list(STRATEGIES).index(row["strategy"]), row["seed"])):
            table.writerow([row["strategy"], row["seed"], row["labels"], f"{row['accuracy']:.6f}"])


def draw_picks(images: Floats, path: Path) -> None:
    """Draw the picked images, best first, ten to a line, each under its rank."""
    lines = -(-len(images) // 10)
    figure = Figure(figsize=(6.5, 0.72 * lines + 0.5), layout="constrained")
    figure.suptitle(f"The {len(images)} digits that mheal picks to be labelled, best first", fontsize=11)
    for rank, ax in enumerate(figure.subplots(lines, 10, squeeze=False).flat, start=1):
        ax.set_axis_off()
        if rank <= len(images):
            ax.imshow(images[rank - 1], cmap="gray_r")
            ax.set_title(str(rank), fontsize=7, color="#555555", pad=2)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=150)


def write_files(folder: Path) -> list[str]:
    """Write digits.csv, digits.npy, labels.csv, proba.npy, images and texts.txt; no other file is overwritten.

    Returns their names, the folder of images as one.
    """
    contents = {**_digits(), **_images(), "texts.txt": _texts()}
    for name, content in contents.items():
        file = folder / name
        if file.exists() and not (file.is_file() and file.read_bytes() == content):
            raise UserFileError(f"{name} exists already: run `mheal demo --files` in another folder")
    for name, content in contents.items():
        with replacing(folder / name, make_folder=True) as part:
            part.write_bytes(content)
    return list(dict.fromkeys(Path(name).parts[0] for name in contents))


def _digits() -> dict[str, bytes]:
    X, y = load_digits(return_X_y=True)
    rows = np.arange(0, len(X), LABELED)
    ids = [f"d{row:04}" for row in range(len(X))]
    pixels = {f"p{j}": X[:, j].astype(int) for j in range(X.shape[1])}
    table = polars.DataFrame({"id": ids, **pixels, "label": y})
    labels = polars.DataFrame({"row": rows, "id": [ids[row] for row in rows], "label": y[rows]})
    proba = LogisticRegression(max_iter=300).fit(X[rows], y[rows]).predict_proba(X)
    return {
        "digits.csv": table.write_csv().encode(),
        "digits.npy": _bytes(lambda file: np.save(file, X.astype(np.float32))),
        "labels.csv": labels.write_csv().encode(),
        "proba.npy": _bytes(lambda file: np.save(file, proba.round(4))),  # the same on every machine
    }


def _images() -> dict[str, bytes]:
    from PIL import Image

    digits = load_digits()
    made = {}
    for at, (pixels, label) in enumerate(zip(digits.images[:IMAGES], digits.target, strict=False)):
        image = Image.fromarray((pixels * 15).astype(np.uint8))
        made[f"images/{label}/{at:03}.png"] = _bytes(lambda file, image=image: image.save(file, "PNG"))  # type: ignore[misc]
    return made


def _texts() -> bytes:
    rng = np.random.default_rng(0)
    topics = [words.split() for words in TOPICS]
    return "".join(" ".join(rng.choice(topics[at % 3], 8)) + "\n" for at in range(TEXTS)).encode()


def _bytes(write: Callable[[BytesIO], None]) -> bytes:
    content = BytesIO()
    write(content)
    return content.getvalue()
