"""Picks as Label Studio tasks, what to set up there, and the way there and back through a real server."""

import json
import os
import shutil
import socket
import subprocess
import time
from datetime import datetime
from urllib.parse import parse_qs, unquote, urlsplit
from urllib.request import Request, urlopen
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from PIL import Image

from mheal import Selection
from mheal.cli import main
from mheal.io.label_studio import config, set_up
from mheal.io.labels import read_labels
from mheal.io.read import read_pool
from mheal.io.shards import read_on_cluster, stream_shards
from mheal.io.write import render
from mheal.runtime.checkpoint import Checkpoint

PICKS = Selection([3, 0], [0, 1], [np.inf, 2.5], [2.5, 1.25], ["why <3>", "why 0"])


def tasks_of(source, picks=PICKS):
    def refuse(name):
        raise AssertionError(name)

    return [task["data"] for task in json.loads(render(picks, source, "label-studio"), parse_constant=refuse)]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tasks_show_their_own_rows_without_the_labels(tmp_path, suffix):
    values = [0.5, None, *np.arange(2, 9)]
    frame = pl.DataFrame({"a": values, "b": [None if v is None else v * v for v in values], "label": ["x"] * 9})
    getattr(frame, f"write_{suffix}")(tmp_path / f"pool.{suffix}")
    source = read_pool(tmp_path / f"pool.{suffix}", missing="drop")
    assert source.rows.tolist() == [0, *range(2, 9)]
    tasks = tasks_of(source)
    assert [(task["row"], task["cells"]) for task in tasks] == [(4, {"a": 4, "b": 16}), (0, {"a": 0.5, "b": 0.25})]
    assert tasks[0]["gain"] is None
    assert tasks[0]["reason"] == "why <3>"
    assert not {"label", "a"} & tasks[0].keys()


