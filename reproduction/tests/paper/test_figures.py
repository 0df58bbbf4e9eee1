import json

import numpy as np
import pytest

from mheal_reproduction.experiments import load
from mheal_reproduction.paper.pruning.figure6 import measure
from mheal_reproduction.paper.pruning.figure7 import _pooled
from mheal_reproduction.paper.pruning.figure8 import _labels
from mheal_reproduction.paper.pruning.streams import DATASETS, collect, rows_of, stream
from mheal_reproduction.report import Values
from mheal_reproduction.theory import MODES


def silent(done, total, what):
    pass


@pytest.fixture(scope="module", params=("figure6", "figure7", "figure8"))
def finished(request, data, tmp_path_factory):
    out = tmp_path_factory.mktemp(request.param)
    page = load(request.param).run(out, data, 3, True, silent)
    return request.param, out, page


def read(out):
    return [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]


def test_every_figure_writes_rows_page_and_picture(finished):
    name, out, page = finished
    assert sorted(p.name for p in out.iterdir()) == sorted(["README.md", "rows.jsonl", "protocol.json", f"{name}.png"])
    assert (out / "README.md").read_text() == page
    assert "nan" not in page
    assert all(
        word in page for word in ("Quick run", "reproduced" if name != "figure6" else "faster", *DATASETS, *MODES)
    )
    rows = read(out)
    assert {(row["dataset"], row["seed"]) for row in rows} == {(d, s) for d in DATASETS for s in range(3)}
    assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_second_run_measures_nothing_and_writes_the_same(finished, monkeypatch, data):
    name, out, page = finished
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    monkeypatch.setattr("mheal_reproduction.paper.pruning.streams.stream", None)  # calling it would fail
    assert load(name).run(out, data, 3, True, silent) == page
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before


def test_the_full_size_does_not_go_on_from_quick_rows(finished, data):
    name, out, _ = finished
    with pytest.raises(ValueError, match="has another protocol"):
        load(name).run(out, data, 3, False, silent)


def test_rows_of_more_seeds_are_kept_and_not_reported(data, tmp_path):
    def values(folder, seeds):
        collect(folder, data, range(seeds), True, silent, measure)
        return Values(rows_of(folder, seeds)[0])

    two = values(tmp_path / "a", 2)
    rows = (tmp_path / "a" / "rows.jsonl").read_bytes()
    one = values(tmp_path / "a", 1)
    assert (tmp_path / "a" / "rows.jsonl").read_bytes() == rows
    key = ("nomao", "excess", "IWAL", "alive", 10)
    assert one(*key).tolist() == two(*key).tolist()[:1]
    assert rows_of(tmp_path / "a", None)[1] == 2
    values(tmp_path / "b", 2)
    assert (tmp_path / "b" / "rows.jsonl").read_bytes() == rows  # the same seeds, the same rows


def test_figure6_values_make_sense(data):
    found = {row[:4]: row[4] for row in measure(stream("nomao", data, 0, True))}
    for mode, learners in MODES.items():
        for learner in learners:
            alive = [v for key, v in found.items() if key[:3] == (mode, learner, "alive")]
            assert alive == sorted(alive, reverse=True)
            assert 0 < alive[-1] <= alive[0] <= 1
    assert found["literal", "MHEAL", "emptied", 0] < found["literal", "IWAL", "emptied", 0]
    assert found["excess", "MHEAL", "rounds", 0.1] < found["excess", "IWAL", "rounds", 0.1]
    assert 0 < found["disagreement", "IWAL", "theta", 0] < 10


def test_stream_is_split_scaled_and_clustered(data):
    s = stream("jm1", data, 1, True)
    assert len(s.X) + len(s.X_test) == 487  # 569 rows, every seventh with a gap
    np.testing.assert_allclose(s.X.std(axis=0), 1 / np.sqrt(30), rtol=1e-3)
    np.testing.assert_allclose(s.X.mean(axis=0), 0, atol=1e-5)
    assert set(s.y) == set(s.y_test) == {-1, 1}
    assert set(s.regions) == {0, 1, 2}
    assert s.mass.sum() == pytest.approx(1)
    whole = s.hyperplanes.errors(s.X_test, s.y_test)
    one = np.array([[5, 17]])
    np.testing.assert_allclose(s.score(s.errors, one), whole[[5, 17]])
    assert stream("shuttle", data, 0, True).y.mean() < 0  # class 0 of wine is a third of the rows
    assert (stream("jm1", data, 2, True).X != s.X).any()


def test_constant_columns_become_zero(data, tmp_path):
    with np.load(data / "nomao.npz") as stored:
        X, y = stored["X_train"].copy(), stored["y_train"]
    X[:, 4] = 7
    np.savez(tmp_path / "nomao.npz", X_train=X, y_train=y)
    assert (stream("nomao", tmp_path, 0, True).X[:, 4] == 0).all()


def test_pooled_hypothesis_is_the_best_of_all_that_live(data):
    s = stream("nomao", data, 0, True)
    pruning = s.prune("control", "MHEAL", sampled=False)
    found = list(_pooled(s, pruning))
    for t, row in zip(s.rounds, found, strict=True):
        losses = np.where(pruning.alive(t), s.hyperplanes.losses(s.X[:t], s.y[:t]), np.inf)
        assert losses[row] == pytest.approx(losses.min(), rel=1e-5)


def test_labels_to_reach_and_to_keep():
    labels = np.array([0, 1, 1, 2, 3, 4])
    assert _labels(labels, np.array([0.0, 0.5, 0.1, 0.3, 0.1, 0.1]), 0.2) == (1, 3)  # before any label nothing counts
    assert _labels(labels, np.array([0.5, 0.1, 0.1, 0.1, 0.1, 0.3]), 0.2) == (1, None)
    assert _labels(labels, np.full(6, 0.5), 0.2) == (None, None)


def test_unknown_experiment_is_named():
    with pytest.raises(ValueError, match="no experiment 'figure66': choose from theorem1"):
        load("figure66")
