from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from mheal_reproduction.networks import recipes
from mheal_reproduction.networks.classifier import accuracies
from mheal_reproduction.networks.images import TrainingImages
from mheal_reproduction.networks.recipes import Recipe
from mheal_reproduction.networks.training import Trainer, shuffled_epochs, train_many

digits = load_digits()
X, y = (digits.images * 15.9).astype(np.uint8), digits.target
CNN = Recipe("cnn", 60, batch=16, rate=3e-3, optimiser="adamw", weight_decay=0.01)
RESNET = Recipe("resnet20", 40, batch=32, rate=0.1, optimiser="sgd", weight_decay=5e-4, warm_up=5)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def labelled(*rows):
    return [(np.asarray(r), y[np.asarray(r)]) for r in rows]


def weights(classifier):
    return torch.cat([value.flatten().float() for value in classifier.network.state_dict().values()])


def train(sets, seeds, recipe=CNN, **options):
    return train_many(X, sets, seeds, recipe, classes=10, device="cpu", **options)


@pytest.fixture(scope="module")
def classifier():
    return train(labelled(range(200)), [0], replace(CNN, steps=250, batch=64))[0]


@pytest.mark.parametrize("recipe", [replace(CNN, steps=150), RESNET], ids=["cnn", "resnet20"])
def test_every_network_overfits_32_images(recipe):
    model = train(labelled(range(32)), [0], recipe)[0]
    assert model.accuracy(X[:32], y[:32]) == 1


def test_what_is_learnt_holds_for_other_images(classifier):
    linear = LogisticRegression(max_iter=500).fit(X[:200].reshape(200, -1) / 255, y[:200])
    assert classifier.accuracy(X[200:], y[200:]) > linear.score(X[200:].reshape(-1, 64) / 255, y[200:])


def test_seeds_reproduce_and_differ():
    quick = replace(CNN, steps=5, shift=4, mirror=True)
    same, other = train(labelled(range(50), range(50)), [7, 8], quick)
    again = train(labelled(range(50)), [7], quick)[0]
    assert torch.equal(weights(same), weights(again))
    assert not torch.equal(weights(same), weights(other))


def test_half_precision_on_a_cpu_is_chosen_and_close():
    quick, sets = replace(CNN, steps=3), labelled(range(50))
    (whole,), (half,) = train(sets, [7], quick), train(sets, [7], quick, half=True)
    assert torch.equal(weights(whole), weights(train(sets, [7], quick, half=False)[0]))
    assert not torch.equal(weights(whole), weights(half))
    assert weights(half).dtype == torch.float32
    torch.testing.assert_close(weights(whole), weights(half), rtol=0, atol=0.03)


@pytest.mark.parametrize(
    "recipe", [replace(CNN, steps=6, shift=4, mirror=True), replace(RESNET, steps=3)], ids=["cnn", "resnet20"]
)
def test_models_beside_it_do_not_change_a_model(recipe):
    sets = labelled(range(30), range(5), range(100, 103))
    together = train(sets, [1, 2, 3], recipe, at_once=3)
    for at_once in (1, 2):
        for one, other in zip(together, train(sets, [1, 2, 3], recipe, at_once=at_once), strict=True):
            assert torch.equal(weights(one), weights(other))


def test_sets_may_have_any_size_and_only_they_are_learnt_from():
    sets = labelled([4], range(10, 200), range(200, 207))
    models = train(sets, [0, 0, 0], replace(CNN, steps=20))
    assert len(models) == 3
    assert (models[0].predict_proba(X[:100]).argmax(1) == y[4]).all()
    blank = X.copy()
    blank[207:] = 0
    mean = TrainingImages.load(X, "cpu")
    changed = TrainingImages(TrainingImages.load(blank, "cpu").pixels, mean.mean, mean.deviation)
    with Trainer(changed, replace(CNN, steps=20), classes=10, places=3) as trainer:
        for one, other in zip(models, trainer.train(sets, [0, 0, 0]), strict=True):
            assert torch.equal(weights(one), weights(other))


