import numpy as np

from mheal_reproduction.paper.images.methods import methods
from mheal_reproduction.paper.images.pools import KINDS, image_pool, share_of_copies, share_of_wrong
from mheal_reproduction.paper.images.published import BUDGETS, accuracies
from mheal_reproduction.paper.images.size import FULL
from mheal_reproduction.paper.images.titles import COUNTERPARTS, titles


def test_the_printed_tables_are_whole():
    for kind in ("clean", "repeated", "noisy"):
        for dataset, budgets in BUDGETS.items():
            printed = accuracies(kind, dataset)
            assert len(printed) == 11
            assert all(tuple(cells) == budgets for cells in printed.values())
    assert accuracies("clean", "mnist")["MHEAL"][100] == 0.8648
    assert accuracies("repeated", "cifar10")["Max Entropy"][5000] == 0.7201
    assert accuracies("noisy", "cifar100")["VAAL"][20_000] == 0.4523


def test_every_printed_method_is_there_and_titles_are_those_of_the_methods():
    for name in BUDGETS:
        found = methods(name)
        assert set(found) == set(titles(name)) <= set(COUNTERPARTS)
        assert set(titles(name).values()) - {None} == set(accuracies("clean", name))
        assert found["Random"].first == (20 if name == "mnist" else BUDGETS[name][0])
    assert sum(title.endswith(", SimCLR") for title in found) == 6
    assert all(set(BUDGETS[name]) <= set(FULL.columns[name]) for name in BUDGETS)


def test_recipes_depend_on_the_dataset_and_the_number_of_labels_only():
    assert FULL.recipe("mnist", 100) == FULL.recipe("mnist", 500)
    assert FULL.recipe("cifar10", 1000).steps < FULL.recipe("cifar10", 10_000).steps
    assert FULL.recipe("cifar10", 5000) == FULL.recipe("cifar100", 5000)


def test_pools_of_each_kind():
    n = 50_000  # as CIFAR has
    y = np.random.default_rng(0).integers(0, 10, n)
    clean, repeated, noisy = (image_pool(y, kind, 3) for kind in KINDS)
    assert clean.images.tolist() == list(range(n))
    for pool in (repeated, noisy):
        assert len(pool.images) == n + 10_000
        assert np.bincount(np.bincount(pool.images)).tolist() == [0, n - 10_000, 10_000]
    assert (repeated.labels == y[repeated.images]).all()
    wrong = noisy.labels != y[noisy.images]
    assert len(set(noisy.images[wrong].tolist())) == wrong.sum() == 10_000
    assert (np.bincount(noisy.images)[noisy.images[wrong]] == 2).all()
    assert np.bincount(noisy.labels[wrong], minlength=10).min() > 800  # any other class
    assert image_pool(y, "noisy", 4).images.tolist() != noisy.images.tolist()


def test_a_copy_stands_before_its_original_as_often_as_behind_it():
    """Else a strategy that takes the first of two equal rows never gets a wrong label."""
    y = np.zeros(50_000, np.int64)
    y[0] = 9
    noisy = image_pool(y, "noisy", 0)
    place = np.arange(len(noisy.images))
    wrong = noisy.labels != y[noisy.images]
    original = np.empty(len(y), np.int64)
    original[noisy.images[~wrong]] = place[~wrong]
    assert 0.48 < (place[wrong] < original[noisy.images[wrong]]).mean() < 0.52


def test_shares_of_copies_and_of_wrong_labels():
    y = np.arange(600) % 10
    pool = image_pool(y, "noisy", 0)
    wrong = pool.labels != y[pool.images]
    copy = int(np.flatnonzero(wrong)[0])
    original = int(np.flatnonzero((pool.images == pool.images[copy]) & ~wrong)[0])
    others = np.flatnonzero(np.bincount(pool.images)[pool.images] == 1)[:2]
    picks = np.array([copy, original, *others])
    assert share_of_copies(pool, picks) == 0.25
    assert share_of_wrong(pool, y, picks) == 0.25
