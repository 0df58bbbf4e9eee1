import json
import re

import numpy as np
import pytest

from mheal_reproduction import machine
from mheal_reproduction.paper.table1 import deep as table1_deep
from mheal_reproduction.paper.table1 import experiment as table1
from mheal_reproduction.paper.table1.deep import deep_rows, missing, open_deep_rows
from mheal_reproduction.paper.table1.deep_page import deep_section
from mheal_reproduction.paper.table1.experiment import run
from mheal_reproduction.paper.table1.images import DATASETS, draw_images, drawn
from mheal_reproduction.paper.table1.names import DEC, DEEP, METHODS, MOVED, full
from mheal_reproduction.paper.table1.numbers import Accuracies
from mheal_reproduction.rows import stored_rows


def silent(done, total, what):
    pass


def test_every_method_size_and_seed_gets_a_row_and_only_once(images, tmp_path, monkeypatch):
    rows = open_deep_rows(tmp_path, True)
    deep_rows(rows, images, range(1), True, silent)
    assert len(rows.rows) == 2 * (3 + 1) * 3  # datasets, sizes and once more the largest, clusterers
    deep_rows(rows, images, range(2), True, silent)
    assert len(rows.rows) == 2 * 24
    assert {row["method"] for row in rows.rows} == {
        f"{name}+Auto+{variant}" for name in ("K-means", "GMM", "SphericalKMeans") for variant in ("DEC", "DEC-DA")
    }
    assert {row["setting"] for row in rows.rows} == {"n=200", "n=500", "n=1000"}
    for row in rows.rows:
        assert 0.1 <= row["accuracy"] <= 1
        assert 0.1 <= row["accuracy_before"] <= 1
        assert row["iterations"] <= 3
        assert min(row["kl_first"], row["kl_last"], row["seconds"]) >= 0
        assert row["device"] == (machine.gpu() or "CPU")
    monkeypatch.setattr(table1_deep, "fit_many", None)  # calling it would fail
    deep_rows(open_deep_rows(tmp_path, True), images, range(2), True, silent)


def test_the_largest_size_comes_first_and_an_interrupted_run_goes_on(images, tmp_path, monkeypatch):
    def stop_after_four(done, total, what):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        deep_rows(open_deep_rows(tmp_path, True), images, range(1), True, stop_after_four)
    rows = stored_rows(tmp_path)
    assert [row["setting"] for row in rows] == ["n=1000"] * 12
    assert {(row["dataset"], row["method"]) for row in rows} == {
        (name, full(method, variant)) for name in DATASETS for method in METHODS for variant in DEEP
    }
    fit_many, sizes = table1_deep.fit_many, []
    monkeypatch.setattr(table1_deep, "fit_many", lambda *a, **k: sizes.append(k["rows"].shape[1]) or fit_many(*a, **k))
    deep_rows(open_deep_rows(tmp_path, True), images, range(1), True, silent)
    found = stored_rows(tmp_path)
    assert sizes == [500] * 2 + [200] * 2
    assert found[:12] == rows
    assert (len(found), missing(found, 1, True)) == (24, "")


def test_the_protocol_has_recipes_and_another_one_is_refused(images, tmp_path):
    deep_rows(open_deep_rows(tmp_path, True), images, range(1), True, silent)
    protocol = json.loads((tmp_path / "protocol.json").read_text())
    assert protocol[DEC]["variant"] == "dec"
    assert protocol[MOVED]["image_shape"] == [28, 28]
    assert set(protocol[DEC]) > {"batch", "length", "gamma", "widths", "pretrain_rate", "max_iter"}
    with pytest.raises(ValueError, match="has another protocol"):
        open_deep_rows(tmp_path, False)
    assert len(stored_rows(tmp_path)) == 24


def test_without_a_gpu_a_full_run_leaves_the_lower_half_out_with_a_warning(images, tmp_path, monkeypatch):
    monkeypatch.setattr(table1, "gpu", lambda: None)
    monkeypatch.setattr(table1, "measure_all", lambda *_, workers: None)
    monkeypatch.setattr(table1, "deep_rows", None)  # calling it would fail
    monkeypatch.setattr(table1, "write", lambda *_: "the page")
    with pytest.warns(UserWarning, match="lower half of Table 1 is not run: it needs a GPU"):
        assert run(tmp_path, images, 1, False, silent) == "the page"
    assert not (tmp_path / "deep").exists()


def test_missing_runs_are_counted(tmp_path):
    sizes = [60_000, 50_000, 40_000, 30_000, 20_000, 10_000, 5_000, 1_000]
    for rows, lacking in (([], 270), (list(fake(0, (60_000,))), 258)):
        note = missing(rows, 5, False)
        assert [int(number) for number in re.findall(r"\d+", note)] == [270, 5, lacking, *sizes]  # wanted, seeds


