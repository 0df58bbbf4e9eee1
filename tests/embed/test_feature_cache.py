"""Features that are kept by the content of their items."""

import sqlite3

import numpy as np
import pytest

from mheal.embed import embed
from mheal.embed.feature_cache import FeatureCache


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("MHEAL_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


FEATURES = {bytes([at]) * 32: np.full(4, at, np.float32) for at in range(200)}


def kept(network="a"):
    with FeatureCache(network) as cache:
        return cache.get(FEATURES)


def test_what_was_put_comes_back():
    with FeatureCache("a") as cache:
        cache.put(FEATURES)
    found = kept()
    assert found.keys() == FEATURES.keys()
    for item, vector in found.items():
        np.testing.assert_array_equal(vector, FEATURES[item])


def test_networks_do_not_mix():
    with FeatureCache("a") as cache:
        cache.put(FEATURES)
    assert kept("b") == {}


def test_more_items_than_one_statement_takes():
    many = {at.to_bytes(32, "big"): np.float32([at, -at]) for at in range(2500)}
    with FeatureCache("a") as cache:
        cache.put(many)
        found = cache.get(many)
    assert {item: vector.tolist() for item, vector in found.items()} == {i: v.tolist() for i, v in many.items()}


def test_a_damaged_file_is_as_good_as_none(place):
    place.mkdir()
    (place / "features.sqlite").write_bytes(b"no database" * 100)
    with FeatureCache("a") as cache:
        cache.put(FEATURES)
        assert cache.get(FEATURES) == {}


def test_a_folder_that_cannot_be_made_is_as_good_as_none(place):
    place.write_text("a file")
    assert kept() == {}


def test_half_a_batch_is_not_kept(place):
    with FeatureCache("a") as cache:
        cache.put(FEATURES)
    lines = sqlite3.connect(place / "features.sqlite").execute("SELECT count(*) FROM features").fetchone()
    assert lines == (len(FEATURES),)


@pytest.mark.parametrize(("method", "kind"), [("efficientnet", "texts"), ("minilm", "images")])
def test_networks_are_for_their_own_kind(method, kind):
    with pytest.raises(ValueError, match="there is no method"):
        embed(["an item"], kind, method)
