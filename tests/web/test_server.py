import io
import json
import re
import socket
import struct
import threading
from http.client import HTTPConnection
from zlib import crc32

import numpy as np
import polars as pl
import pytest
from PIL import Image

import mheal
from mheal.io.read import read_pool
from mheal.web.security import HEADERS, Guard
from served import Client, page, write_texts

CLASSES = ["fruit", "vehicle", "animal"]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A page for sixty texts of three kinds, of which 30 are labelled rightly and one wrongly."""
    pool = write_texts(tmp_path_factory.mktemp("texts"))
    with page(pool, CLASSES, budget=50) as (port, made):
        client = Client(port)
        client.wait(lambda state: state["waiting"] >= 40)
        yield client, made


def label(client, rows):
    for row in rows:
        assert client.act("label", [row], CLASSES[row % 3])[0] == 200


def test_the_first_picks_are_those_of_select(tmp_path):
    pool = write_texts(tmp_path)
    with page(pool, CLASSES, budget=20) as (port, _):
        client = Client(port)
        client.wait(lambda state: state["waiting"] == 20)
        shown = client.next(want=20)
    expected = mheal.select(read_pool(pool).X, 20)
    assert [item["row"] for item in shown] == list(expected)
    assert [item["reason"] for item in shown] == list(expected.reason)
    assert shown[0]["content"] == {"text": pool.read_text().splitlines()[shown[0]["row"]]}


def test_label_undo_skip_and_what_other_tabs_see(texts):
    client, made = texts
    other = Client(client.port)
    heard = listen(client.port, other.tab)
    first, second = client.next(want=2)
    assert {item["row"] for item in other.next(want=5)}.isdisjoint({first["row"], second["row"]})
    status, answer = client.act("label", [first["row"]], "fruit")
    assert (status, answer["rows"]) == (200, [[first["row"], "fruit", False]])
    assert other.act("label", [second["row"]], "fruit")[0] == 409
    assert client.act("skip", [second["row"]])[0] == 200
    assert client.act("undo")[1]["rows"] == [[second["row"], None, False]]
    assert client.act("undo")[1]["rows"] == [[first["row"], None, False]]
    assert client.act("undo")[0] == 400
    events = heard(lambda events: sum(len(event.get("acts", ())) for event in events) >= 4)
    acts = [act for event in events for act in event.get("acts", ())]
    assert [act["did"] for act in acts] == ["label", "skip", "undo", "undo"]
    assert other.next(want=0) == []
    assert not made.project.labels


def listen(port, tab):
    """Begin to read the events of a tab; the function that is returned waits for some."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", f"/api/events?tab={tab}")
    answer, events, more = connection.getresponse(), [], threading.Condition()
    assert answer.readline().startswith(b"retry")

    def read():
        for line in answer:
            if line.startswith(b"data: {") and line.strip() != b"data: {}":
                with more:
                    events.append(json.loads(line[6:]))
                    more.notify()

    threading.Thread(target=read, daemon=True).start()

    def wait(ready):
        with more:
            assert more.wait_for(lambda: ready(events), 30), events
        return events

    return wait


def test_guess_doubts_plan_and_second_round(tmp_path):
    pool = write_texts(tmp_path, 120)
    with page(pool, CLASSES, budget=60) as (port, made):
        client = Client(port)
        client.wait(lambda state: state["waiting"] >= 50)
        rows = [item["row"] for item in client.next(want=45)]
        label(client, rows[:-1])
        wrong = rows[-1]
        client.act("label", [wrong], CLASSES[(wrong + 1) % 3])
        client.wait(lambda state: state["labelled"] == 45 and state["waiting"] > 5)  # the next round came by itself
        client.wait(lambda state: state["jobs"]["model"]["state"] == "done")
        unlabelled = client.next(want=1)[0]["row"]
        context = client.json(f"/api/context/{unlabelled}")
        assert context["guess"][0] == CLASSES[unlabelled % 3]
        assert len(context["neighbours"]) == 5
        assert {item["label"] for item in context["neighbours"]} == {CLASSES[unlabelled % 3]}
        made.worker.learned = type(made.worker.learned)(made.worker.pool, dict(made.project.labels))
        assert client.json("/api/list?show=doubted")["items"][0]["row"] == wrong
        client.get("/api/plan")
        client.wait(lambda state: state["jobs"]["plan"]["state"] == "done")
        plan = client.json("/api/plan")
        assert plan["now"]["low"] <= plan["now"]["value"] <= plan["now"]["high"]
        assert plan["advice"][0].split(":")[0].split(".")[0] in ("Go on", "Stop")
        picked = {*made.project.picks}
        assert client.post("/api/pick", {"n": 7}) == (200, {"started": True})
        client.wait(lambda state: state["jobs"]["picks"]["state"] == "done")
        assert len(made.project.picks) == len(picked) + 7


