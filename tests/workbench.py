"""Small real files for the tests of commands: digits as a table, an array and images, a list of texts."""

from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

TOPICS = {
    "sport": "goal match team player season coach score win league cup",
    "food": "bread butter soup oven recipe salt sugar dinner taste fresh",
    "space": "rocket orbit planet launch moon crew probe star mission signal",
}


def write_files(folder: Path) -> None:
    """digits.csv (id, p0 … p63, label), digits.npy, labels.csv, proba.npy, images/CLASS/NAME.png, texts.txt."""
    digits = load_digits()
    ids = [f"d{i:04}" for i in range(len(digits.data))]
    pixels = {f"p{j}": digits.data[:, j] for j in range(64)}
    pl.DataFrame({"id": ids, **pixels, "label": digits.target}).write_csv(folder / "digits.csv")
    np.save(folder / "digits.npy", digits.data.astype(np.float32))
    rows = np.arange(0, 1797, 15)
    pl.DataFrame({"row": rows, "id": [ids[i] for i in rows], "label": digits.target[rows]}).write_csv(
        folder / "labels.csv"
    )
    model = LogisticRegression(max_iter=300).fit(digits.data[rows], digits.target[rows])
    np.save(folder / "proba.npy", model.predict_proba(digits.data))
    for i in range(120):
        file = folder / "images" / str(digits.target[i]) / f"{i:03}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray((digits.images[i] * 15).astype(np.uint8)).save(file)
    rng = np.random.default_rng(0)
    topics = [text.split() for text in TOPICS.values()]
    lines = (" ".join(rng.choice(topics[i % 3], 8)) for i in range(150))
    (folder / "texts.txt").write_text("\n".join(lines) + "\n")