def test_a_place_used_twice_gives_what_a_new_one_gives():
    sets = labelled(range(20), range(40, 90))
    for recipe in (replace(CNN, steps=4), replace(RESNET, steps=2)):
        used = train(sets, [1, 2], recipe, at_once=1)[1]
        assert torch.equal(weights(used), weights(train(sets[1:], [2], recipe)[0]))


def test_epochs_show_every_row_once_before_any_twice():
    order = shuffled_epochs(7, 18, torch.Generator().manual_seed(0)).tolist()
    assert len(order) == 18
    assert sorted(order[:7]) == sorted(order[7:14]) == list(range(7))
    assert order[:7] != order[7:14]


def test_threads_that_ask_one_network_do_not_disturb_each_other(classifier):
    rows = np.arange(300)
    steady, drawn = classifier.predict_proba(rows), classifier.samples(rows, 3, seed=1)
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(classifier.samples, rows, 3, 1) for _ in range(20)]
        for found in list(pool.map(classifier.predict_proba, [rows] * 20)):
            np.testing.assert_array_equal(found, steady)
        for future in futures:
            np.testing.assert_array_equal(future.result(), drawn)


def test_probabilities_are_steady_and_samples_vary(classifier):
    rows = np.arange(300, 340)
    probabilities = classifier.predict_proba(rows)
    np.testing.assert_array_equal(probabilities, classifier.predict_proba(X[rows]))
    np.testing.assert_array_equal(probabilities, classifier.predict_proba(rows))
    samples = classifier.samples(rows, 12, seed=1)
    assert samples.shape == (12, 40, 10)
    assert samples.dtype == np.float32
    np.testing.assert_allclose(samples.sum(axis=2), 1, rtol=1e-5)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert not any(np.array_equal(a, b) for a, b in pairwise(samples))
    np.testing.assert_array_equal(samples, classifier.samples(X[rows], 12, seed=1))
    assert not np.array_equal(samples, classifier.samples(rows, 12, seed=2))
    assert np.abs(samples.mean(axis=0) - probabilities).mean() < 0.1


def test_embeddings_lead_to_the_same_probabilities(classifier):
    embedding = classifier.embed(X[:50])
    assert embedding.shape == (50, 128)
    head = classifier.network.head
    logits = embedding @ head.weight.numpy().T + head.bias.numpy()
    np.testing.assert_array_equal(logits.argmax(1), classifier.predict_proba(np.arange(50)).argmax(1))


def test_accuracies_of_many_are_those_of_each():
    models = train(labelled(range(60), range(60, 90)), [0, 1], replace(CNN, steps=30))
    expected = [(model.predict_proba(X[500:]).argmax(1) == y[500:]).mean() for model in models]
    np.testing.assert_allclose(accuracies(models, X[500:], y[500:]), expected)
    assert models[0].accuracy(X[500:], y[500:]) == expected[0]