def test_lists_search_and_disagreements(texts):
    client, _ = texts
    rows = [item["row"] for item in client.next(want=4)]
    label(client, rows[:2])
    client.act("label", [rows[0]], "animal", who="Ann")
    client.act("label", [rows[0]], "fruit", who="Ben")
    assert [item["row"] for item in client.json("/api/list?show=differ")["items"]] == [rows[0]]
    assert [item["row"] for item in client.json("/api/list?show=all&q=NUMBER%2017")["items"]] == [17]
    assert client.json("/api/list?show=all")["total"] == 60
    kind = CLASSES[rows[1] % 3]
    assert rows[1] in [item["row"] for item in client.json(f"/api/list?show=labelled&label={kind}")["items"]]
    assert client.json("/api/list?show=labelled&q=no%20such%20text")["total"] == 0
    client.act("clear", [rows[0]], who="Ann")
    assert client.json("/api/list?show=differ")["total"] == 0 or CLASSES[rows[0] % 3] != "fruit"
    for _ in range(5):
        assert client.act("undo")[0] == 200


def test_exports_hold_the_labels_and_can_be_imported(tmp_path, texts):
    client, made = texts
    rows = [item["row"] for item in client.next(want=12)]
    label(client, rows)
    names = {"csv": "labels.csv", "jsonl": "labels.jsonl", "parquet": "labels.parquet", "label-studio": "tasks.json"}
    exported = {form: client.get(f"/api/export/{form}") for form in names}
    for _ in rows:
        client.act("undo")
    assert not made.project.labels
    for form, answer in exported.items():
        assert answer.status == 200
        assert "attachment" in answer.headers["content-disposition"]
        status, done = client.post(f"/api/import?name={names[form]}&tab={client.tab}&request={form}", answer.body)
        assert (status, done["imported"]) == (200, len(rows)), done
        assert made.project.labels == {row: CLASSES[row % 3] for row in rows}
        client.act("undo")
        assert not made.project.labels
    frame = pl.read_parquet(io.BytesIO(exported["parquet"].body))
    assert frame["row"].to_list() == rows  # in the order in which they were labelled
    assert frame.columns == ["row", "text", "label", "labelled_by", "labelled_at"]
    file = tmp_path / "labels.csv"
    file.write_bytes(exported["csv"].body)
    from mheal.io.labels import read_labels

    labels = read_labels(file, None, 60)
    assert dict(zip(labels.rows.tolist(), labels.values.tolist(), strict=True)) == {r: CLASSES[r % 3] for r in rows}


def test_a_broken_import_is_one_sentence(texts):
    client, made = texts
    for name, content in {
        "a.csv": b"\xff\xfe\x00",
        "b.json": b"[[[[",
        "c.parquet": b"PAR1",
        "../../x.sh": b"row,label\n1,a\n",
    }.items():
        status, answer = client.post(f"/api/import?name={name}&tab=t&request=r{name[0]}", content)
        assert status == 400, answer
        assert "bug" not in answer["error"]
    assert not made.project.labels


def test_the_map_has_a_point_for_each_row(texts):
    client, _ = texts
    client.get("/api/map")
    client.wait(lambda state: state["jobs"]["map"]["state"] == "done")
    content = client.get("/api/map").body
    assert struct.unpack("<II", content[:8]) == (60, 0)
    points = np.frombuffer(content[8:], "<u2").reshape(60, 2).astype(float)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + 1e9 * np.eye(60)
    same_kind = (apart.argmin(axis=1) % 3 == np.arange(60) % 3).mean()
    assert same_kind > 0.9


