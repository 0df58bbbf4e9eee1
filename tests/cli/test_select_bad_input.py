"""Wrong input: each case exits with 2, prints one clear line, and leaves every file unchanged."""

import json
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mheal.cli import main


def corrupt_npy():
    Path("bad.npy").write_bytes(b"\x93NUMPY garbage")


def truncated_npy():
    Path("bad.npy").write_bytes(Path("digits.npy").read_bytes()[:5000])


def truncated_parquet():
    pl.read_csv("digits.csv").write_parquet("bad.parquet")
    Path("bad.parquet").write_bytes(Path("bad.parquet").read_bytes()[:3000])


def empty_csv():
    Path("bad.csv").write_text("")


def header_only():
    Path("bad.csv").write_text("a,b\n")


def nan_cell():
    X = np.load("digits.npy")
    X[17, 4] = np.nan
    np.save("bad.npy", X)


def ragged_csv():
    Path("bad.csv").write_text("a,b\n1,2\n3,4,5\n")


def ragged_jsonl():
    Path("bad.jsonl").write_text('{"e": [1.0, 2.0]}\n{"e": [1.0]}\n{"e": [3.0, 4.0]}\n')


def broken_jsonl():
    Path("bad.jsonl").write_text('{"a": 1}\n{"a": \n')


def empty_folder():
    Path("bad").mkdir()


def only_broken_images():
    Path("bad").mkdir()
    Path("bad/a.png").write_bytes(b"no")


def doubled_id():
    Path("bad.csv").write_text("key,a\nx,1\ny,2\nx,3\n")


def one_dimension():
    np.save("bad.npy", np.arange(10.0))


def text_array():
    np.save("bad.npy", np.array([["a", "b"], ["c", "d"]]))


def equal_rows():
    np.save("bad.npy", np.ones((50, 3)))


def labels_beyond_the_pool():
    Path("bad.csv").write_text("row,label\n3,a\n1797,b\n")


def unknown_id():
    Path("bad.csv").write_text("id,label\nd0001,a\nd9999,b\n")


def two_labels():
    Path("bad.csv").write_text("row,label\n3,a\n3,b\n")


def no_key():
    Path("bad.csv").write_text("name,label\n3,a\n")


def not_a_record():
    Path("bad.json").write_text(json.dumps({"hello": 1}))


def picks_of_another_pool():
    Path("bad.csv").write_text("rank,row,cluster,gain,radius\n1,5000,0,1.0,1.0\n")


def mixed_shards():
    Path("s1.csv").write_text("a,b\n1,2\n")
    Path("s2.csv").write_text("a,c\n1,2\n")


