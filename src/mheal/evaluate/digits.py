"""The experiment of `mheal demo` on scikit-learn's digits, and example files for all commands.

Each split uses 70 % of the 1,797 digits, stratified by class, as the pool and the rest for testing. The model is
scikit-learn's logistic regression on pixels that are standardised over the whole pool.
"""

from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import polars
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from ..api import select
from ..exceptions import UserFileError
from ..paper import PaperMHEAL
from ..runtime.files import replacing
from ..runtime.progress import Progress
from ..strategy import Strategy
from .curves import Curves
from .simulate import runs

BUDGETS = (10, 20, 30, 50, 75, 100)
MODEL = "logistic regression on digits"
TEST = 0.3  # share of the digits that is held out
LABELED = 15  # one row in this many is in labels.csv
IMAGES, TEXTS = 120, 150
TOPICS = (
    "goal match team player season coach score win league cup",
    "bread butter soup oven recipe salt sugar dinner taste fresh",
    "rocket orbit planet launch moon crew probe star mission signal",
)


def run(budget: int, seeds: Sequence[int], progress: Progress) -> Curves:
    """Accuracy by strategy, seed and number of labels, up to `budget`."""
    strategies: dict[str, str | Strategy] = {"mheal": "mheal", "random": "random", "k-center": "coreset"}
    strategies["MHEAL (paper)"] = PaperMHEAL()
    budgets = [*(labels for labels in BUDGETS if labels < budget), budget]
    X, y = load_digits(return_X_y=True)
    rows = []
    for done, unit in enumerate(runs(X, y, strategies, budgets, seeds=seeds, test_size=TEST), start=1):
        rows += [{**row, "estimator": MODEL} for row in unit]
        progress(done, len(strategies) * len(seeds), "picking and training")
    return Curves(rows)


def save(curves: Curves, path: Path) -> None:
    """Write a row for each strategy, seed and number of labels, without times, so that equal runs give equal files."""
    table = polars.DataFrame(curves.rows).select("strategy", "seed", "labels", "accuracy")
    order = polars.col("strategy").cast(polars.Enum(curves.strategies))
    table.sort(order, "seed", maintain_order=True).write_csv(path, float_precision=6, line_terminator="\r\n")


def draw_picks(budget: int, seed: int, path: Path) -> None:
    """Draw the images that mheal picks in the split of this seed, best first, ten per line, with their ranks."""
    digits = load_digits()
    pool, _ = train_test_split(digits.data, test_size=TEST, stratify=digits.target, random_state=seed)
    images = pool[select(pool, budget, random_state=seed).indices].reshape(-1, 8, 8)
    lines = -(-budget // 10)
    figure = Figure(figsize=(6.5, 0.72 * lines + 0.5), layout="constrained")
    figure.suptitle(f"The {budget} digits that mheal picks to be labelled, best first", fontsize=11)
    for rank, ax in enumerate(figure.subplots(lines, 10, squeeze=False).flat, start=1):
        ax.set_axis_off()
        if rank <= budget:
            ax.imshow(images[rank - 1], cmap="gray_r")
            ax.set_title(str(rank), fontsize=7, color="#555555", pad=2)
    figure.savefig(path, format="png", dpi=150)


def write_files(folder: Path) -> list[str]:
    """Write digits.csv, digits.npy, labels.csv, proba.npy, images and texts.txt; no other file is overwritten.

    Returns the names of the files and of the folder of images.
    """
    contents = _examples()
    for name, content in contents.items():
        file = folder / name
        if file.exists() and not (file.is_file() and file.read_bytes() == content):
            raise UserFileError(f"{name} exists already: run `mheal demo --files` in another folder")
    for name, content in contents.items():
        with replacing(folder / name, make_folder=True) as part:
            part.write_bytes(content)
    return list(dict.fromkeys(Path(name).parts[0] for name in contents))


def _examples() -> dict[str, bytes]:
    """The content of the example files, the same on every machine."""
    from PIL import Image

    X, y = load_digits(return_X_y=True)
    rows = np.arange(0, len(X), LABELED)
    ids = np.array([f"d{row:04}" for row in range(len(X))])
    pixels = {f"p{j}": column for j, column in enumerate(X.T.astype(int))}
    proba = LogisticRegression(max_iter=300).fit(X[rows], y[rows]).predict_proba(X)
    images = [Image.fromarray((row * 15).astype(np.uint8).reshape(8, 8)) for row in X[:IMAGES]]
    topics, rng = [words.split() for words in TOPICS], np.random.default_rng(0)
    texts = [" ".join(rng.choice(topics[at % len(topics)], 8)) for at in range(TEXTS)]
    return {
        "digits.csv": polars.DataFrame({"id": ids, **pixels, "label": y}).write_csv().encode(),
        "digits.npy": _bytes(lambda file: np.save(file, X.astype(np.float32))),
        "labels.csv": polars.DataFrame({"row": rows, "id": ids[rows], "label": y[rows]}).write_csv().encode(),
        "proba.npy": _bytes(lambda file: np.save(file, proba.round(4))),
        **{f"images/{y[at]}/{at:03}.png": _bytes(partial(im.save, format="PNG")) for at, im in enumerate(images)},
        "texts.txt": "".join(f"{text}\n" for text in texts).encode(),
    }


def _bytes(write: Callable[[BytesIO], None]) -> bytes:
    content = BytesIO()
    write(content)
    return content.getvalue()