def test_images_are_normalised_per_channel():
    colour = np.stack([X, 255 - X // 2, np.full_like(X, 9)], axis=1)
    images = TrainingImages.load(colour, "cpu")
    x = images.batch(torch.arange(len(images)))
    assert x.shape == (len(X), 3, 8, 8)
    torch.testing.assert_close(x.mean(dim=(0, 2, 3)), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(x.std(dim=(0, 2, 3), correction=0), torch.tensor([1.0, 1.0, 0.0]), atol=1e-4, rtol=0)


def test_augmentation_only_shifts_and_mirrors():
    rng = np.random.default_rng(0)
    images = TrainingImages(
        torch.as_tensor(rng.integers(1, 256, (3, 10, 7, 2), dtype=np.uint8)), torch.zeros(2), torch.ones(2)
    )
    rows = torch.arange(3).repeat(100)
    out = images.augmented(rows, torch.Generator().manual_seed(0), 4, True).permute(0, 2, 3, 1).numpy()
    assert out.shape == (300, 10, 7, 2)
    seen = set()
    for row, image in zip(rows.tolist(), out, strict=True):
        padded = np.pad(images.pixels[row].numpy(), ((4, 4), (4, 4), (0, 0)))
        views = {
            (top, left, mirrored): padded[top : top + 10, left : left + 7][:, :: -1 if mirrored else 1]
            for top in range(9)
            for left in range(9)
            for mirrored in (False, True)
        }
        matches = [key for key, view in views.items() if np.array_equal(view, image)]
        assert len(matches) == 1
        seen |= set(matches)
    assert {top for top, _, _ in seen} == {left for _, left, _ in seen} == set(range(9))
    assert {mirrored for *_, mirrored in seen} == {False, True}


def test_the_rate_rises_and_falls():
    recipe = Recipe("cnn", 100, batch=8, rate=0.1, optimiser="sgd", weight_decay=0, warm_up=10)
    rates = [recipe.rate_at(step) for step in range(100)]
    assert rates[9] == rates[10] == max(rates) == 0.1
    assert np.all(np.diff(rates[:10]) > 0)
    assert np.all(np.diff(rates[10:]) < 0)
    assert rates[55] == pytest.approx(0.05)
    assert replace(recipe, cosine=False).rate_at(99) == 0.1


def test_more_labels_are_never_trained_for_fewer_steps():
    steps = [recipes.cifar(labels).steps for labels in (20, 100, 500, 2000, 10_000, 20_000)]
    assert steps == sorted(steps)


def test_bad_input_is_refused():
    good = labelled(range(5))
    for sets, seeds, message in [
        (good, [0, 1], "1 sets but 2 seeds"),
        ([(np.arange(5), y[:4])], [0], "as many labels as rows"),
        ([(np.arange(0), y[:0])], [0], "at least one"),
        ([(np.array([len(X)]), y[:1])], [0], "rows must be integers from 0 to 1796"),
        ([(np.array([0]), np.array([10]))], [0], "labels must be integers from 0 to 9"),
    ]:
        with pytest.raises(ValueError, match=message):
            train(sets, seeds)
    with pytest.raises(ValueError, match="at_once"):
        train(good, [0], at_once=0)
    with pytest.raises(ValueError, match="uint8"):
        train_many(X.astype(float), good, [0], CNN, classes=10)
    assert train([], []) == []


def test_progress_ends_at_the_end_and_the_callers_randomness_is_left_alone():
    seen = []
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    sets = labelled(range(5), range(5), range(5))
    train(
        sets, [0, 1, 2], replace(CNN, steps=3), at_once=2, progress=lambda done, total, what: seen.append((done, total))
    )
    assert seen == [(2, 3), (3, 3)]
    assert torch.equal(before, torch.random.get_rng_state())


def on_gpu(recipe, sets, seeds, places, graph=True, half=False):
    with Trainer(X, recipe, classes=10, device="cuda", places=places, half=half) as trainer:
        if not graph:
            trainer.graph = None
        return [weights(model).cpu() for model in trainer.train(sets, seeds)]


RECIPES = [replace(CNN, steps=8, shift=4, mirror=True), replace(RESNET, steps=8, shift=4, mirror=True)]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("recipe", RECIPES, ids=["cnn", "resnet20"])
def test_a_graph_computes_what_single_kernels_compute(recipe):
    sets, seeds = labelled(range(30), range(5), range(100, 150)), [1, 2, 3]
    for graph, eager in zip(on_gpu(recipe, sets, seeds, 2), on_gpu(recipe, sets, seeds, 2, graph=False), strict=True):
        torch.testing.assert_close(graph, eager, rtol=1e-3, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("recipe", RECIPES, ids=["cnn", "resnet20"])
def test_eight_models_on_one_gpu_do_not_disturb_each_other(recipe, half):
    sets = labelled(*(range(10 * i, 10 * i + 7 + 5 * i) for i in range(8)))
    together = on_gpu(recipe, sets, range(8), 8, half=half)
    alone = on_gpu(recipe, sets, range(8), 1, half=half)
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_memory_is_given_back():
    on_gpu(RECIPES[0], labelled(range(30)), [0], 4)
    before = torch.cuda.memory_reserved()
    for _ in range(3):
        on_gpu(RECIPES[0], labelled(range(30)), [0], 4)
    assert torch.cuda.memory_reserved() <= before