CASES = [
    (corrupt_npy, "select bad.npy -b 3", "bad.npy"),
    (truncated_npy, "select bad.npy -b 3", "bad.npy"),
    (truncated_parquet, "select bad.parquet -b 3", "cannot read bad.parquet"),
    (empty_csv, "select bad.csv -b 3", "bad.csv"),
    (header_only, "select bad.csv -b 3", "bad.csv has no rows"),
    (nan_cell, "select bad.npy -b 3", "NaN at row 17, column 4"),
    (ragged_csv, "select bad.csv -b 1", "line 3 has 3 cells"),
    (ragged_jsonl, "select bad.jsonl -b 1", "row 1"),
    (broken_jsonl, "select bad.jsonl -b 1", "line 2 is not JSON"),
    (empty_folder, "select bad -b 3", "there is no image in the folder 'bad'"),
    (only_broken_images, "select bad -b 1", "a.png"),
    (doubled_id, "select bad.csv -b 1 --id key", "'x'"),
    (one_dimension, "select bad.npy -b 3", "bad.npy"),
    (text_array, "select bad.npy -b 1", "bad.npy"),
    (equal_rows, "select bad.npy -b 3", "all 50 rows of X are equal"),
    (labels_beyond_the_pool, "select digits.npy -b 3 --labeled bad.csv", "there is no row 1797"),
    (unknown_id, "select digits.csv --without label -b 3 --labeled bad.csv", "no row of the pool has the id 'd9999'"),
    (two_labels, "select digits.npy -b 3 --labeled bad.csv", "row 3 is labelled 'a' and 'b'"),
    (no_key, "select digits.npy -b 3 --labeled bad.csv", "has no column 'row'"),
    (not_a_record, "select --rerun bad.json", "is not a record of mheal select"),
    (picks_of_another_pool, "select digits.npy -b 30 --keep bad.csv", "there is no row 5000"),
    (mixed_shards, "select 's*.csv' -b 1", "s2.csv has no column 'b'"),
    (None, "select missing.csv -b 3", "there is no file or folder 'missing.csv'"),
    (None, "select digit.csv -b 3", "did you mean 'digits.csv'?"),
    (None, "select 'nothing-*.npy' -b 3", "no file matches"),
    (None, "select digits.csv --columns p0,q9 -b 3", "'q9'"),
    (None, "select digits.csv --id nobody -b 3", "'nobody'"),
    (None, "select digits.npy --columns a -b 3", "is not a table"),
    (None, "select digits.npy -b 1798", "exceeds the 1797 unlabelled rows"),
    (None, "select digits.npy -b 0", "budget must be at least 1"),
    (None, "select digits.npy -b ten", "'--budget'"),
    (None, "select digits.npy", "give a pool and a budget"),
    (None, "select digits.npy -b 3 --strategy best", "there is no strategy 'best': choose from mheal"),
    (None, "select digits.npy -b 3 --clusters 2000", "n_clusters is 2000"),
    (None, "select digits.npy -b 3 --strategy random --clusters 3", "has no clusters"),
    (None, "select digits.npy -b 3 --format xml", "there is no format 'xml'"),
    (None, "select digits.npy -b 3 -o picks.xls", "cannot tell the format of 'picks.xls'"),
    (None, "select digits.npy -b 3 -o picks.html", "no images, texts or cells"),
    (None, "select digits.npy -b 3 -o nowhere/picks.csv", "there is no folder 'nowhere'"),
    (None, "select digits.npy -b 3 -o images", "cannot tell the format"),
    (None, "select digits.npy -b 3 --max-memory lots", "cannot read the size 'lots'"),
    (None, "select digits.npy -b 3 --max-memory 1MB", "raise --max-memory to "),
    (None, "select digits.npy -b 3 --embed tfidf", "tfidf"),
    (None, "select images -b 3 --embed timm:resnet18", "timm"),
    (
        None,
        "select digits.npy -b 3 --rerun picks.csv.mheal.json",
        "--rerun takes --budget from the record: leave it out",
    ),
    (
        None,
        "select --rerun picks.csv.mheal.json --id x --seed 3 -o a.csv",
        "--rerun takes --id, --seed from the record",
    ),
    (None, "select --rerun picks.csv.mheal.json", "picks.csv.mheal.json"),
    (None, "select digits.npy -b 3 --labeled missing.csv", "there is no file 'missing.csv'"),
    (None, "embed images --out vectors.csv", "ends in .npy"),
    (None, "selct digits.npy -b 3", "selct"),
]


@pytest.mark.parametrize(("prepare", "line", "words"), CASES, ids=[line for _, line, _ in CASES])
def test_bad_input_gets_one_line_and_changes_nothing(prepare, line, words, desk, capfd):
    if prepare:
        prepare()
    before = {path: path.read_bytes() for path in desk.rglob("*") if path.is_file()}
    assert main(shlex.split(line)) == 2
    out, err = capfd.readouterr()
    assert out == ""
    said = [text for text in err.splitlines() if text.startswith("mheal:")]
    assert len(said) == 1
    assert words in said[0]
    assert err.splitlines()[-1] == said[0]
    assert "Traceback" not in err
    assert {path: path.read_bytes() for path in desk.rglob("*") if path.is_file()} == before


def test_debug_shows_the_traceback(desk, capfd):
    assert main(["select", "missing.csv", "-b", "3", "--debug"]) == 2
    assert "Traceback" in capfd.readouterr().err


def _python(code, **options):
    """Run code that may not be able to write, so without recording its coverage."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=plain, **options
    )


def test_a_full_disk_leaves_the_old_file(desk):
    assert main(shlex.split("select digits.npy -b 300 -q")) == 0
    before = (desk / "picks.csv").read_bytes()

    def full():  # the system refuses to let a file grow beyond this, as a full disk does
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    code = "import sys; from mheal.cli import main; sys.exit(main('select digits.npy -b 900'.split()))"
    done = _python(code, preexec_fn=full)
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert (desk / "picks.csv").read_bytes() == before
    assert not list(desk.glob(".*.part"))


def test_no_permission(desk):
    (desk / "locked").mkdir(mode=0o500)
    # root may write anywhere: become nobody, once everything that is needed has been loaded
    code = """
import os, sys
from mheal.cli import main
assert main("select digits.npy -b 3 -q -o warm.csv".split()) == 0
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
sys.exit(main("select digits.npy -b 3 -o locked/picks.csv".split()))
"""
    os.chmod(desk, 0o755)
    for parent in desk.parents:  # where pytest has made folders that only we may enter
        if parent.stat().st_uid == os.geteuid() and len(parent.parts) > 2:
            os.chmod(parent, parent.stat().st_mode | 0o055)
    done = _python(code)
    assert done.returncode == 2
    assert "Permission denied" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((desk / "locked").iterdir())