def test_a_quick_run_writes_both_halves(images, tmp_path):
    page = run(tmp_path, images, 1, True, silent)
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == ["protocol.json", "rows.jsonl"]
    assert "All runs are there." in page
    assert page.count("ours, Auto+DEC, mean of seeds") == 6
    assert "nan" not in page
    assert not any("+" in json.loads(line)["method"] for line in (tmp_path / "rows.jsonl").read_text().splitlines())


def test_images_are_those_of_the_upper_half(images):
    with np.load(images / "mnist.npz") as stored:
        labels = stored["y_train"]
    np.testing.assert_array_equal(labels[drawn(len(labels), 300, 4)], draw_images("mnist", 300, 4, images)[1])


def fake(seed, sizes, spherical=0.965, raw=None):
    """Rows of a seed: SphericalKMeans has this accuracy, others less; `raw` adds rows on pixels."""
    for name in DATASETS:
        for n in sizes:
            for method, accuracy in zip(METHODS, (0.9, 0.8, spherical), strict=True):
                key = dict(dataset=name, seed=seed)
                values = dict(accuracy_before=0.7, seconds=30.0, device="GPU A" if seed else "GPU B")
                for variant in DEEP:
                    more = {**key, "method": full(method, variant), "setting": f"n={n}"}
                    yield {**more, "accuracy": accuracy + 0.001 * seed, **values}
                if raw:
                    yield {**key, "method": method, "setting": f"n={n} n_init=10", "accuracy": raw + 0.002 * seed}


def cells_of(text, start):
    """The cells of all table lines that begin so."""
    return [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith(start)]


def section(sizes, spherical=0.965, raw=0.5):
    rows = [row for seed in range(3) for row in fake(seed, sizes, spherical, raw)]
    return deep_section(Accuracies(rows, (10, 20)), "")


@pytest.mark.parametrize(("spherical", "verdict"), [(0.965, "reproduced"), (0.85, "refuted")])
def test_claims_about_deep_lines_are_judged_from_the_rows(spherical, verdict):
    text = section((10, 20), spherical)
    for start, paper in (("optimum", "+0.6"), ("mean over n", "+1.1")):
        cells = cells_of(text, f"| SphericalKMeans has the best {start}")[0]
        assert cells[1:3] == ["mnist", paper]
        assert [cell.partition(": ")[2] for cell in cells[3:]] == [verdict, verdict]


@pytest.mark.parametrize(("raw", "verdict"), [(0.5, "reproduced"), (0.99, "refuted")])
def test_codes_are_compared_with_pixels_of_the_same_seed(raw, verdict):
    mnist, fashion = cells_of(section((10, 20), raw=raw), "| K-means is better on codes than on pixels")
    assert [line[2] for line in (mnist, fashion)] == ["+39.6", "+7.4"]
    assert mnist[3] == f"{100 * (0.9 - raw) - 0.1:+.1f} ± 0.2: {verdict}"


def test_missing_sizes_and_missing_pixels_are_no_obstacle():
    some = section((20,))
    assert cells_of(some, "| SphericalKMeans has the best optimum")[0][3].endswith(": reproduced (1 of 2 sizes)")
    assert cells_of(some, "| SphericalKMeans varies least")[0][3] == "too few runs"
    none = section((20,), raw=None)
    assert cells_of(none, "| K-means is better on codes")[0][3:] == ["no rows", "no rows"]
    small = section((5,))  # no size of the table
    assert {cells[-1] for cells in cells_of(small, "| mnist | Auto")} == {"no rows"}
    assert "There are no rows of the deep methods" in deep_section(Accuracies([], (10, 20)), "")


@pytest.mark.parametrize(("spherical", "verdict"), [(0.965, "reached"), (0.62, "not reached")])
def test_targets_runs_and_time_come_from_the_rows(spherical, verdict):
    text = section((10, 20), spherical)
    targets = cells_of(text, "| mnist | Auto") + cells_of(text, "| fashion_mnist | Auto")
    assert [cells[-1] for cells in targets] == [verdict] * 4
    if verdict == "reached":
        numbers = "best 96.70, mean 96.60 of 3; 3 in the good mode, their mean 96.60"
        assert targets[0][2:4] == ["best run ≥ 96 %", numbers]
        assert "| mnist | SphericalKMeans+Auto+DEC | 20 | 3 | 96.6 ± 0.1 | 96.7 | 70.0 ± 0.0 | 3 of 3 |" in text
    assert cells_of(text, "| GPU") == [["GPU A", "48", "24.0"], ["GPU B", "24", "12.0"]]
