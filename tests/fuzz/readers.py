"""Every reader of files, and a small good file for each form that it reads."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image

from mheal.evaluate import Curves
from mheal.io.labels import read_labels
from mheal.io.read import read_pool
from mheal.io.shards import stream_shards
from mheal.io.targets import read_target
from mheal.runtime.checkpoint import Checkpoint, NullCheckpoint
from mheal.selection import Selection

ROWS = 24
_rng = np.random.default_rng(0)
_NUMBERS = _rng.standard_normal((ROWS, 3)).astype(np.float32)
_WORDS = ["cat", "dog", "bird"] * (ROWS // 3)
_FRAME = pl.DataFrame(
    {"id": [f"r{row:02}" for row in range(ROWS)], "a": _NUMBERS[:, 0], "b": _rng.integers(9, size=ROWS), "kind": _WORDS}
)
_LABELS = pl.DataFrame({"row": range(12), "label": _WORDS[:12]})
_TASKS = [
    {"id": row, "data": {"row": row}, "annotations": [{"result": [{"value": {"choices": [_WORDS[row]]}}]}]}
    for row in range(12)
]
_FLAT = [{"row": row, "label": _WORDS[row], "annotation_id": row, "id": row} for row in range(12)]
_PICKS = Selection(np.arange(9), np.zeros(9), np.ones(9), np.ones(9), ["a reason"] * 9).to_frame()
_RUN = {"strategy": "mheal", "estimator": "logistic", "seconds": 0.5}
_CURVES = pl.DataFrame([{**_RUN, "seed": s, "labels": n, "accuracy": 0.5} for s in range(2) for n in (10, 20)])


def _made(write: Callable[[Any], Any]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def _png(form: str) -> bytes:
    return _made(lambda to: Image.fromarray(_rng.integers(255, size=(9, 9, 3)).astype(np.uint8)).save(to, form))


def _lists(to: io.BytesIO) -> None:
    pl.DataFrame({"v": _NUMBERS.tolist(), "id": range(ROWS)}).write_parquet(to)


def _pool(file: Path) -> None:
    source = read_pool(file)
    assert len(source.X)


def _labels(file: Path) -> None:
    for ids in (None, [str(row) for row in range(ROWS)]):
        read_labels(file, ids, ROWS)


def _target(file: Path) -> None:
    pool = file.parent / "target-pool.npy"
    np.save(pool, _NUMBERS)
    read_target(str(file), pool, read_pool(pool))


def _own_target(file: Path) -> None:
    read_target("y", file, read_pool(file, target="y"))


def _streamed(file: Path) -> None:
    source = stream_shards([file], file.name, NullCheckpoint())
    list(source.ids_of(np.arange(len(source.X))) or ())


def _images(file: Path) -> None:
    folder = file.parent / "images"
    folder.mkdir(exist_ok=True)
    for at in range(3):
        Image.new("RGB", (9, 9), (at, 20 * at, 99)).save(folder / f"{at}.png")
    moved = file.rename(folder / file.name)
    try:
        read_pool(folder)
    finally:
        moved.rename(file)


def _checkpoint(file: Path) -> None:
    folder = file.parent / "unfinished"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / "manifest.json").write_text('{"seed": 0}')
    (folder / file.name).write_bytes(file.read_bytes())
    run = Checkpoint(folder)
    run.begin({"seed": 0})
    try:
        run.load_partial("stage")
        run.scratch("scratch", (ROWS, 3), np.float32)
    finally:
        run.close()


def _csv(frame: pl.DataFrame, separator: str = ",") -> bytes:
    return frame.write_csv(separator=separator).encode()


def _npz(compressed: bool = False) -> bytes:
    save = np.savez_compressed if compressed else np.savez
    return _made(lambda to: save(to, X=_NUMBERS, y=np.arange(ROWS) % 3))


def _excel(frame: pl.DataFrame) -> bytes:
    """A workbook, written by hand so that no other package is needed."""
    cell, row = '<c t="inlineStr"><is><t>{}</t></is></c>', "<row>{}</row>"
    rows = ("".join(map(cell.format, line)) for line in (frame.columns, *frame.rows()))
    cells = "".join(map(row.format, rows))
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    relation = '<Relationship Id="r1" Type="{}/{}" Target="{}"/>'
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{package}">'
        + relation.format(office, "officeDocument", "xl/workbook.xml")
        + "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}">'
        + relation.format(office, "worksheet", "worksheets/sheet1.xml")
        + "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }

    def write(to: io.BytesIO) -> None:
        with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in parts.items():
                archive.writestr(name, text)

    return _made(write)


_TEXTS = "\n".join(f"text number {row} about a {_WORDS[row]}" for row in range(ROWS)).encode()
# name: (the file's name, a good file, the reader)
READERS: dict[str, tuple[str, bytes, Callable[[Path], None]]] = {
    "pool-npy": ("pool.npy", _made(lambda to: np.save(to, _NUMBERS)), _pool),
    "pool-npz": ("pool.npz", _npz(), _pool),
    "pool-npz-packed": ("pool.npz", _npz(True), _own_target),
    "pool-csv": ("pool.csv", _csv(_FRAME), _pool),
    "pool-semicolons": ("pool.csv", _csv(_FRAME, ";"), _pool),
    "pool-tsv": ("pool.tsv", _csv(_FRAME, "\t"), _pool),
    "pool-xlsx": ("pool.xlsx", _excel(_FRAME), _pool),
    "pool-jsonl": ("pool.jsonl", _FRAME.write_ndjson().encode(), _pool),
    "pool-parquet": ("pool.parquet", _made(_FRAME.write_parquet), _pool),
    "pool-lists": ("pool.parquet", _made(_lists), _pool),
    "pool-txt": ("pool.txt", _TEXTS, _pool),
    "streamed-parquet": ("pool.parquet", _made(_FRAME.drop("kind").write_parquet), _streamed),
    "images-png": ("x.png", _png("PNG"), _images),
    "images-jpeg": ("x.jpg", _png("JPEG"), _images),
    "images-gif": ("x.gif", _png("GIF"), _images),
    "images-tiff": ("x.tif", _png("TIFF"), _images),
    "images-webp": ("x.webp", _png("WEBP"), _images),
    "images-bmp": ("x.bmp", _png("BMP"), _images),
    "labels-csv": ("labels.csv", _csv(_LABELS), _labels),
    "labels-jsonl": ("labels.jsonl", _LABELS.write_ndjson().encode(), _labels),
    "labels-parquet": ("labels.parquet", _made(_LABELS.write_parquet), _labels),
    "labels-xlsx": ("labels.xlsx", _excel(_LABELS), _labels),
    "labels-tasks": ("labels.json", json.dumps(_TASKS).encode(), _labels),
    "labels-flat": ("labels.json", json.dumps(_FLAT).encode(), _labels),
    "target-npy": ("y.npy", _made(lambda to: np.save(to, np.array(_WORDS))), _target),
    "target-npz": ("y.npz", _npz(), _target),
    "target-txt": ("y.txt", "\n".join(_WORDS).encode(), _target),
    "target-csv": ("y.csv", _csv(pl.DataFrame({"row": range(ROWS), "label": _WORDS})), _target),
    "target-json": ("y.json", json.dumps(_TASKS).encode(), _target),
    "target-jsonl": ("y.jsonl", _LABELS.select("label").write_ndjson().encode() * 2, _target),
    "picks-csv": ("picks.csv", _csv(_PICKS), lambda file: _check(Selection.load(file))),
    "picks-jsonl": ("picks.jsonl", _PICKS.write_ndjson().encode(), lambda file: _check(Selection.load(file))),
    "picks-parquet": ("picks.parquet", _made(_PICKS.write_parquet), lambda file: _check(Selection.load(file))),
    "curves": ("curves.csv", _csv(_CURVES), lambda file: Curves.from_csv(file).values("mheal")),
    "stage": ("stage.npz", _npz(), _checkpoint),
    "scratch": ("scratch.npy", _made(lambda to: np.save(to, _NUMBERS)), _checkpoint),
    "manifest": ("manifest.json", b'{"seed": 0}', _checkpoint),
}


def _check(picks: Selection) -> None:
    assert (picks.indices >= 0).all()
    assert len(set(picks.indices.tolist())) == len(picks)
