"""`mheal select --device`: the same picks, made elsewhere."""

import json
import sys

import numpy as np
import polars as pl
import pytest

from commands import run

TORCH_CPU = "cpu:0"  # what torch calls the CPU, where `cpu` alone means our own kernels


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """The current folder, with pool.npy."""
    monkeypatch.chdir(tmp_path)
    np.save("pool.npy", np.random.default_rng(0).standard_normal((2000, 8)))
    return tmp_path


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


def test_cpu_is_as_without_the_option_and_needs_no_torch(pool, no_torch):
    assert run("select pool.npy -b 40 -o plain.csv") == 0
    assert run("select pool.npy -b 40 --device cpu --max-memory 3GB") == 0
    assert (pool / "picks.csv").read_bytes() == (pool / "plain.csv").read_bytes()
    assert json.loads((pool / "picks.csv.mheal.json").read_text())["parameters"]["device"] == "cpu"
    assert run("select pool.npy -b 40 --device cpu --strategy random") == 0


def check_device(device, strategy, pool, capfd):
    """The device gives the picks of the CPU, and a rerun of the record uses the device again."""
    assert run(f"select pool.npy -b 40 --strategy {strategy} -o plain.csv") == 0
    assert run(f"select pool.npy -b 40 --strategy {strategy} --device {device}") == 0
    assert pl.read_csv("picks.csv")["row"].equals(pl.read_csv("plain.csv")["row"])
    record = json.loads((pool / "picks.csv.mheal.json").read_text())
    assert record["parameters"]["device"] == device
    assert "torch" in record["packages"]
    assert run("select --rerun picks.csv.mheal.json") == 0
    assert "identical" in capfd.readouterr().err


@pytest.mark.parametrize("strategy", ["mheal", "mheal-paper"])
def test_a_device_of_torch_gives_the_same_picks_and_is_recorded(strategy, pool, capfd):
    pytest.importorskip("torch")
    check_device(TORCH_CPU, strategy, pool, capfd)


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", ["mheal", "mheal-paper"])
def test_a_gpu_gives_the_same_picks_and_is_recorded(strategy, pool, capfd):
    if not pytest.importorskip("torch").cuda.is_available():
        pytest.skip("no CUDA device")
    check_device("cuda", strategy, pool, capfd)


def refused(line, capfd):
    assert run(f"select pool.npy -b 5 -q {line}") == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    return err


@pytest.mark.parametrize(
    ("more", "words"),
    [("--strategy coreset", "coreset works on the CPU only"), ("--max-memory 3GB", "do not go together"),
     ("--scheduler local", "--device"), ("--forecast", "--device")],
)  # fmt: skip
def test_what_does_not_go_with_a_device_is_refused(more, words, pool, capfd):
    assert words in refused(f"--device cuda {more}", capfd)
    assert [path.name for path in pool.iterdir()] == ["pool.npy"]


def test_a_device_without_torch_says_what_to_install(pool, no_torch, capfd):
    assert "pip install 'mheal[deep]'" in refused("--device cuda", capfd)


@pytest.mark.parametrize("device", ["cuda", "gpu", "meta"])
def test_a_device_that_is_not_there_is_refused(device, pool, capfd):
    torch = pytest.importorskip("torch")
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("there is one")
    assert f"torch finds no device {device!r} here" in refused(f"--device {device}", capfd)
    assert [path.name for path in pool.iterdir()] == ["pool.npy"]


def test_a_full_device_is_one_line(pool, monkeypatch, capfd):
    torch = pytest.importorskip("torch")

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")

    monkeypatch.setattr("mheal.api.select", full)
    assert "too little free memory" in refused(f"--device {TORCH_CPU}", capfd)


def test_a_full_memory_is_one_line(pool, monkeypatch, capfd):
    def full(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr("mheal.api.select", full)
    assert "9 TiB" in refused("", capfd)
