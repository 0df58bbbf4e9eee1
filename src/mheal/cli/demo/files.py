"""Example files, so that every command of the README runs as printed: digits, images of them, and short texts."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np

from ...exceptions import UserFileError
from ...runtime.files import replacing

LABELED = 15  # every so many rows one has a label
IMAGES, TEXTS = 120, 150
TOPICS = (
    "goal match team player season coach score win league cup",
    "bread butter soup oven recipe salt sugar dinner taste fresh",
    "rocket orbit planet launch moon crew probe star mission signal",
)


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
        file = folder / name
        with replacing(file, make_folder=True) as part:
            part.write_bytes(content)
    return list(dict.fromkeys(Path(name).parts[0] for name in contents))


def _digits() -> dict[str, bytes]:
    """The digits as a table and as an array, some labels, and a model's probabilities."""
    import polars
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

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
    """The first digits as images, in a folder for each class."""
    from PIL import Image
    from sklearn.datasets import load_digits

    digits = load_digits()
    made = {}
    for at, (pixels, label) in enumerate(zip(digits.images[:IMAGES], digits.target, strict=False)):
        image = Image.fromarray((pixels * 15).astype(np.uint8))
        made[f"images/{label}/{at:03}.png"] = _bytes(lambda file, image=image: image.save(file, "PNG"))  # type: ignore[misc]
    return made


def _texts() -> bytes:
    """Lines of words from three topics."""
    rng = np.random.default_rng(0)
    topics = [words.split() for words in TOPICS]
    return "".join(" ".join(rng.choice(topics[at % 3], 8)) + "\n" for at in range(TEXTS)).encode()


def _bytes(write: Callable[[BytesIO], None]) -> bytes:
    content = BytesIO()
    write(content)
    return content.getvalue()