def test_chosen_rows_come_first(texts):
    client, _ = texts
    free = [row for row in range(60) if row not in {item["row"] for item in client.next(want=3)}][:2]
    client.post("/api/queue", {"rows": free})
    assert [item["row"] for item in client.next(want=2)] == free


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "localhost@evil.example", "[::1", "10.0.0.1"],
)
def test_a_foreign_host_is_refused(texts, host):
    client, _ = texts
    assert client.get("/api/state", Host=host).status in (400, 421)


def test_two_hosts_are_refused(texts):
    client, _ = texts
    with socket.create_connection(("127.0.0.1", client.port)) as raw:
        raw.sendall(b"GET /api/state HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        assert raw.makefile("rb").readline().split()[1] in (b"400", b"421")


@pytest.mark.parametrize("path", ["/api/state", "/api/act", "/api/events?tab=x", "/api/export/csv"])
def test_a_foreign_origin_is_refused(texts, path):
    client, _ = texts
    method = "POST" if path == "/api/act" else "GET"
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"origin": f"http://127.0.0.1:{client.port + 1}"},
    ):
        assert client.send(method, path, "{}", {"x-mheal-csrf": client.csrf, **headers}).status == 403


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_what_changes_something_needs_the_csrf_token(texts, token):
    client, made = texts
    body = {"request": "x", "tab": "x", "kind": "label", "rows": [1], "label": "fruit"}
    status, answer = client.post("/api/act", body, **{"x-mheal-csrf": token.encode("latin-1")})
    assert (status, answer["code"]) == (403, "csrf")
    assert not made.project.labels


def test_every_answer_has_the_headers_that_protect(texts):
    client, _ = texts
    for path in ("/", "/static/app.js", "/api/state", "/nothing", "/api/item/999999"):
        headers = client.get(path).headers
        for name, value in HEADERS.items():
            assert headers[name] == value
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_the_front_end_has_nothing_inline_and_loads_nothing_from_elsewhere(texts):
    _, made = texts
    for name, content in made.static.items():
        text = content.decode()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            name
        )
        for address in re.findall(r"https?://[^\s\"'`)]+", text):
            assert address == "http://www.w3.org/2000/svg", name
    index = made.static["index.html"].decode()
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", index)


@pytest.mark.parametrize(
    "path",
    ["/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/store.py",
     "/etc/passwd", "//etc/passwd", "/static//etc/passwd",
     "/api/image/0", "/api/image/../../etc/passwd", "/api/item/-1", "/api/item/1e5",
     "/api/item/99999999999999999999999", "/api/export/../csv", "/static/%00"],
)  # fmt: skip
def test_no_path_leads_elsewhere(texts, path):
    client, _ = texts
    answer = client.get(path)
    assert answer.status == 404
    assert b"root:" not in answer.body


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b"[" * 100_000, b"null", b'{"kind": "label"}', b'{"kind": "drop table", "rows": [1]}',
     b'{"request": "r", "tab": "t", "kind": "label", "rows": [1], "label": "no such class"}',
     b'{"request": "r", "tab": "t", "kind": "label", "rows": [99999], "label": "fruit"}',
     b'{"request": "r", "tab": "t", "kind": "label", "rows": [1e400], "label": "fruit"}',
     b'{"request": "r", "tab": "t", "kind": "label", "rows": [true], "label": "fruit"}',
     b'{"request": "r", "tab": "t", "kind": "label", "rows": [99999999999999999999999], "label": "fruit"}',
     b'{"request": "r", "tab": "t", "kind": "label", "rows": "1", "label": {"a": 1}}',
     b'{"request": 5, "tab": "t", "kind": "skip", "rows": [1]}',
     b'{"request": "r", "tab": "", "kind": "skip", "rows": [1]}',
     b'{"request": "r", "tab": "t", "who": "\\u0000", "kind": "skip", "rows": [1]}', b"x" * 3_000_000],
)  # fmt: skip
def test_strange_requests_are_refused(texts, body):
    client, made = texts
    status, answer = client.post("/api/act", body)
    assert status in (400, 404), answer
    assert "bug" not in answer["error"]
    assert not made.project.labels


