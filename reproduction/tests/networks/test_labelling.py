import json
from itertools import count

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from mheal.strategies import get
from mheal_reproduction.networks.labelling import Acquisition, ImagePool, Run, pick_ahead, run_together

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
TRAIN, TEST = np.arange(1200), np.arange(1200, 1797)
BUDGETS = (20, 40, 80)


class Classifier:
    """A linear classifier with the interface of a network; its draws are noise on the logits."""

    def __init__(self, images, labels, seed):
        self.model = LogisticRegression(max_iter=200, random_state=seed % 2**31).fit(X[images], labels)

    def _full(self, logits):
        p = np.zeros((len(logits), 10), np.float32)
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        p[:, self.model.classes_] = e / e.sum(axis=1, keepdims=True)
        return p

    def predict_proba(self, images):
        return self._full(self.model.decision_function(X[images]))

    def samples(self, images, samples, seed):
        logits = self.model.decision_function(X[images])
        noise = np.random.default_rng(seed).normal(size=(samples, *logits.shape))
        return np.array([self._full(logits + one) for one in noise])

    def embed(self, images):
        return self.model.decision_function(X[images]).astype(np.float32)


def accuracy(network):
    return float((network.predict_proba(TEST).argmax(axis=1) == y[TEST]).mean())


class Trainer:
    """Counts what it trains; stops after so many steps."""

    def __init__(self, steps=None):
        self.calls, self.steps = [], steps

    def __call__(self, sets, seeds):
        if self.steps is not None and len(self.calls) >= self.steps:
            raise KeyboardInterrupt
        self.calls.append([len(images) for images, _ in sets])
        return [Classifier(images, labels, seed) for (images, labels), seed in zip(sets, seeds, strict=True)]


METHODS = {
    "random": Acquisition(get("random")()),
    "kmeans": Acquisition(get("kmeans")()),
    "mheal": Acquisition(get("mheal")()),
    "entropy": Acquisition(get("entropy")(), "network", batch=10, candidates=300),
    "coreset": Acquisition(get("coreset")(), "network", "network", batch=20),
    "margin": Acquisition(get("margin")(), "network"),
}
BALD = Acquisition(get("bald")(draws=5), "network", batch=20, candidates=200)


def make_runs(folder=None, methods=METHODS, seeds=(0, 1)):
    pool = ImagePool(TRAIN, y[TRAIN])
    runs = {}
    for seed in seeds:
        first = np.random.default_rng(seed).choice(len(TRAIN), 20, replace=False)
        for name, method in methods.items():
            log = folder / f"{name}-{seed}.json" if folder else None
            runs[name, seed] = Run(method, pool, X[TRAIN], BUDGETS, first, seed, log)
    return runs


@pytest.fixture(scope="module")
def done():
    runs, trainer, order = make_runs(), Trainer(), []
    run_together(runs, trainer, accuracy, lambda key, _: order.append(key))
    return runs, trainer, order


def test_every_run_is_scored_at_every_budget(done):
    runs, _, order = done
    assert sorted(order) == sorted(runs)
    for run in runs.values():
        assert sorted(run.scores) == list(BUDGETS)
        for budget in BUDGETS:
            rows = run.picks[budget]
            assert len(set(rows.tolist())) == len(rows) == budget
            assert rows[:20].tolist() == run.first.tolist()
        assert run.scores[80] > run.scores[20]


def test_runs_that_wait_together_train_together(done):
    _, trainer, _ = done
    assert trainer.calls[0] == [20] * 2  # all of a seed begin with the same labels: one network for them
    assert trainer.calls[1] == [40, 40, 40, 30, 40, 40] * 2
    assert trainer.calls[-1] == [80] * 2  # in tens from 20 to 80, when the others are done
    assert len(trainer.calls) == 7


def test_threads_and_picks_made_ahead_change_nothing(done):
    runs = make_runs()
    for run in runs.values():
        if run.acquisition.uses == "nothing":
            run.ahead = pick_ahead(run.acquisition, run.X, run.budgets, run.first, run.seed)
            run.X = None  # it is not used again
    run_together(runs, Trainer(), accuracy, lambda *_: None, workers=4)
    for key, run in runs.items():
        assert run.scores == done[0][key].scores
        assert all((run.picks[b] == done[0][key].picks[b]).all() for b in BUDGETS)
    assert {name for (name, _), run in runs.items() if run.acquisition.uses == "nothing"} == {
        "random",
        "kmeans",
        "mheal",
    }


