"""What a pool or a project file from elsewhere may hold is shown as text or refused, never obeyed."""

import json
import shutil
import sqlite3
import struct
from urllib.error import HTTPError
from urllib.request import urlopen
from zlib import crc32

import numpy as np
import pytest
from PIL import Image

from browsing import Command, Person, chromium, missing, running
from served import Client, write_texts

pytestmark = pytest.mark.slow
needs_browser = pytest.mark.skipif(missing() is not None, reason=missing() or "")
EVIL = [
    "<script>window.obeyed = 1</script>",
    "<img src=x onerror=window.obeyed=1>",
    "<svg/onload=window.obeyed=1><iframe src=javascript:window.obeyed=1>",
    '"><a href="javascript:window.obeyed=1" autofocus onfocus=window.obeyed=1>x</a>',
    "{{constructor.constructor('window.obeyed=1')()}} ${window.obeyed=1}",
]
CLASSES = ["<b onmouseover=window.obeyed=1>b</b>", "</button><script>window.obeyed=1</script>"]


def walk(person):
    """Look at every view; whether anything of the pool was obeyed."""
    page = person.page
    page.on("dialog", lambda dialog: (_ for _ in ()).throw(AssertionError("a dialog was opened")))
    page.keyboard.press("1")
    person.saved()
    for view, there in {"map": "canvas[data-frames]", "progress": ".bars th", "review": ".segments"}.items():
        person.view(view)
        page.locator(there).first.wait_for()
    for name in ("labelled", "all"):
        page.locator(f"[data-list={name}]").click()
        page.locator(".cards.review .card").first.wait_for()
    assert page.evaluate("() => window.obeyed") is None
    assert page.locator("script").count() == 1
    assert (
        page.locator("main :is(script, iframe, b, svg[onload], [onerror], [onfocus], a[href^=javascript])").count() == 0
    )


@needs_browser
def test_texts_and_classes_with_markup_are_shown_as_they_are(tmp_path):
    pool = tmp_path / "texts.txt"
    pool.write_text("\n".join(f"{EVIL[i % 5]} number {i}" for i in range(40)) + "\n")
    with chromium() as browser, running(pool, "--budget", "20") as command:
        client = Client(command.port)
        for name in CLASSES:
            assert client.post("/api/classes", {"name": name})[0] == 200
        person = Person(browser, command.address)
        assert person.page.locator(".item .text").inner_text() == pool.read_text().splitlines()[person.row]
        assert person.page.locator(".classes [data-class]").first.locator(".chip").inner_text() == CLASSES[0]
        walk(person)
        assert person.problems == []


@needs_browser
def test_file_names_with_markup_and_broken_and_oversized_images(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    rng = np.random.default_rng(0)
    names = [f"{evil.replace('/', '_')}{at}.png" for at, evil in enumerate(EVIL * 4)]
    for name in names:
        Image.fromarray(rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)).save(folder / name)
    head = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    bomb = struct.pack(">I", 13) + head + struct.pack(">I", crc32(head)) + b"\0\0\0\1IDAT" + bytes(5)
    bad = {
        "bomb.png": b"\x89PNG\r\n\x1a\n" + bomb,
        "cut.png": b"\x89PNG\r\n\x1a\n",
        "empty.png": b"",
        "text.jpg": b"<html>",
    }
    for name, content in bad.items():
        (folder / name).write_bytes(content)
    with chromium() as browser, running(folder, "--classes", "a", "--budget", "20") as command:
        person = Person(browser, command.address)
        assert person.name in names
        assert person.page.locator(".item img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 30
        walk(person)
        shown = {item["name"] for item in Client(command.port).json("/api/list?show=all")["items"]}
        assert shown == {*names}


def test_a_project_file_of_another_pool_is_refused_in_a_line(tmp_path):
    (tmp_path / "other").mkdir()
    pool, other = write_texts(tmp_path, 40), write_texts(tmp_path / "other", 50)
    other.write_text(other.read_text().upper())
    for each in (pool, other):
        with running(each, "--classes", "kind", "--budget", "9") as command:
            Client(command.port).wait(lambda state: state["waiting"] > 0)
    shutil.copy(tmp_path / "other" / "texts.txt.mheal", tmp_path / "texts.txt.mheal")
    with pytest.raises(RuntimeError) as refused:
        Command(pool)
    *_, last = str(refused.value).strip().splitlines()
    assert "is not the one that was labelled or picked" in last
    assert "Traceback" not in str(refused.value)


@needs_browser
def test_a_project_file_with_markup_is_harmless(tmp_path):
    pool = write_texts(tmp_path, 40)
    with running(pool, "--classes", "kind", "--budget", "20") as command:
        Client(command.port).wait(lambda state: state["waiting"] > 0)
    with sqlite3.connect(tmp_path / "texts.txt.mheal") as db:
        db.execute("UPDATE pick SET reason = ?", (EVIL[1],))
        db.execute(
            "UPDATE item SET name = ?, content = ?", (EVIL[0], json.dumps({"text": EVIL[2], EVIL[3]: [EVIL[1]]}))
        )
        db.execute("UPDATE meta SET value = ? WHERE name = 'classes'", (json.dumps(CLASSES),))
        db.execute("UPDATE meta SET value = '\"many\"' WHERE name = 'budget'")
    db.close()
    with chromium() as browser, running(pool) as command:
        person = Person(browser, command.address)
        assert person.name == EVIL[0]
        walk(person)


@needs_browser
def test_with_host_the_printed_token_opens_the_page_and_nothing_else_does(tmp_path):
    pool = write_texts(tmp_path, 40)
    with chromium() as browser, running(pool, "--classes", "kind", "--host", "0.0.0.0") as command:
        page, token = command.address.replace("0.0.0.0", "127.0.0.1").split("?token=")
        assert len(token) >= 32
        for address in (page, f"{page}api/state", f"{page}?token={token[:-1]}", f"{page}static/app.js"):
            with pytest.raises(HTTPError, match="401"):
                urlopen(address)
        person = Person(browser, f"{page}?token={token}")
        assert person.page.url.split("#")[0] == page  # the token is in a cookie, not in the address any more
        assert token not in person.page.evaluate("() => document.cookie + location.href")
        person.press("1")
        person.saved()
