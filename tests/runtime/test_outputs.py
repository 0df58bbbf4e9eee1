"""Outputs of commands never replace an input or a user's own file, and a killed run never blocks the next one."""

import json
import os
import signal
import subprocess
import sys

import pytest

from mheal.exceptions import UserError, UserFileError
from mheal.runtime.outputs import SUFFIX, Outputs


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, content, force=False, **inputs):
    files = folder / "picks.csv", folder / "map.png"
    with (
        Outputs([("--out", files[0]), ("--plot", files[1])], inputs, force=force) as outputs,
        outputs.writing(*files, about={"content": content}) as parts,
    ):
        for part in parts:
            part.write_text(content)
    return outputs


def test_what_mheal_wrote_is_replaced_and_what_somebody_changed_is_not(here):
    write(here, "one")
    write(here, "two")
    assert json.loads((here / "picks.csv.mheal.json").read_text())["content"] == "two"
    (here / "picks.csv").write_text("two, and a label")
    with pytest.raises(UserError, match=r"picks.csv has changed since .* --out .* --force"):
        write(here, "three")
    (here / "map.png").write_text("my own")
    (here / "picks.csv").write_text("two")
    with pytest.raises(UserError, match=r"map.png has changed since .* --plot .* --force"):
        write(here, "three")
    assert (here / "map.png").read_text() == "my own"
    write(here, "three", force=True)
    write(here, "four")
    assert (here / "map.png").read_text() == "four"


@pytest.mark.parametrize("name", ["picks.csv", "map.png", "picks.csv.mheal.json"])
@pytest.mark.parametrize("content", ["mine", "{}", '{"files": []}', "[" * 100_000])
def test_a_file_of_somebody_else_is_replaced_only_by_force(here, name, content):
    (here / name).write_text(content)
    with pytest.raises(UserError, match=rf"{name} was not written by mheal: .*--force"):
        write(here, "new")
    assert (here / name).read_text() == content
    write(here, "new", force=True)
    assert (here / "picks.csv").read_text() == "new"


def test_other_records_in_the_folder_may_hold_anything(here):
    for at, files in enumerate([{"a\0b": ["x"]}, {"picks.csv": "x"}, {"picks.csv": [None, {}]}, {"../..": []}]):
        (here / f"{at}.mheal.json").write_text(json.dumps({"files": files}))
    (here / "picks.csv").write_text("mine")
    with pytest.raises(UserError, match=r"picks\.csv has changed"):
        write(here, "new")


def test_a_copy_under_another_name_is_somebodys(here):
    write(here, "one")
    (here / "picks.csv").rename(here / "copy.csv")
    with pytest.raises(UserError, match="was not written by mheal"), Outputs([("--out", here / "copy.csv")]):
        raise AssertionError


def test_a_file_of_one_run_may_be_replaced_by_another_in_the_folder(here):
    write(here, "one")
    with Outputs([("--out", here / "other.csv"), ("--plot", here / "map.png")]) as outputs:
        assert list(outputs.check()) == [here / "map.png"]


@pytest.mark.parametrize("name", ["picks.csv", "sub/../picks.csv", "hard.csv", "soft.csv"])
def test_an_input_is_never_replaced_even_by_force(here, name):
    (here / "sub").mkdir()
    write(here, "one")
    (here / "hard.csv").hardlink_to(here / "picks.csv")
    (here / "soft.csv").symlink_to("picks.csv")
    with pytest.raises(UserError, match=r"an input \(--labeled\): give --out another name"):
        write(here, "two", force=True, **{"--labeled": [here / name]})
    with pytest.raises(UserError, match=r"an input \(the pool\): give --plot another name"):
        write(here, "two", force=True, **{"the pool": [here / "map.png"]})
    assert (here / "picks.csv").read_text() == "one"


