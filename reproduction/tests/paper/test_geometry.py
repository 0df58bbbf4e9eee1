import numpy as np
import pytest

from mheal_reproduction.paper.geometry.experiment import measure
from mheal_reproduction.paper.geometry.scenes import (
    THOMSON,
    least_energy,
    pipeline,
    rotation,
    tube,
    version_space,
)


@pytest.mark.parametrize("n", THOMSON)
def test_descent_finds_the_energies_known_for_the_thomson_problem(n):
    W, energy = least_energy(n, tries=3)
    assert W.shape == (n, 3)
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1)
    np.testing.assert_allclose(energy, THOMSON[n], rtol=1e-7)


def test_the_minima_have_their_known_shapes():
    chords = [_chords(least_energy(n, tries=2)[0]) for n in (2, 4, 6)]
    np.testing.assert_allclose(chords[0], [2])  # opposite points
    np.testing.assert_allclose(chords[1], np.sqrt(8 / 3), rtol=1e-4)  # a tetrahedron
    np.testing.assert_allclose(chords[2], [2**0.5] * 12 + [2] * 3, rtol=1e-4)  # an octahedron


def _chords(W):
    return np.sort(np.linalg.norm(W[:, None] - W, axis=2)[np.triu_indices(len(W), 1)])


def test_a_line_is_alive_if_it_is_right_about_every_labelled_point():
    scene = version_space(near=True, labels=4, hypotheses=500)
    assert len(scene.labeled) == 8
    for line, alive in zip(scene.lines, scene.alive, strict=True):
        right = np.sign(scene.X[scene.labeled] @ line[:2] + line[2]) == scene.y[scene.labeled]
        assert alive == right.all()
    inner = np.abs(scene.X[:, 0])
    for sign in (-1, 1):
        mine = scene.labeled[scene.y[scene.labeled] == sign]
        assert inner[mine].max() <= np.sort(inner[scene.y == sign])[3]


def test_picks_of_the_pipeline_are_shared_equally_among_the_clusters():
    scene = pipeline()
    np.testing.assert_array_equal(np.bincount(scene.clusters[scene.picks]), [5, 5, 5])


def test_the_scene_of_the_tube_has_picks_at_the_rim():
    scene = tube()
    assert scene.inside.mean() == pytest.approx(0.3, abs=0.01)
    assert scene.inside[scene.picks].mean() > 0.5
    assert scene.angle[scene.inside].min() > scene.angle[~scene.inside].max()


def test_the_printed_rotation_repeats_itself_and_ours_does_not():
    scene = rotation(rows=100, m=10)
    assert len(set(scene.printed)) < 5
    assert len(set(scene.ours)) == 10
    assert scene.printed[0] == scene.ours[0] == 0


def test_rows_have_the_energy_and_what_each_scene_shows():
    np.testing.assert_allclose(measure("sphere", "descent", "N = 3", 0)["energy"], THOMSON[3])
    lines = measure("scene", "figure", "version space", 1)
    assert 0 < lines["near"] < lines["random"] < 0.2
    assert measure("scene", "figure", "rotation", 1)["ours"] == 10