def test_shards_that_are_not_in_memory_show_no_labels(tmp_path):
    for shard in range(2):
        frame = pl.DataFrame(
            {"id": [f"{shard}{at}" for at in range(4)], "v": np.arange(4.0) + shard, "class": ["x"] * 4}
        )
        frame.write_parquet(tmp_path / f"{shard}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    picks = Selection.of([5, 0])
    for source in (stream_shards(files, "p", Checkpoint(tmp_path / "made")), read_on_cluster(tmp_path / "*.parquet")):
        tasks = tasks_of(source, picks)
        assert [task["cells"] for task in tasks] == [{"id": "11", "v": 2.0}, {"id": "00", "v": 0.0}]
        assert "$cells" in config(source)


def test_what_json_cannot_hold_is_null(tmp_path):
    frame = pl.DataFrame({"a": np.arange(4.0), "when": [datetime(2024, 1, 2)] * 4, "v": [[1.0, np.nan]] * 4})
    frame.write_parquet(tmp_path / "pool.parquet")
    cells = tasks_of(read_pool(tmp_path / "pool.parquet", columns=["a"]))[0]["cells"]
    assert cells["v"] == [1.0, None]
    assert cells["when"].startswith("2024-01-02")


def make_images(folder):
    for at, name in enumerate(("a b.png", "é#1?.png", "sub/100%&.png", "sub/d+.png")):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        Image.new("RGB", (8, 8), (60 * at, 255 - 60 * at, 9)).save(folder / name)
    return folder


def test_images_are_addressed_below_the_document_root(tmp_path):
    source = read_pool(make_images(tmp_path / "my images"))
    for task, row in zip(tasks_of(source), PICKS, strict=True):
        address = urlsplit(task["image"])
        assert address.path == "/data/local-files/"
        assert not address.fragment
        (path,) = parse_qs(address.query)["d"]
        assert (tmp_path / path).samefile(source.items[row])
    printed = "\n".join(set_up(source, "tasks.json", ["mheal", "select", "my images"]))
    assert "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true" in printed
    assert f"LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT={tmp_path} " in f"{printed} ".replace("\n", " ")
    assert f"local files: {tmp_path / 'my images'}" in printed
    assert "mheal select 'my images' --labeled" in printed


def test_the_configuration_names_the_classes_and_what_the_tasks_hold(tmp_path):
    (tmp_path / "t.txt").write_text("one text\nanother text\n")
    np.save(tmp_path / "v.npy", np.eye(3))
    for pool, tag, field in (("t.txt", "Text", "$text"), ("v.npy", "Text", "$row")):
        source = read_pool(tmp_path / pool)
        view = ElementTree.fromstring(config(source, ['"a" & <b>', "c"]))
        assert (view[0].tag, view[0].get("value")) == (tag, field)
        assert field[1:] in tasks_of(source, Selection.of([0]))[0]
        assert [choice.get("value") for choice in view.find("Choices")] == ['"a" & <b>', "c"]
        assert "with your classes" in set_up(source, "x", ["y"])[1]
        assert "with your classes" not in set_up(source, "x", ["y"], ["c"])[1]


SERVER = os.environ.get("MHEAL_LABEL_STUDIO") or shutil.which("label-studio")
TOKEN = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def label_studio(tmp_path_factory):
    """A call of the server's API: its address, what is sent, and whether bytes come back; and the images' folder."""
    folder = tmp_path_factory.mktemp("label-studio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data"),
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": str(folder),
        **dict.fromkeys(("COLLECT_ANALYTICS", "collect_analytics", "LATEST_VERSION_CHECK"), "0"),
        **dict.fromkeys(("SENTRY_DSN", "FRONTEND_SENTRY_DSN"), ""),
    }
    user = f"--username a@b.co --password secret-12 --user-token {TOKEN} --enable-legacy-api-token".split()
    line = [SERVER, "start", "--no-browser", "--internal-host", "127.0.0.1", "-p", str(port), *user]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings

    def call(path, data=None, raw=False):
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        body = None if data is None else json.dumps(data).encode()
        with urlopen(Request(f"http://127.0.0.1:{port}{path}", body, headers), timeout=60) as answer:
            return answer.read() if raw else json.load(answer)

    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(line, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
        try:
            for _ in range(300):  # the first start makes a database
                try:
                    call("/api/projects/")
                    break
                except OSError:
                    assert server.poll() is None, (folder / "log").read_text()
                    time.sleep(2)
            yield call, folder
        finally:
            server.terminate()
            server.wait(60)


CHOICES = dict(from_name="label", to_name="item", type="choices")


def label(call, project, votes):
    """Label the tasks by their rank: each vote is a list of classes, or None for an annotation that was cancelled."""
    ids = sorted(task["id"] for task in call(f"/api/tasks?project={project}&page_size=100")["tasks"])
    for task, given in zip(ids, votes, strict=False):
        for vote in given:
            result = [{**CHOICES, "value": {"choices": vote}}] if vote else []
            call(f"/api/tasks/{task}/annotations/", {"result": result, "was_cancelled": vote is None})


VOTES = [[["cat"]], [["dog", "cat"]], [["cat"], ["dog"], ["dog"]], [["cat"], ["dog"]], [[]], [None], [["dog"], None]]
WANTED = {1: "cat", 2: "cat|dog", 3: "dog", 7: "dog"}  # by rank


@pytest.mark.slow
@pytest.mark.skipif(SERVER is None, reason="no Label Studio: pip install label-studio, or set MHEAL_LABEL_STUDIO to it")
@pytest.mark.parametrize("kind", ["images", "table", "texts"])
def test_there_and_back(label_studio, kind, monkeypatch, capfd):
    call, folder = label_studio
    monkeypatch.chdir(folder)
    rng = np.random.default_rng(0)
    if kind == "images":
        pool = "my images"
        for at in range(12):
            (folder / pool / "é").mkdir(exist_ok=True, parents=True)
            Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(folder / pool / "é" / f"#{at} %.png")
    elif kind == "table":
        pool = "pool.csv"
        frame = pl.DataFrame(
            {"sku": [f"k{at}" for at in range(12)], "a": rng.normal(size=12), "b": rng.normal(size=12)}
        )
        frame.with_columns(label=pl.lit("secret")).write_csv(pool)
    else:
        pool = "pool.txt"
        words = ["red", "green", "blue", "small", "large", "round", "square", "heavy"]
        (folder / pool).write_text("".join(" ".join(rng.choice(words, 4)) + f" {at}é😀\n" for at in range(12)))
    id_column = ["--id", "sku"] if kind == "table" else []
    assert main(["select", pool, "-b", "8", "-o", f"{kind}.json", *id_column]) == 0
    printed = capfd.readouterr().err
    configuration = printed[printed.index("<View>") : printed.index("</View>") + len("</View>")]
    configuration = (
        configuration.replace("first class", "cat").replace("second class", "dog").replace("single", "multiple")
    )
    project = call("/api/projects/", {"title": f"mheal {kind}", "label_config": configuration})["id"]
    tasks = json.loads((folder / f"{kind}.json").read_text(encoding="utf-8"))
    assert "secret" not in json.dumps(tasks)
    assert call(f"/api/projects/{project}/import", tasks)["task_count"] == 8
    if kind == "images":
        assert f"local files: {folder / pool}" in printed
        storage = {"project": project, "path": str(folder / pool), "use_blob_urls": False, "title": "images"}
        call("/api/storages/localfiles", storage)
        for task in tasks:
            content = (folder / unquote(task["data"]["image"].partition("?d=")[2])).read_bytes()
            assert call(task["data"]["image"], raw=True) == content
    label(call, project, VOTES)
    rows = [task["data"]["row"] for task in tasks]
    source = read_pool(pool, id_column=id_column[1] if id_column else None)
    for form, suffix in (("JSON", "json"), ("JSON_MIN", "json"), ("CSV", "csv"), ("TSV", "tsv")):
        export = folder / f"{kind}-{form}.{suffix}"
        export.write_bytes(call(f"/api/projects/{project}/export?exportType={form}&download_all_tasks=true", raw=True))
        labels = read_labels(export, source.ids, source.n_rows, id_column=source.id_column)
        found = dict(zip(labels.rows.tolist(), labels.values.tolist(), strict=True))
        assert found == {rows[rank - 1]: value for rank, value in WANTED.items()}
        assert main(["select", pool, "-b", "8", "--labeled", str(export), "-o", f"{kind}-next.csv", *id_column]) == 0
        assert "annotators differ on 1 items" in capfd.readouterr().err
        assert not set(found) & set(pl.read_csv(f"{kind}-next.csv")["row"].to_list())