def test_what_appears_during_the_work_is_not_replaced(here):
    outputs = Outputs([("--out", here / "picks.csv")])
    with pytest.raises(UserError, match="was not written by mheal"), outputs.writing(here / "picks.csv"):
        (here / "picks.csv").write_text("appeared")
    assert [path.name for path in here.iterdir()] == ["picks.csv"]
    assert (here / "picks.csv").read_text() == "appeared"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["a.csv", "a.csv"], "written twice"),
        (["a.csv", "sub/../a.csv"], "written twice"),
        (["a.csv", "a.csv.mheal.json"], "written twice"),
        (["nowhere/a.csv"], "there is no folder 'nowhere' to write a.csv to: make it first"),
        (["file/a.csv"], "'file' is a file, not a folder"),
        (["sub"], "sub is a folder or a device"),
        (["/dev/null"], "/dev/null is a folder or a device"),
    ],
)
def test_other_names_that_cannot_be(here, files, words):
    (here / "sub").mkdir()
    (here / "file").touch()
    outputs = Outputs([("--out", type(here)(name)) for name in files], force=True)
    with pytest.raises(UserError, match=words), outputs:
        raise AssertionError


def test_a_failure_leaves_everything_as_it_was(here):
    outputs = write(here, "one")
    before = {path: path.read_bytes() for path in here.iterdir()}
    with pytest.raises(TypeError), outputs.writing(here / "picks.csv") as parts:
        parts[0].write_text("".join(["half", 0]))
    assert {path: path.read_bytes() for path in here.iterdir()} == before


def test_a_folder_is_made_where_that_is_wanted(here):
    outputs = Outputs([("--out", here / "new" / "a.csv")], record=here / "new" / "all.json", make_folder=True)
    for name in ("one", "two"):
        with outputs, outputs.writing(here / "new" / "a.csv", about={}) as parts:
            parts[0].write_text(name)
    assert sorted(path.name for path in (here / "new").iterdir()) == ["a.csv", "all.json"]
    with Outputs([("--out", here / "newest" / "a.csv")], make_folder=True):
        assert (here / "newest").exists()
    assert not (here / "newest").exists()  # nothing was written
    with pytest.raises(UserFileError), Outputs([("--out", here / "newer" / "a.csv")]):
        raise AssertionError


def test_names_that_are_not_utf8_are_recorded(here):
    file = here / os.fsdecode(b"caf\xe9.csv")
    for text in ("one", "two"):
        outputs = Outputs([("--out", file)])
        with outputs, outputs.writing(file, about={"name": file.name}) as parts:
            parts[0].write_text(text)
    assert json.loads(file.with_name(f"{file.name}{SUFFIX}").read_text())["name"] == file.name


KILLED = """
import os, signal, sys
from pathlib import Path
from mheal.runtime.outputs import Outputs
files = Path("picks.csv"), Path("map.png")
steps, last = 0, int(sys.argv[1])
def step(event, args):
    global steps
    if event in ("open", "os.rename", "os.remove", "os.chmod", "os.link"):
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)
outputs = Outputs([("--out", files[0]), ("--plot", files[1])])
sys.addaudithook(step)
with outputs, outputs.writing(*files, about={"content": "new"}) as parts:
    for part in parts:
        part.write_text("new")
"""


def test_a_kill_at_any_step_leaves_whole_files_and_a_record_of_them(here):
    """SIGKILL before each file that is opened, renamed or deleted while files are written."""
    states = set()
    for step in range(1, 1000):
        for path in here.iterdir():
            path.unlink()
        write(here, "old")
        status = subprocess.run([sys.executable, "-c", KILLED, str(step)], check=False).returncode
        record, picks, plot = (
            json.loads((here / "picks.csv.mheal.json").read_text())["content"],
            (here / "picks.csv").read_text(),
            (here / "map.png").read_text(),
        )
        states.add((record, picks, plot))
        assert {record, picks, plot} <= {"old", "new"}
        assert record == "new" or (picks, plot) == ("old", "old")  # no file is newer than its record
        write(here, "newer")  # and nobody is locked out
        assert sorted(path.name for path in here.iterdir()) == ["map.png", "picks.csv", "picks.csv.mheal.json"]
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert {state[0] for state in states if state[1:] == ("old", "old")} == {"old", "new"}
    assert ("new", "new", "new") in states
    assert len(states) == 4
