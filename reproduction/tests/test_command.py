import re
import shlex
import shutil

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from mheal.cli import main
from mheal.cli.datasets import datasets
from mheal_reproduction.command import reproduce
from mheal_reproduction.paper import EXPERIMENTS


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    X, y = load_breast_cancer(return_X_y=True)
    for name in EXPERIMENTS["figure6"].datasets:
        np.savez(folder / f"{name}.npz", X_train=X[:200], y_train=y[:200])
    return folder


def test_reproduce_prints_the_page_and_goes_on(data, tmp_path, capsys):
    args = ["reproduce", "figure6", "--quick", "--seeds", "1", "--data", str(data), "--out", str(tmp_path / "out")]
    assert main(args) == 0
    first = capsys.readouterr()
    assert first.out.startswith("# Figure 6")
    assert "Written:" in first.err
    rows = (tmp_path / "out" / "rows.jsonl").read_bytes()
    assert main([*args[:4], "2", *args[5:], "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "out" / "rows.jsonl").read_bytes().startswith(rows[: rows.index(b"\n")])
    assert len((tmp_path / "out" / "rows.jsonl").read_bytes()) > 1.5 * len(rows)


def test_the_default_folder_tells_quick_runs_apart(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "figure8", "--quick", "--seeds", "1", "--data", str(data), "--quiet"]) == 0
    assert (tmp_path / "results" / "figure8-quick" / "figure8.png").exists()


@pytest.mark.parametrize("command", [reproduce, *(c.callback for c in datasets.registered_commands)])
def test_examples_of_the_help_work_as_written(command, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MHEAL_DATA", str(data))
    shutil.copytree(data, tmp_path / "datasets")
    examples = re.findall(r"Example: mheal (.+)", command.__doc__)
    assert examples
    for example in examples:
        assert main(shlex.split(example)) == 0, example
    assert capsys.readouterr().out


def test_list_names_every_experiment(capsys):
    assert main(["reproduce", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in EXPERIMENTS)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "--list"),
        (["figure66"], "figure66"),
        (["figure6", "--seeds", "0"], "--seeds"),
        (["figure6", "--data", "nowhere"], "nowhere is no folder"),
        (["figure6", "--dataset", "skin"], "figure6 is run as a whole: leave out --dataset and --line"),
        (["table3", "--dataset", "skin"], "there is no dataset 'skin' here: choose from mnist; cifar10; cifar100"),
        (["table5", "--dataset", "cifar10", "--line", "BADGE"], "there is no line 'BADGE' here: choose from Random"),
        (["table4", "--line", "Coreset"], "there is no line 'Coreset' here: choose from Random; K-means; K-medoids"),
    ],
)
def test_a_mistake_is_one_line(args, words, capsys):
    assert main(["reproduce", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err


def test_datasets_list_says_what_is_here(data, capsys):
    assert main(["datasets", "list", "--data", str(data)]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["skin"].split()[-1] == "yes"
    assert lines["mnist"].split()[-1] == "no"


def test_datasets_get_and_path_print_the_file(data, capsys, monkeypatch):
    assert main(["datasets", "path", "mnist", "--data", str(data)]) == 0
    assert capsys.readouterr().out.strip() == str(data / "mnist.npz")
    monkeypatch.setenv("MHEAL_DATA", str(data))
    assert main(["datasets", "get", "jm1"]) == 0
    assert capsys.readouterr().out.strip() == str(data / "jm1.npz")
    assert main(["datasets", "path", "minst"]) == 2
    assert "minst" in capsys.readouterr().err
