"""Pages that show the picks: images, texts and tables."""

from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from PIL import Image

from mheal import Selection
from mheal.exceptions import UserError
from mheal.io.read import read_pool
from mheal.io.sheet import contact_sheet

EVIL = '<script>alert("1")</script>{0}&\'%'
VOID = {"meta", "img"}


class Page(HTMLParser):
    """The elements of a page, its text, and a check that tags are nested correctly."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def page_of(source, rows):
    picks = Selection.of(rows, [f"reason {row} <b>" for row in rows])
    page = Page(contact_sheet(picks, source))
    assert page.all("html")[0]["lang"] == "en"
    assert not page.all("script")
    assert not page.all("b")
    assert len(page.all("li")) == len(page.all("h2")) == len(rows)  # a heading for each pick
    assert not [attrs for _, attrs in page.tags if "title" in attrs]  # nothing that only a mouse finds
    for row in rows:
        assert f"reason {row} <b>" in page.text
    return page


def test_texts_are_whole_and_escaped(tmp_path):
    long = "many words " * 200
    texts = ["one text", EVIL, long, "שלום עולם 😀", "last"]
    pl.DataFrame({"id": [f"<{at}>" for at in range(5)], "body": texts}).write_ndjson(tmp_path / "p.jsonl")
    page = page_of(read_pool(tmp_path / "p.jsonl", text_column="body"), [3, 1, 2])
    assert "שלום עולם 😀" in page.text
    assert EVIL in page.text
    assert page.text.replace("the rest of the text", "").count("many words ") == 200
    assert len(page.all("details")) == len(page.all("summary")) == 1
    assert "1. <3>" in page.text


def test_tables_show_their_cells_but_no_labels(tmp_path):
    frame = pl.DataFrame({"a": [1.5, 2.5, 4.0, 8.0], EVIL: [5, 1, 3, 7], "label": ["secret"] * 4})
    frame.write_parquet(tmp_path / "p.parquet")
    page = page_of(read_pool(tmp_path / "p.parquet"), [2, 0])
    assert len(page.all("dt")) == len(page.all("dd")) == 4
    assert page.text.count(EVIL) == 2
    assert "4.0" in page.text
    assert "secret" not in page.text


def test_images_have_names_and_a_broken_one_its_reason(tmp_path):
    for name in ("a.png", "<b>.png", "c.png"):
        Image.new("RGB", (300, 200), (200, 10, 10)).save(tmp_path / name)
    source = read_pool(tmp_path)
    (tmp_path / "c.png").write_text("changed since")
    page = page_of(source, [0, 1, 2])
    assert [image["alt"] for image in page.all("img")] == ["<b>.png", "a.png"]
    assert all(image["src"].startswith("data:image/png;base64,") for image in page.all("img"))
    assert "it is not an image" in page.text


def test_an_infinite_gain_is_not_shown(tmp_path):
    (tmp_path / "t.txt").write_text("one text\nanother text\n")
    page = contact_sheet(Selection([1, 0], [0, 0], [np.inf, 2.5], [2.5, 0]), read_pool(tmp_path / "t.txt"))
    assert "gain inf" not in page
    assert "gain 2.5" in page


def test_vectors_have_nothing_to_show(tmp_path):
    np.save(tmp_path / "v.npy", np.eye(3))
    with pytest.raises(UserError, match="this pool has no images, texts or cells to show on a page: use csv"):
        contact_sheet(Selection.of([0]), read_pool(tmp_path / "v.npy"))