@pytest.mark.parametrize("name", ["", "   ", "\u0000", "a\u202eb", "x" * 300, 5, None, ["a"]])
def test_names_that_are_no_class_are_refused(texts, name):
    client, made = texts
    before = made.project.classes
    status, _ = client.post("/api/classes", {"name": name})
    assert status == 400 or isinstance(name, int | list | None.__class__)
    if status == 400:
        assert made.project.classes == before


def test_a_token_is_needed_where_others_can_connect(tmp_path):
    pool = write_texts(tmp_path, 12)
    token = "a-long-random-token-1"
    with page(pool, ["x"], budget=5, guard=Guard("0.0.0.0", token)) as (port, _):

        def get(path, **headers):
            connection = HTTPConnection("127.0.0.1", port)
            connection.request("GET", path, headers=headers)
            return connection.getresponse()

        for path in ("/", "/api/state", "/static/app.js", "/?token=wrong", "/?token=", "/api/state?token=" + token):
            assert get(path).status == 401, path
        assert get("/", Cookie="mheal_token=wrong").status == 401
        answer = get("/?token=" + token)
        assert (answer.status, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert get("/api/state", Cookie=cookie.split(";")[0]).status == 200
        assert get("/api/state", Cookie=cookie.split(";")[0], Host="192.168.1.5:8000").status == 200
        assert get("/api/state", Cookie=cookie.split(";")[0], Host="evil.example").status == 421


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """A folder of twelve images, a broken one, a bomb, and links that lead out of it."""
    base = tmp_path_factory.mktemp("outside")
    folder = base / "images"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for at in range(12):
        pixels = rng.integers(0, 255, (40, 30, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"<img src=x onerror=alert({at})>.png")
    Image.fromarray(rng.integers(0, 255, (900, 1700, 3), dtype=np.uint8)).save(folder / "large.jpg")
    Image.fromarray(np.zeros((20, 20, 3), np.uint8)).save(base / "secret.png")
    (folder / "link.png").symlink_to(base / "secret.png")
    with page(folder, ["x"], budget=14) as (port, made):
        client = Client(port)
        client.wait(lambda state: state["waiting"] > 0)
        yield client, made, folder


def rows_by_name(client):
    return {item["name"]: item["row"] for item in client.json("/api/list?show=all")["items"]}


def test_images_are_made_anew_and_small(images):
    client, _, _ = images
    rows = rows_by_name(client)
    answer = client.get(f"/api/image/{rows['large.jpg']}?side=large")
    assert max(Image.open(io.BytesIO(answer.body)).size) == 1024
    answer = client.get(f"/api/image/{rows['large.jpg']}?side=small")
    assert max(Image.open(io.BytesIO(answer.body)).size) <= 160
    assert answer.headers["content-type"] in ("image/png", "image/jpeg")
    assert client.get(f"/api/image/{rows['large.jpg']}?side=99999").status == 404


def test_links_out_of_the_folder_are_not_followed(images):
    client, _, _ = images
    assert client.get(f"/api/image/{rows_by_name(client)['link.png']}").status == 415


def test_images_that_break_later_or_are_too_large_are_a_sentence(images):
    client, made, folder = images
    name, row = next((name, row) for name, row in rows_by_name(client).items() if name.startswith("<img"))
    (folder / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert client.get(f"/api/image/{row}?side=large").status == 415
    head = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunks = struct.pack(">I", 13) + head + struct.pack(">I", crc32(head)) + b"\0\0\0\1IDAT" + bytes(5)
    (folder / name).write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)
    made._image.cache_clear()
    answer = client.get(f"/api/image/{row}?side=large")
    assert answer.status == 415
    assert b"million pixels" in answer.body
    (folder / name).unlink()
    made._image.cache_clear()
    assert client.get(f"/api/image/{row}?side=large").status == 415


def test_a_project_file_cannot_name_other_images(images):
    client, made, _ = images
    row = rows_by_name(client)["large.jpg"]
    before = made.project.items.get(row)
    made.project.items[row] = ("../secret.png", {"image": True})
    try:
        assert client.get(f"/api/image/{row}").status == 404
    finally:
        made.project.items[row] = before
