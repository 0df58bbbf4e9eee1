import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from mheal_reproduction.paper.figure11 import experiment as figure11
from mheal_reproduction.paper.figure11.experiment import Plane, draw_images
from mheal_reproduction.paper.figure11.page import DATASETS, LINES, RANDOM, SETTINGS, verdicts
from mheal_reproduction.paper.figure11.page import summary as summarise
from mheal_reproduction.report import Values
from mheal_reproduction.rows import KEY

digits = load_digits()
X, y = (digits.images * 15.9).astype(np.uint8), digits.target


def silent(done, total, what):
    pass


def accuracy_rows(lines):
    """Rows of six draws: lines[setting, method] is the accuracy at (20, 50), and draws differ a little."""
    noise = np.random.default_rng(0).normal(0, 0.01, 6)
    return [
        dict(zip(KEY, (name, method, setting, seed), strict=True))
        | {"accuracy": {"20": a + noise[seed] + 0.001 * (seed % 2) * (method == "in"), "50": b + noise[seed]}}
        for name in DATASETS
        for (setting, method), (a, b) in lines.items()
        for seed in range(6)
    ]


@pytest.fixture(scope="module", autouse=True)
def short_training():
    """Quick runs take most of their time for training, which is no part of this experiment's logic."""
    size = figure11.size_of(True)
    with pytest.MonkeyPatch.context() as patch:
        shorter = replace(size, recipe=replace(size.recipe, steps=10))
        patch.setattr(figure11, "size_of", lambda quick: shorter)
        yield


