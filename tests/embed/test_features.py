"""Edge features describe the direction of edges and do not depend on brightness."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from mheal.embed.features import CLIP, DIRECTIONS, edges

DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = (DIGITS / 16).astype(np.float32).reshape(-1, 8, 8)


def stripes(angle, size=32):
    """A pattern that changes along a direction, given in degrees."""
    y, x = np.mgrid[:size, :size].astype(np.float32)
    along = np.cos(np.deg2rad(angle)) * x + np.sin(np.deg2rad(angle)) * y
    return 0.5 + 0.5 * np.sin(along, dtype=np.float32)


@pytest.mark.parametrize("angle", [0, 40, 80, 120, 160])
def test_stripes_are_seen_in_their_direction(angle):
    found = edges(stripes(angle)[None]).reshape(8, 8, DIRECTIONS)
    assert abs(found.sum(axis=(0, 1)).argmax() - angle / 20) <= 1e-9 + 1 * (angle % 20 != 0)
    across = (round(angle / 20) + 4) % DIRECTIONS
    assert found.sum(axis=(0, 1))[across] < 0.35 * found.sum(axis=(0, 1)).max()


def test_light_and_contrast_hardly_matter_and_colours_count_by_the_steepest():
    image = stripes(40)
    plain = edges(image[None])
    np.testing.assert_allclose(edges(0.5 * image[None] + 0.3), plain, atol=0.02)
    colour = np.stack([np.full_like(image, 0.4), image, 0.1 * image], axis=2)
    np.testing.assert_allclose(edges(colour[None]), plain, atol=1e-6)


def test_an_even_image_has_no_edges_and_none_counts_for_more_than_its_share():
    assert not edges(np.full((2, 16, 16), 0.7, np.float32)).any()
    found = edges(DIGITS[:200])
    assert found.shape == (200, 4 * 4 * DIRECTIONS)
    assert found.dtype == np.float32
    assert 0 <= found.min() <= found.max() <= np.float32(CLIP)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 40), (64, 48, 3), (33, 31, 3)])
def test_any_size_will_do(shape):
    images = np.random.default_rng(0).random((70, *shape), np.float32)
    found = edges(images)
    assert len(found) == 70
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(edges(images[64:]), found[64:])  # images do not depend on each other


def test_the_margins_count():
    one, other = np.zeros((2, 63, 63), np.float32)
    other[:, -6:] = np.random.default_rng(0).random((63, 6), np.float32)
    assert np.abs(edges(one[None]) - edges(other[None])).max() > 0.1


def test_they_say_what_is_shown():
    found = edges(DIGITS)
    known = KNeighborsClassifier(1).fit(found[:900], LABELS[:900])
    assert known.score(found[900:], LABELS[900:]) > 0.9
