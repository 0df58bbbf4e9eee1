"""FiftyOne: picks of a real dataset, with its own database."""

import numpy as np
import pytest

import mheal

fo = pytest.importorskip("fiftyone")

from mheal.adapters.fiftyone import mark, select

X = np.random.default_rng(0).normal(size=(90, 6)).astype(np.float32)


@pytest.fixture
def dataset():
    made = fo.Dataset()  # in the database until it is deleted
    made.add_samples([fo.Sample(filepath=f"{i}.png", vector=X[i]) for i in range(90)])
    yield made
    made.delete()


def test_a_field_of_vectors(dataset):
    assert select(dataset, 12, "vector") == mheal.select(X, 12)
    assert select(dataset, 12, X, strategy="kmedoids") == mheal.select(X, 12, strategy="kmedoids")
    assert select(dataset[20:80], 9, "vector") == mheal.select(X[20:80], 9)


def test_labels_so_far(dataset):
    known = ["ab"[i % 2] if i < 70 else None for i in range(90)]
    dataset.set_values("truth", [None if name is None else fo.Classification(label=name) for name in known])
    assert select(dataset, 8, "vector", label="truth.label") == mheal.select(X, 8, y=known)


def test_a_tag_and_fields_come_back(dataset):
    picks = select(dataset, 12, "vector")
    view = mark(dataset, picks)
    assert view.values("filepath") == [dataset.values("filepath")[r] for r in picks]
    assert view.values("mheal_rank") == list(range(1, 13))
    assert view.values("mheal_reason") == list(picks.reason)
    assert view.values("mheal_gain") == picks.gain.tolist()
    assert dataset.count_sample_tags() == {"mheal": 12}
    assert len(dataset.exists("mheal_rank")) == 12


def test_marks_of_earlier_picks_are_replaced(dataset):
    mark(dataset, mheal.select(X, 12))
    later = mheal.select(X, 5, strategy="kmedoids")
    mark(dataset, later)
    assert dataset.match_tags("mheal").values("filepath") == [dataset.values("filepath")[r] for r in sorted(later)]
    assert len(dataset.exists("mheal_rank")) == 5
    mark(dataset, mheal.select(X, 7), tag="other")
    assert dataset.count_sample_tags() == {"mheal": 5, "other": 7}


def test_mistakes(dataset):
    dataset.add_sample(fo.Sample(filepath="last.png"))
    with pytest.raises(mheal.exceptions.UserError, match="sample 90 has no vector"):
        select(dataset, 5, "vector")
    with pytest.raises(mheal.exceptions.UserError, match="90 rows for 91 samples"):
        select(dataset, 5, X)
