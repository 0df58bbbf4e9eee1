"""Hugging Face datasets: rows picked by a column of vectors, and columns that come back."""

import numpy as np
import pytest

import mheal

datasets = pytest.importorskip("datasets")

from mheal.adapters.hugging_face import marked, picked, select

X = np.random.default_rng(0).normal(size=(150, 6)).astype(np.float32)


@pytest.fixture
def dataset():
    return datasets.Dataset.from_dict({"text": [f"text {i}" for i in range(150)], "vector": X, "size": X[:, 0]})


def test_a_column_of_vectors(dataset):
    picks = select(dataset, 12, "vector")
    assert picks == mheal.select(X, 12)
    assert select(dataset, 12, X, strategy="typiclust") == mheal.select(X, 12, strategy="typiclust")


def test_columns_of_numbers(dataset):
    assert select(dataset, 12, ["size", "vector"]) == mheal.select(np.column_stack([X[:, 0], X]), 12)


def test_labels_so_far(dataset):
    known = [i % 2 if i < 70 else -1 for i in range(150)]
    labelled = dataset.add_column("label", known).cast_column("label", datasets.ClassLabel(names=["a", "b"]))
    picks = select(labelled, 12, "vector", label="label")
    assert picks == mheal.select(X, 12, labeled=range(70), y=known[:70])
    words = dataset.add_column("label", [None if i == -1 else "ab"[i] for i in known])
    assert select(words, 12, "vector", label="label") == picks
    none = dataset.add_column("label", [-1] * 150)
    assert select(none, 12, "vector", label="label") == mheal.select(X, 12)


def test_columns_come_back(dataset):
    picks = select(dataset, 12, "vector")
    few = picked(dataset, picks)
    assert few["pick_row"][:] == list(picks)
    assert few["text"][:] == [f"text {i}" for i in picks]
    assert few["pick_rank"][:] == list(range(1, 13))
    assert few["pick_reason"][:] == list(picks.reason)
    whole = marked(dataset, picks)
    assert {row: rank for row, rank in enumerate(whole["pick_rank"][:]) if rank} == {
        r: i + 1 for i, r in enumerate(picks)
    }


def test_a_column_that_is_not_there(dataset):
    with pytest.raises(mheal.exceptions.UserError, match="no column 'vectors'"):
        select(dataset, 5, "vectors")
    with pytest.raises(mheal.exceptions.UserError, match="no column 'class'"):
        select(dataset, 5, "vector", label="class")