def test_time_is_shared_out_among_those_that_wait():
    runs = make_runs(methods={name: METHODS[name] for name in ("random", "entropy")}, seeds=(0,))
    ticks = count()
    run_together(runs, Trainer(), accuracy, lambda *_: None, clock=lambda: next(ticks))  # each step takes a second
    # Random waits at 20, 40 and 80 labels; entropy at every tenth from 20 to 80, so alone in the last four steps.
    assert {name: run.seconds for (name, _), run in runs.items()} == {"random": 1.5, "entropy": 5.5}


def test_runs_of_one_seed_start_from_the_same_labels_and_network(done):
    runs, _, _ = done
    assert len({run.scores[20] for (_, seed), run in runs.items() if seed == 0}) == 1
    assert runs["random", 0].first.tolist() != runs["random", 1].first.tolist()


def test_ranked_methods_grow_and_one_shot_methods_begin_anew(done):
    runs, _, _ = done
    for name in ("mheal", "entropy", "coreset", "random"):
        assert runs[name, 0].picks[80][:40].tolist() == runs[name, 0].picks[40].tolist()
    assert runs["kmeans", 0].picks[80][:40].tolist() != runs["kmeans", 0].picks[40].tolist()


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_a_stopped_run_ends_as_if_it_had_not_been_stopped(done, tmp_path, steps):
    with pytest.raises(KeyboardInterrupt):
        run_together(make_runs(tmp_path), Trainer(steps), accuracy, lambda *_: None)
    runs, trainer = make_runs(tmp_path), Trainer()
    run_together(runs, trainer, accuracy, lambda *_: None)
    assert len(trainer.calls) <= 8 - steps
    for key, run in runs.items():
        assert run.scores == done[0][key].scores
        assert all((run.picks[b] == done[0][key].picks[b]).all() for b in BUDGETS)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"{name}-{seed}.json" for name, seed in runs)
    assert json.loads((tmp_path / "mheal-0.json").read_text())["scores"]["80"] == runs["mheal", 0].scores[80]


def test_a_method_sees_the_labels_of_its_picks_only():
    class Nosy(get("margin")):
        def _pick(self, pool, budget):
            seen.append((pool.labels.tolist(), pool.labeled.tolist(), len(pool.X)))
            return super()._pick(pool, budget)

    seen = []
    runs = make_runs(methods={"nosy": Acquisition(Nosy(), "network", batch=20, candidates=100)}, seeds=[3])
    run_together(runs, Trainer(), accuracy, lambda *_: None)
    picks = runs["nosy", 3].picks[80]
    for n, (labels, labeled, rows) in zip((20, 40, 60), seen, strict=True):
        assert labels == y[TRAIN][picks[:n]].tolist()
        assert labeled == list(range(n))
        assert rows == n + 100


def test_a_strategy_that_could_do_without_gets_a_fresh_network_in_every_round():
    class Queried(Classifier):
        def samples(self, images, samples, seed):
            queried.append(self.labels)
            return super().samples(images, samples, seed)

    class Remembering(Trainer):
        def __call__(self, sets, seeds):
            super().__call__(sets, seeds)
            networks = [Queried(images, labels, seed) for (images, labels), seed in zip(sets, seeds, strict=True)]
            for network, (_, labels) in zip(networks, sets, strict=True):
                network.labels = len(labels)
            return networks

    queried = []
    runs = make_runs(methods={"bald": BALD}, seeds=[0])
    run_together(runs, Remembering(), accuracy, lambda *_: None)
    assert queried == [20, 40, 60]


def test_copies_share_an_image_and_labels_may_be_wrong():
    pool = ImagePool(np.append(TRAIN, TRAIN[:5]), np.append(y[TRAIN], (y[TRAIN[:5]] + 1) % 10))
    images, labels = pool.training_set(np.array([0, 1200]))
    assert images.tolist() == [0, 0]
    assert labels.tolist() == [0, 1]
