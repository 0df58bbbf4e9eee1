"""Checkpoints: finished stages survive an interruption; folders of other runs are refused."""

import json

import numpy as np
import pytest

import mheal
from mheal import MHEAL
from mheal.algorithms.density import density_weights, local_spacing
from mheal.algorithms.facility_location import representatives
from mheal.algorithms.farthest_first import spread
from mheal.algorithms.within_clusters import spread_balanced, spread_within_clusters
from mheal.backends.cpu.points import Points
from mheal.backends.cpu.staging import Sizes
from mheal.cluster import SphericalKMeans
from mheal.cluster.sampled import sampled_clusters
from mheal.runtime.checkpoint import Checkpoint, NullCheckpoint, OtherRun, mark
from mheal.runtime.memory import MemoryLimit

X = np.random.default_rng(0).standard_normal((6000, 12)).astype(np.float32)
SMALL = Sizes(pass_rows=512, front_rows=64, task_rows=256, span_bytes=1 << 14, together=16)
NONE = np.empty(0, np.int64)


def default(rows, labels, centers, n, labeled, rng, run, weighted=True, lead=256):
    weights = _weights(rows, labels, centers, run) if weighted else None
    first = None
    if lead > len(labeled):
        some = min(lead - len(labeled), n)
        found = run.stage("representatives", lambda: {"rows": representatives(rows, some, labeled, rng)}, rng)
        first = found["rows"]
    return spread(rows, n, labeled, weights, first, run)


def balanced(rows, labels, centers, n, labeled, rng, run, weighted=True):
    weights = _weights(rows, labels, centers, run) if weighted else None
    return spread_balanced(rows, n, labeled, labels, len(centers), weights)


def within(rows, labels, centers, n, labeled, rng, run, weighted=True):
    weights = _weights(rows, labels, centers, run) if weighted else None
    return spread_within_clusters(
        rows, n, labeled, labels, centers, weights, balance_clusters=not weighted, n_starts=4, start_length="balanced",
        direction="tangent", rng=rng, checkpoint=run,
    )  # fmt: skip


def _weights(rows, labels, centers, run):
    return density_weights(run.stage("spacing", lambda: {"r": local_spacing(rows, labels, len(centers))})["r"])


MODES = {
    "default": (default, {}),
    "no representatives": (default, {"lead": 0}),
    "no weights": (default, {"weighted": False, "lead": 0}),
    "balanced": (balanced, {}),
    "balanced, no weights": (balanced, {"weighted": False}),
    "within clusters": (within, {}),
    "as printed": (within, {"weighted": False}),
}
each_mode = pytest.mark.parametrize("mode", MODES)


def pick(mode, A, n, run=None, labeled=NONE):
    """The steps of MHEAL, with sizes so small that a small pool runs the code for large ones."""
    run, rng = run or NullCheckpoint(), np.random.RandomState(0)
    if run.on_disk:
        run.begin({"pool": mark(A), "mode": mode})
    raw = Points.raw(A, run.limit)
    found = run.stage("moments", lambda: dict(zip(("mean", "deviation"), raw.moments(), strict=True)))
    rows = Points.standardized(A, (found["mean"], found["deviation"]), run.limit, SMALL)
    kmeans = SphericalKMeans(6, max_iter=10, random_state=0)
    labels, centers = sampled_clusters(rows, kmeans, None if mode == "as printed" else 2000, rng, run)
    rows.forget_norms()
    way, options = MODES[mode]
    picks = way(rows, labels, centers, n, labeled, rng, run, **options)
    return picks.rows.tolist(), picks.gain.tolist(), picks.radius.tolist()


def assert_same(found, expected):
    """The same rows. The last bits of gains and radii depend on the size of the blocks that are multiplied."""
    assert found[0] == expected[0]
    np.testing.assert_allclose(found[1:], expected[1:], rtol=1e-5)


class Stopped(BaseException):
    """Raised in place of killing the process."""


class Stops(Checkpoint):
    """A checkpoint whose run is stopped after a number of saves."""

    def __init__(self, folder, left):
        super().__init__(folder, every=0.0)
        self.left, self.saved = left, []

    def _save(self, name, arrays):
        super()._save(name, arrays)
        self.saved.append(name)
        if len(self.saved) == self.left:
            self.close()
            raise Stopped


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "pool.npy", X)
    return np.load(tmp_path / "pool.npy", mmap_mode="r")


@each_mode
@pytest.mark.parametrize("labeled", [NONE, np.arange(0, 600, 20)], ids=["", "warm"])
def test_picks_from_a_file_with_hardly_any_memory_are_those_in_memory(mode, labeled, mapped, tmp_path):
    expected = pick(mode, X, 150, labeled=labeled)
    with MemoryLimit(1) as limit:
        limit.add(mapped)
        run = Checkpoint(tmp_path / "work", limit)
        assert_same(pick(mode, mapped, 150, run, labeled), expected)
        run.end()
    assert not (tmp_path / "work").exists()


