"""`mheal select`, `embed` and `strategies`, end to end."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from PIL import Image

import mheal
from mheal.cli import main
from mheal.cli.embed import embed
from mheal.cli.lists import strategies
from mheal.cli.options import parse_size
from mheal.cli.select import select


def run(line):
    """Run `mheal LINE` here, as a shell would."""
    return main(shlex.split(line))


def picks(path="picks.csv"):
    return pl.read_csv(path)


@pytest.mark.parametrize("command", [select, embed, strategies])
def test_examples_of_the_help_work_as_written(command, desk, capfd):
    examples = re.findall(r"Example: mheal (.+)", command.__doc__)
    assert examples
    for example in examples:
        assert run(example) == 0, example
    assert "".join(capfd.readouterr())


def test_picks_are_those_of_the_library(desk):
    assert run("select digits.csv --without label --budget 50") == 0
    table = picks()
    cells = [f"p{t}" for t in range(64)]
    assert table.columns == ["rank", "row", "id", "cluster", "gain", "radius", "reason", *cells, "label"]
    assert table["label"].null_count() == 50
    X = pl.read_csv("digits.csv").drop("id", "label").to_numpy().astype(np.float32)
    expected = mheal.select(X, 50)
    assert table["row"].to_list() == expected.indices.tolist()
    assert table["id"].to_list() == [f"d{row:04}" for row in expected.indices]
    assert table["rank"].to_list() == list(range(1, 51))
    np.testing.assert_array_equal(table.select(cells).to_numpy(), X[expected.indices])
    assert mheal.Selection.load("picks.csv") == expected


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_tables_of_every_format_hold_the_same(suffix, desk):
    assert run("select digits.npy -b 12") == 0
    assert run(f"select digits.npy -b 12 -o other.{suffix}") == 0
    assert mheal.Selection.load(f"other.{suffix}") == mheal.Selection.load("picks.csv")
    record = json.loads((desk / f"other.{suffix}.mheal.json").read_text())
    assert [*record["files"]] == [f"other.{suffix}"]


def test_standard_output_can_be_piped(desk):
    line = [sys.executable, "-m", "mheal", "select", "digits.npy", "-b", "5", "-o", "-"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert [row["rank"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["1", "2", "3", "4", "5"]
    assert "1,797 rows, 64 columns" in done.stderr
    assert not (desk / "picks.csv.mheal.json").exists()
    assert "\x1b" not in done.stderr  # no colour and no bar in a file


def test_names_of_pools_are_said_as_typed(desk, capfd):
    np.savez("all.npz", X=np.load("digits.npy"))
    assert run("select all.npz:X -b 5") == 0
    assert "all.npz:X: 1,797 rows" in capfd.readouterr().err


def test_quiet_says_nothing(desk, capfd):
    assert run("select digits.npy -b 5 --quiet") == 0
    assert capfd.readouterr() == ("", "")


def test_label_studio_tasks_show_what_there_is_to_label(desk, capfd):
    assert run("select images -b 7 -o tasks.json") == 0
    tasks = json.loads((desk / "tasks.json").read_text())
    assert [task["data"]["pick_rank"] for task in tasks] == list(range(1, 8))
    first = tasks[0]["data"]
    assert first["image"].startswith("/data/local-files/?d=images/")
    assert (desk / "images" / first["id"]).exists()
    assert (desk / "tasks.json.mheal.json").exists()
    said = capfd.readouterr().err
    assert "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true" in said
    assert f"LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT={desk}\n" in said
    assert f"local files: {desk / 'images'}\n" in said
    assert '<Image name="item" value="$image"/>' in said

    assert run("select digits.csv --without label -b 3 --labeled labels.csv -o rows.json") == 0
    assert re.findall(r'<Choice value="(.*?)"/>', capfd.readouterr().err) == [*"0123456789"]
    data = json.loads((desk / "rows.json").read_text())[0]["data"]
    assert {"id", "row", "cells"} <= set(data)
    assert {"p0", "p63"} <= set(data["cells"])
    assert run("select texts.txt -b 3 -o texts.json") == 0
    texts = (desk / "texts.txt").read_text().splitlines()
    data = json.loads((desk / "texts.json").read_text())[1]["data"]
    assert data["text"] == texts[data["row"]]


def test_labels_come_back_from_label_studio(desk):
    assert run("select images -b 7 -o tasks.json") == 0
    tasks = json.loads((desk / "tasks.json").read_text())
    for task in tasks[:4]:
        task["annotations"] = [{"result": [{"value": {"choices": ["three"]}, "type": "choices"}]}]
    (desk / "export.json").write_text(json.dumps(tasks))
    assert run("select images -b 5 --labeled export.json") == 0
    labelled = {task["data"]["row"] for task in tasks[:4]}
    assert not labelled & set(picks()["row"].to_list())
    assert json.loads((desk / "picks.csv.mheal.json").read_text())["labeled"] == 4


def test_tasks_without_annotations_have_no_column_to_fill_in(desk, capfd):
    assert run("select images -b 3 -o tasks.json") == 0
    assert run("select images -b 3 --labeled tasks.json") == 2
    said = capfd.readouterr().err.splitlines()[-1]
    assert "tasks.json has no label yet: annotate" in said
    assert "column" not in said


def test_a_page_says_how_its_rows_are_labelled(desk, capfd):
    assert run("select images -b 3") == 0
    assert "--out" not in capfd.readouterr().err
    assert run("select images -b 3 --labeled picks.csv -o second.html") == 2  # no labels yet
    pl.read_csv("picks.csv").with_columns(label=pl.lit("x")).write_csv("picks.csv")
    capfd.readouterr()
    assert run("select images -b 3 --labeled picks.csv -o second.html") == 0
    assert "--out second.csv" in capfd.readouterr().err  # not the file of the labels


def test_a_single_row_is_not_called_rows(desk, capfd):
    pl.DataFrame({"a": [1.5], "b": [2.5]}).write_csv("one.csv")
    run("select one.csv -b 1")
    assert "one.csv: 1 row, " in capfd.readouterr().err


def test_the_next_round_can_be_run_as_printed(desk, capfd):
    assert run("select digits.csv -b 7 --labeled labels.csv -o tasks.json") == 0
    line = next(line for line in capfd.readouterr().err.splitlines() if "EXPORT.json" in line)
    task = json.loads((desk / "tasks.json").read_text())[0]
    task["annotations"] = [{"result": [{"value": {"choices": ["3"]}}]}]
    (desk / "EXPORT.json").write_text(json.dumps([task]))
    assert run(line[line.index("mheal ") + 6 :]) == 0
    tasks = json.loads((desk / "NEXT.json").read_text())
    assert len(tasks) == 7
    labelled = {*pl.read_csv("labels.csv")["id"], task["data"]["id"]}
    assert not labelled & {task["data"]["id"] for task in tasks}


def test_annotators_who_differ_do_not_end_the_run(desk, capfd):
    notes = [{"result": [{"value": {"choices": [label]}}]} for label in ("one", "two")]
    (desk / "export.json").write_text(json.dumps([{"data": {"row": 3}, "annotations": notes}]))
    assert run("select digits.npy -b 5 --labeled export.json") == 0
    assert "3 (one or two)" in capfd.readouterr().err


@pytest.mark.parametrize("pool", ["digits.csv", "texts.txt"])
def test_contact_sheets_of_rows_and_texts(pool, desk):
    assert run(f"select {pool} -b 9 -o sheet.html") == 0
    page = (desk / "sheet.html").read_text()
    assert page.count("<h2>") == 9
    assert run(f"select {pool} -b 9") == 0
    for reason in picks()["reason"]:
        assert reason in page


def test_contact_sheet_needs_no_other_file(desk):
    (desk / "images" / "0" / "<b>odd.png").write_bytes((desk / "images" / "0" / "000.png").read_bytes())
    assert run("select images -b 121 -o sheet.html") == 0
    page = (desk / "sheet.html").read_text()
    assert page.count("data:image/png;base64,") == 121
    assert "://" not in page
    assert "&lt;b&gt;odd.png" in page
    assert "<b>odd" not in page


def test_unreadable_images_are_named_and_skipped(desk, capfd):
    (desk / "images" / "broken.png").write_bytes(b"not an image")
    assert run("select images -b 3") == 0
    assert "skipped 1 image that cannot be read: images/broken.png (it is not an image)" in capfd.readouterr().err
    assert json.loads((desk / "picks.csv.mheal.json").read_text())["skipped"] == 1


def test_labelled_rows_are_avoided_by_id_and_by_row(desk):
    assert run("select digits.csv --without label -b 20 --labeled labels.csv") == 0
    assert not set(range(0, 1797, 15)) & set(picks()["row"].to_list())
    assert run("select digits.npy -b 20 --labeled labels.csv -o other.csv") == 0
    assert picks("other.csv")["row"].to_list() == picks()["row"].to_list()


def test_strategies_that_need_labels_get_them(desk, capfd):
    assert run("select digits.csv --without label -b 20 --labeled labels.csv --strategy margin") == 0
    assert len(set(picks()["row"].to_list())) == 20
    assert run("select digits.csv --without label -b 20 --strategy margin") == 2
    assert "margin needs a model" in capfd.readouterr().err


@pytest.mark.parametrize("strategy", ["margin", "uherding", "bald", "mheal"])
def test_a_model_does_not_depend_on_the_units_of_columns(desk, strategy):
    other = pl.read_csv("digits.csv").with_columns(p20=pl.col("p20") * 4096, p36=pl.col("p36") / 4096)
    other.write_csv("other.csv")
    for pool in ("digits", "other"):
        options = f"--labeled labels.csv --strategy {strategy} -o {pool}_picks.csv"
        assert run(f"select {pool}.csv --without label -b 20 {options}") == 0
    assert picks("other_picks.csv")["row"].to_list() == picks("digits_picks.csv")["row"].to_list()


def test_a_pool_that_has_grown_keeps_its_old_picks(desk):
    digits = pl.read_csv("digits.csv").drop("label")
    digits.head(900).write_csv("pool.csv")
    assert run("select pool.csv -b 30") == 0
    old = picks()
    digits.sample(fraction=1, shuffle=True, seed=1).write_csv("pool.csv")  # grown, and in another order
    assert run("select pool.csv -b 45 --keep picks.csv -o grown.csv") == 0
    new = picks("grown.csv")
    assert new["id"].to_list()[:30] == old["id"].to_list()
    assert len(set(new["id"].to_list())) == 45
    ids = pl.read_csv("pool.csv")["id"]
    assert [ids[row] for row in new["row"].to_list()] == new["id"].to_list()


def test_rerun_repeats_bit_for_bit(desk, capfd, monkeypatch):
    (desk / "out").mkdir()
    line = "select digits.csv --without label -b 25 --labeled labels.csv --clusters 7 --seed 3 -o out/picks.csv"
    assert run(line) == 0
    before = (desk / "out" / "picks.csv").read_bytes()
    (desk / "out" / "picks.csv").unlink()
    monkeypatch.chdir(desk / "images")  # paths in the record are its own
    typed = "../digits.csv --labeled ../labels.csv"  # which are outside the record's folder
    assert run("select --rerun ../out/picks.csv.mheal.json") == 2
    assert "outside its folder" in capfd.readouterr().err
    assert run(f"select {typed} --rerun ../out/picks.csv.mheal.json") == 0
    assert "identical" in capfd.readouterr().err
    assert (desk / "out" / "picks.csv").read_bytes() == before

    with (desk / "digits.csv").open("a") as file:
        file.write("new," + ",".join(["0"] * 65) + "\n")
    assert run(f"select {typed} --rerun ../out/picks.csv.mheal.json") == 2
    assert "digits.csv has changed" in capfd.readouterr().err


def test_rerun_does_not_replace_recorded_picks_by_others(desk, capfd):
    assert run("select images -b 9") == 0
    record = json.loads((desk / "picks.csv.mheal.json").read_text())
    for change in ({"embed": "pca"}, {"strategy": "random"}):
        other = record | {"parameters": record["parameters"] | change}
        (desk / "picks.csv.mheal.json").write_text(json.dumps(other))
        before = {name: (desk / name).read_bytes() for name in ("picks.csv", "picks.csv.mheal.json")}
        capfd.readouterr()
        assert run("select --rerun picks.csv.mheal.json") == 2
        said = capfd.readouterr().err
        assert "nothing was written" in said
        assert "--out" in said
        assert ("images 8×8 grey, PCA to" in said) == ("embed" in change)
        assert {name: (desk / name).read_bytes() for name in before} == before
        assert run("select --rerun picks.csv.mheal.json -o new.csv") == 0


def test_record_says_what_was_done(desk):
    assert run("select images -b 9 --embed pixels --seed 4") == 0
    record = json.loads((desk / "picks.csv.mheal.json").read_text())
    assert record["mheal"] == mheal.__version__
    assert record["parameters"]["seed"] == 4
    assert record["parameters"]["embed"] == "pixels"
    assert "images 8×8 grey" in record["features"]
    assert record["rows"] == 120
    assert set(record["seconds"]) == {"reading", "picking"}


def test_plot_is_a_picture(desk):
    assert run("select digits.npy -b 15 --plot map.png") == 0
    with Image.open(desk / "map.png") as image:
        assert image.format == "PNG"
        assert image.width > 1000


def test_forecast_writes_nothing(desk, capfd):
    before = sorted(desk.iterdir())
    assert run("select digits.npy -b 100 --forecast") == 0
    said = capfd.readouterr().out
    assert re.search(r"should take at most \d+\.\d s \(measured on 224 rows\) and [\d.]+ [MG]B", said)
    assert sorted(desk.iterdir()) == before


def test_embedding_is_what_select_uses(desk):
    assert run("embed images --out vectors.npy") == 0
    assert run("select vectors.npy -b 10 -o a.csv") == 0
    assert run("select images -b 10 -o b.csv") == 0
    assert picks("a.csv")["row"].to_list() == picks("b.csv")["row"].to_list()


def test_vectors_in_a_parquet_file_keep_the_names_of_items(desk, capfd):
    (desk / "images" / "a broken one.png").write_bytes(b"")
    assert run("embed images --out vectors.npy") == 0
    assert "a .parquet file holds the names of items" in capfd.readouterr().err
    assert run("embed images --out vectors.parquet") == 0
    np.testing.assert_array_equal(pl.read_parquet("vectors.parquet")["embedding"].to_numpy(), np.load("vectors.npy"))
    assert run("select images -b 5 --out one.csv") == run("select vectors.parquet -b 5 --out other.csv") == 0
    one, other = (pl.read_csv(name)["id"].to_list() for name in ("one.csv", "other.csv"))
    assert one == other
    assert "a broken one.png" not in one


def test_strategies_are_listed(capfd):
    assert run("strategies") == 0
    said = capfd.readouterr().out
    assert all(name in said for name in mheal.strategies.names())


def test_shell_completion_knows_the_strategies():
    asked = {"_MHEAL_COMPLETE": "complete_bash", "COMP_WORDS": "mheal select --strategy t", "COMP_CWORD": "3"}
    code = "import sys; from mheal.cli import main; sys.argv[0] = 'mheal'; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **asked}
    )
    assert sorted(done.stdout.split()) == ["ted", "typiclust"]


@pytest.mark.parametrize(("text", "size"), [("4GB", 4e9), ("500 mb", 5e8), ("1.5GiB", 1.5 * 2**30), ("2000", 2000)])
def test_sizes(text, size):
    assert parse_size(text) == size
