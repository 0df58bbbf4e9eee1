import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from mheal.runtime.files import Lock
from mheal_reproduction import command
from mheal_reproduction.command import HOME, main, reproduce, results
from mheal_reproduction.experiments import EXPERIMENTS, Part, load


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    X, y = load_breast_cancer(return_X_y=True)
    for name in EXPERIMENTS["figure6"].datasets:
        np.savez(folder / f"{name}.npz", X_train=X[:200], y_train=y[:200])
    return folder


def test_it_prints_the_page_and_resumes(data, tmp_path, capsys):
    args = ["figure6", "--quick", "--seeds", "1", "--data", str(data), "--out", str(tmp_path / "out")]
    assert main(args) == 0
    first = capsys.readouterr()
    assert first.out.startswith("# Figure 6")
    assert str(tmp_path / "out") in first.err
    rows = (tmp_path / "out" / "rows.jsonl").read_bytes()
    assert main([*args[:3], "2", *args[4:], "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "out" / "rows.jsonl").read_bytes().startswith(rows[: rows.index(b"\n")])
    assert len((tmp_path / "out" / "rows.jsonl").read_bytes()) > 1.5 * len(rows)


def test_two_runs_in_one_folder_are_refused(data, tmp_path, capsys):
    args = ["figure6", "--quick", "--seeds", "1", "--data", str(data), "--out", str(tmp_path / "out")]
    with Lock(tmp_path / "out"):
        assert main(args) == 2
    assert "another run is at work in" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_page_can_be_written_without_a_run(tmp_path, capsys):
    assert main(["theorem1", "--out", str(tmp_path), "--quiet"]) == 0
    page = (tmp_path / "README.md").read_text()
    (tmp_path / "README.md").unlink()
    assert main(["theorem1", "--out", str(tmp_path), "--page"]) == 0
    assert (tmp_path / "README.md").read_text() == page
    assert capsys.readouterr().out.startswith("# Theorem 1")


def test_results_go_beside_the_code_in_a_checkout_and_else_below_the_working_directory(tmp_path):
    assert (HOME / "pyproject.toml").exists()
    assert results("figure8-quick") == HOME / "results" / "figure8-quick"
    assert results("figure8-quick", tmp_path) == Path("results", "figure8-quick")


def test_the_first_example_of_the_help_works_as_written(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MHEAL_DATA", str(data))
    examples = re.findall(r"Example: python -m mheal_reproduction (.+)", reproduce.__doc__)
    assert main(shlex.split(examples[0])) == 0
    assert capsys.readouterr().out
    assert len(examples) == 2


def test_list_names_every_experiment(capsys):
    assert main(["--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in EXPERIMENTS)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "--list"),
        (["figure66"], "figure66"),
        (["figure6", "--seeds", "0"], "--seeds"),
        (["figure6", "--data", "nowhere"], "nowhere is no folder"),
        (["figure6", "--dataset", "skin"], "figure6 is run as a whole: leave out --dataset and --method"),
        (["table3", "--dataset", "skin"], "there is no dataset 'skin' here: choose from mnist; cifar10; cifar100"),
        (["table5", "--dataset", "cifar10", "--method", "BADGE"], "there is no method 'BADGE' here"),
        (
            ["table4", "--method", "Coreset"],
            "there is no method 'Coreset' here: choose from Random; K-means",
        ),
    ],
)
def test_a_mistake_is_one_line(args, words, capsys):
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err


def test_a_bug_is_not_a_mistake(monkeypatch):
    monkeypatch.setattr(command, "load", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["theorem1"])


@pytest.mark.parametrize(("name", "kind"), [("table3", "clean"), ("table4", "repeated"), ("table5", "noisy")])
def test_tables_have_their_kind_of_pool(name, kind):
    loaded = load(name, Part(("mnist",)))
    assert loaded.run.keywords == {"kind": kind, "part": Part(("mnist",))}
    assert loaded.write.keywords == {"kind": kind}