@each_mode
def test_a_run_stopped_after_any_stage_resumes_from_there(mode, mapped, tmp_path, monkeypatch):
    monkeypatch.setenv("MHEAL_NUM_THREADS", "1")  # other threads would outlive the end of the first
    whole = Stops(tmp_path / "work", 0)
    expected = pick(mode, mapped, 150, whole)
    whole.end()
    assert_same(expected, pick(mode, X, 150))
    assert len(whole.saved) >= 2
    for stop in {*range(1, min(12, len(whole.saved))), len(whole.saved)}:
        first = Stops(tmp_path / "work", stop)
        with pytest.raises(Stopped):
            pick(mode, mapped, 150, first)
        then = Stops(tmp_path / "work", 0)
        assert pick(mode, mapped, 150, then) == expected
        again = set(first.saved) & set(then.saved)
        assert again <= {"picks"}  # nothing is made twice; picks are saved as far as they have come
        assert len(first.saved) + len(then.saved) == len(whole.saved)
        then.end()


def test_stopped_again_and_again(mapped, tmp_path):
    expected = pick("default", mapped, 300, Stops(tmp_path / "whole", 0))
    assert_same(expected, pick("default", X, 300))
    for _ in range(100):
        try:
            found = pick("default", mapped, 300, Stops(tmp_path / "work", 1))
            break
        except Stopped:
            pass
    assert found == expected


def test_picks_are_saved_and_resumed_in_the_middle(mapped, tmp_path):
    first = Stops(tmp_path / "work", 0)
    pick("no representatives", mapped, 300, first)
    assert first.saved.count("picks") > 3
    first.close()
    reports = []
    then = Checkpoint(tmp_path / "work", progress=lambda *report: reports.append(report), every=0.0)
    assert_same(pick("no representatives", mapped, 300, then), pick("no representatives", X, 300))
    assert not [report for report in reports if report[2] == "moments"]  # a stage that is stored is not made again


def test_random_numbers_go_on_as_if_nothing_had_happened(tmp_path):
    def draw(space):
        rng = np.random.RandomState(0)
        first = space.stage("first", lambda: {"x": rng.standard_normal(3)}, rng)["x"]
        return first, rng.standard_normal(5)

    space = Checkpoint(tmp_path / "work")
    space.begin({"seed": 0})
    for a, b, c in zip(draw(NullCheckpoint()), draw(space), draw(space), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def interrupted(mapped, folder):
    """A run of mheal.select that was stopped after two stages."""
    with pytest.raises(Stopped):
        mheal.select(mapped, 60, checkpoint=Stops(folder, 2))


@pytest.mark.parametrize(
    ("change", "name"), [({"n": 61}, "budget"), ({"labeled": [3]}, "labeled"), ({"strategy": MHEAL(3)}, "parameters")]
)
def test_another_run_is_refused_and_left_alone(change, name, mapped, tmp_path):
    interrupted(mapped, tmp_path / "work")
    before = sorted(path.name for path in (tmp_path / "work").iterdir())
    with pytest.raises(OtherRun, match=f"unfinished run with another {name}: repeat that command .* or delete"):
        mheal.select(**{"X": mapped, "n": 60, "checkpoint": tmp_path / "work"} | change)
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == before


def test_a_pool_that_has_changed_is_another_run(mapped, tmp_path):
    interrupted(mapped, tmp_path / "work")
    np.save(tmp_path / "pool.npy", X + 1)
    changed = np.load(tmp_path / "pool.npy", mmap_mode="r")
    with pytest.raises(OtherRun, match="another pool"):
        mheal.select(changed, 60, checkpoint=tmp_path / "work")


def test_a_checkpoint_needs_a_seed(tmp_path):
    with pytest.raises(ValueError, match="integer random_state"):
        mheal.select(X, 5, checkpoint=tmp_path / "work", random_state=None)


def test_select_resumes(mapped, tmp_path):
    expected = mheal.select(X, 60)
    interrupted(mapped, tmp_path / "work")
    run = Stops(tmp_path / "work", 0)
    assert mheal.select(mapped, 60, checkpoint=run) == expected
    assert not {"moments", "clusters"} & set(run.saved)
    assert json.loads((tmp_path / "work" / "manifest.json").read_text())["budget"] == 60


def test_arrays_in_memory_are_known_by_their_rows():
    assert mark(X) == mark(X.copy())
    assert mark(X) != mark(X + 1)


def test_progress_is_reported_by_stage_and_by_pick():
    reports = []
    mheal.select(X, 400, progress=lambda *report: reports.append(report))
    assert [what for done, total, what in reports if (done, total) == (1, 1)] == [
        "moments", "clusters", "spacing", "representatives", "radii",
    ]  # fmt: skip
    counts = [done for done, total, what in reports if what == "picks" and total == 400 - 256]
    assert counts[-1] == 400 - 256
    assert counts == sorted(counts)


def test_parts_of_one_file_are_told_apart(mapped):
    assert mark(mapped[:3000]) != mark(mapped[3000:])