@pytest.fixture(scope="module")
def plane():
    return Plane.of(X)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Digits under the name of both datasets, of which one is turned upside down."""
    folder = tmp_path_factory.mktemp("images")
    for name, images in zip(DATASETS, (X, X[:, ::-1]), strict=True):
        np.savez(folder / f"{name}.npz", X_train=images[:1300], y_train=y[:1300], X_test=images[1300:], y_test=y[1300:])
    return folder


@pytest.fixture(scope="module")
def finished(data, tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    out = tmp_path_factory.mktemp("figure11")
    page = figure11.run(out, data, None, True, silent)
    torch.set_num_threads(before)
    return out, page, read(out)


def read(out):
    return [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]


def test_in_and_out_share_no_image_and_make_up_the_pool(plane):
    members = plane.members()
    assert list(members) == [RANDOM, *LINES[:-1]]
    assert members[RANDOM].all()
    for setting in SETTINGS:
        np.testing.assert_array_equal(members[setting, "in"], ~members[setting, "out"])
        assert members[setting, "in"].mean() == pytest.approx(0.3, abs=0.003)
    for c in range(10):
        own = plane.cluster == c
        assert members["sparse, per cluster", "in"][own].sum() == pytest.approx(0.3 * own.sum(), abs=0.5)


def test_dense_parts_are_dense_and_far_inside_and_sparse_parts_are_not(plane):
    members = plane.members()
    for setting in SETTINGS:
        inside, outside = (plane.describe(members[setting, method], y, setting) for method in ("in", "out"))
        for what in ("spacing", "radius"):
            assert (inside[what] < outside[what]) == setting.startswith("dense")
        assert sum(inside[f"class {c}"] for c in range(10)) == pytest.approx(1)


def test_radius_is_measured_from_the_middle_that_the_threshold_belongs_to(plane):
    everything = np.ones(len(X), bool)
    whole = plane.describe(everything, y, "all")["radius"]
    assert whole == pytest.approx(np.linalg.norm(plane.codes, axis=1).mean(), rel=1e-4)
    own = np.linalg.norm(plane.codes[plane.cluster == 4] - plane.centres[4], axis=1).mean()
    assert plane.describe(plane.cluster == 4, y, "dense, per cluster")["radius"] == pytest.approx(own)
    assert own < whole


def test_out_has_the_class_shares_of_the_pool_more_than_in_by_the_sizes_alone(plane):
    """The page says so of any split into 30 and 70 %."""
    pool = np.bincount(y) / len(y)
    for (setting, method), members in plane.members().items():
        if method == "in":
            off = [np.abs(np.bincount(y[part], minlength=10) / part.sum() - pool).sum() for part in (members, ~members)]
            assert off[1] / off[0] == pytest.approx(3 / 7, rel=0.02), setting


def test_draws_are_nested_paired_and_stay_in_their_part(plane):
    members = plane.members()
    inside, outside, everything = (
        draw_images(members[line], 3, 50) for line in (("dense, global", "in"), ("dense, global", "out"), RANDOM)
    )
    np.testing.assert_array_equal(draw_images(members["dense, global", "in"], 3, 20), inside[:20])
    assert members["dense, global", "in"][inside].all()
    assert not members["dense, global", "in"][outside].any()
    assert len(set(inside)) == len(set(everything)) == 50
    assert set(everything) <= set(inside) | set(
        outside
    )  # one order for all: what is first overall is first in its part
    assert set(draw_images(members[RANDOM], 4, 50)) != set(everything)


def test_a_part_that_is_too_small_is_named():
    with pytest.raises(ValueError, match="a part has 5 images, and 6 are to be drawn"):
        draw_images(np.arange(9) < 5, 0, 6)


def test_every_line_and_draw_has_a_curve_and_every_setting_its_parts(finished):
    _, _, rows = finished
    keys = [tuple(row[key] for key in KEY) for row in rows]
    parts = [(name, "parts", setting, 0) for name in DATASETS for setting in (*SETTINGS, "all")]
    curves = [(name, method, setting, seed) for name in DATASETS for setting, method in LINES for seed in (0, 1)]
    assert sorted(keys) == sorted(parts + curves)
    for row in rows:
        if row["method"] != "parts":
            assert list(row["accuracy"]) == ["20", "50"]
            assert all(0.02 <= value <= 0.9 for value in row["accuracy"].values())


def test_an_accuracy_is_that_of_a_network_trained_on_the_draw(finished, data):
    """Redone by hand: a curve does not depend on what is trained beside it."""
    from mheal_reproduction.networks.training import train_many

    with np.load(data / "fashion_mnist.npz") as stored:
        images, labels, tests, truth = (stored[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    drawn = draw_images(Plane.of(images).members()["sparse, per cluster", "out"], 1, 50)
    model = train_many(
        images, [(drawn, labels[drawn])], [1050], figure11.size_of(True).recipe, classes=10, device="cpu"
    )[0]
    key = ("fashion_mnist", "out", "sparse, per cluster", 1)
    row = next(row for row in finished[2] if tuple(row[k] for k in KEY) == key)
    assert row["accuracy"]["50"] == pytest.approx(model.accuracy(tests[:200], truth[:200]), abs=0.005)


def test_the_page_judges_every_reading_and_shows_the_picture(finished):
    out, page, _ = finished
    assert (out / "README.md").read_text() == page
    assert (out / "figure11.png").stat().st_size > 20_000
    assert "Quick run" in page
    for setting in SETTINGS:
        assert f"| {setting} | in above out on both datasets |" in page
    lines = [line for line in page.splitlines() if "are the boundary" in line]
    assert len(lines) == 2
    assert all(line.endswith("| refuted |") for line in lines)  # digits, too, are dense inside
    assert "nan" not in page
    assert max(len(line) for line in page.splitlines() if line[:1] not in "|-") <= 120


def test_a_run_goes_on_where_it_stopped(finished, data, tmp_path, monkeypatch):
    out, page, rows = finished
    kept = (out / "rows.jsonl").read_text().splitlines(keepends=True)[:-3]
    (tmp_path / "rows.jsonl").write_text("".join(kept))
    (tmp_path / "protocol.json").write_text((out / "protocol.json").read_text())
    steps = []
    assert figure11.run(tmp_path, data, None, True, lambda done, total, what: steps.append((done, total))) == page
    assert steps == [(33, 36), (35, 36), (36, 36)]
    assert sorted(map(str, read(tmp_path))) == sorted(map(str, rows))
    monkeypatch.setattr(figure11, "_measure", None)  # calling it would fail
    assert figure11.run(tmp_path, data, None, True, silent) == page


def test_verdicts_follow_the_differences_of_the_rows():
    lines = dict.fromkeys(LINES, (0.5, 0.6))
    lines |= {("dense, global", "in"): (0.55, 0.66), ("sparse, global", "in"): (0.4, 0.5)}
    lines |= {("sparse, per cluster", "in"): (0.44, 0.66), ("dense, per cluster", "in"): (0.58, 0.65)}
    rows = accuracy_rows(lines)
    rows += [
        dict(zip(KEY, (name, "parts", setting, 0), strict=True))
        | {"in": {"spacing": 2, "radius": 2 if name == "mnist" else 1}, "out": {"spacing": 1, "radius": 1.5}}
        for name in DATASETS
        for setting in SETTINGS
    ]
    values = Values(rows)
    judged = [(row[0], row[-1]) for row in verdicts(values, (20, 50))]
    assert judged == [
        ("dense, global", "reproduced"),
        ("sparse, global", "refuted"),
        ("dense, per cluster", "reproduced"),
        ("sparse, per cluster", "not reproduced"),
        ("dense, global", "not reproduced"),  # sparser on both, farther out on one
        ("dense, per cluster", "not reproduced"),
    ]
    summary = summarise(values, (20, 50))
    assert "throughout with the sign: the dense one." in summary
    assert "- In is the dense part, both datasets and thresholds: in above out: yes on 4 of 4" in summary


def test_a_dataset_without_a_test_set_is_named(tmp_path):
    np.savez(tmp_path / "mnist.npz", X_train=X, y_train=y)
    with pytest.raises(ValueError, match="has no test set: X_test and y_test are needed"):
        figure11.load("mnist", tmp_path, figure11.size_of(True))
