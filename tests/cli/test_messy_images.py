"""Realistic folders of images: classes in subfolders, odd names and formats, files that cannot be read."""

import shlex

import numpy as np
import polars as pl
import pytest
from PIL import Image
from sklearn.datasets import load_digits, load_sample_image

from mheal.cli import main

CHINA = load_sample_image("china.jpg")[::4, ::4]
UNREADABLE = {
    "broken.jpg": "truncated",
    "empty.png": "it is empty",
    "text.jpeg": "not an image",
    "phone.HEIC": "no decoder for .heic here: save it as PNG or JPEG",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    photos = tmp_path / "Fotos für uns"
    for name in ("Katze & Co 🐱", "dog", ".hidden"):
        (photos / name).mkdir(parents=True)
    for i, digit in enumerate(load_digits().images[:12].astype(np.uint8) * 15):
        Image.fromarray(digit).save(photos / "Katze & Co 🐱" / f"bild {i:02d} ü.png")
        Image.fromarray(CHINA[i : i + 60, 5 * i : 5 * i + 60]).save(photos / "dog" / f"IMG_{i:04d}.JPG")
    first, *others = (Image.fromarray(np.roll(CHINA, 30 * i, 0)) for i in range(3))
    first.save(photos / "moving.gif", save_all=True, append_images=others)
    first.save(photos / "pages.TIFF", save_all=True, append_images=others)
    first.convert("RGBA").save(photos / "logo.PNG")
    Image.fromarray(CHINA[:, :, 0].astype(np.uint16) * 257).save(photos / "deep.png")
    photo = (photos / "dog" / "IMG_0000.JPG").read_bytes()
    contents = {
        "broken.jpg": photo[: len(photo) // 2],
        "empty.png": b"",
        "text.jpeg": b"no image",
        "phone.HEIC": b"\0\0\0\x18ftypheic",
    }
    for name, content in contents.items():
        (photos / name).write_bytes(content)
    (photos / ".hidden" / "a.png").write_bytes(photo)
    (photos / "notes.txt").write_text("not for you")
    return photos


def run(line):
    return main(shlex.split(line))


def test_what_can_be_read_is_picked_and_the_rest_is_listed(folder, capfd):
    assert run("select 'Fotos für uns' -b 28") == 0
    said = capfd.readouterr().err
    assert f"skipped {len(UNREADABLE)} images that cannot be read" in said
    for name, reason in UNREADABLE.items():
        assert reason in said.partition(name)[2].partition(")")[0]
    ids = pl.read_csv("picks.csv")["id"].to_list()
    assert len(set(ids)) == 28
    assert {"Katze & Co 🐱/bild 03 ü.png", "dog/IMG_0003.JPG", "moving.gif", "pages.TIFF", "logo.PNG", "deep.png"} <= {
        *ids
    }


def test_labels_typed_into_picks_come_back_by_name(folder, capfd):
    assert run("select 'Fotos für uns' -b 9") == 0
    picks = pl.read_csv("picks.csv", schema_overrides={"label": pl.String})
    picks.with_columns(label=pl.col("id").str.split("/").list.first()).write_csv("picks.csv")
    (folder / "another at the front.png").write_bytes((folder / "logo.PNG").read_bytes())
    capfd.readouterr()
    assert run("select 'Fotos für uns' -b 9 --labeled picks.csv --out next.csv") == 0
    assert "picks.csv: 9 labels of" in capfd.readouterr().err
    assert not {*pl.read_csv("next.csv")["id"]} & {*picks["id"]}


def test_folders_are_classes_and_images_beside_them_have_none(folder, capfd):
    assert run("compare 'Fotos für uns' --target folder --budgets 4 --seeds 1 --strategies random") == 0
    said = capfd.readouterr().err
    assert "24 labels of 2 classes: Katze & Co 🐱 12, dog 12" in said
    assert "4 rows without a label left out" in said


@pytest.mark.parametrize("out", ["sheet.html", "tasks.json"])
def test_pages_and_tasks_name_every_image(folder, out):
    assert run(f"select 'Fotos für uns' -b 28 --out {out}") == 0
    text = (folder.parent / out).read_text(encoding="utf-8")
    for name in ("bild 03 ü.png", "deep.png", "moving.gif"):
        assert name in text
