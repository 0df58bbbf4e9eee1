"""VAAL and CDAL + RL: the networks that they train."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

torch = pytest.importorskip("torch")

from mheal.strategies import (  # noqa: E402
    VAAL,
    Pool,
    deep_networks,
)
from mheal.strategies.deep_networks import as_images, likeness  # noqa: E402
from picks import pick  # noqa: E402


def predictions(rows=60, classes=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(classes, 0.5), rows)


def plain_divergence(p, q):
    return 0.5 * np.sum(p * np.log(p / q)) + 0.5 * np.sum(q * np.log(q / p))


def two_kinds(seed=0):
    """100 labelled rows, 100 of their kind and 200 of another."""
    X = np.random.default_rng(seed).standard_normal((400, 10)).astype(np.float32)
    X[200:, 0] += 3
    return X


def test_rows_unlike_the_labelled_ones_are_told_apart_and_picked():
    X = two_kinds()
    alike = likeness(X, np.arange(100), iterations=150)
    assert alike[:100].mean() > 0.5 > alike[200:].mean()
    assert roc_auc_score(np.arange(100, 400) < 200, alike[100:]) > 0.6
    picks = pick(VAAL(iterations=150), Pool(X, np.arange(100), np.zeros(100)), 30)
    assert (picks >= 200).mean() > 0.8  # two in three by chance


def test_copies_of_the_labelled_rows_are_not_told_from_them():
    X = two_kinds()[:100]
    alike = likeness(np.vstack([X, X]), np.arange(100), iterations=200)
    np.testing.assert_allclose(alike[:100], alike[100:], atol=1e-5)
    assert abs(alike.mean() - 0.5) < 0.05
    assert np.abs(alike - 0.5).max() < 0.25


def test_twenty_labels_fill_a_batch():
    X = np.random.default_rng(0).standard_normal((3000, 16)).astype(np.float32)
    assert len(set(pick(VAAL(iterations=20), Pool(X, np.arange(20), np.arange(20) % 2), 10))) == 10


def test_the_seed_decides_and_the_callers_randomness_is_left_alone():
    X = two_kinds()
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, again, other = (likeness(X, np.arange(50), iterations=5, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_images_are_padded_and_scaled():
    digits = load_digits().data[:6]
    images = as_images(torch.as_tensor(digits, dtype=torch.float32), (1, 8, 8))
    assert images.shape == (6, 1, 32, 32)
    assert abs(float(images.mean())) < 1e-5
    assert abs(float(images.std()) - 1) < 1e-5
    inside = images[:, 0, 12:20, 12:20].reshape(6, 64).numpy()
    assert np.corrcoef(inside.ravel(), digits.ravel())[0, 1] > 0.9999
    border = images.clone()
    border[:, :, 12:20, 12:20] = images.min()
    assert float(border.std()) < 1e-6


@pytest.mark.parametrize("shape", [(1, 8, 9), (3, 8, 8), (1, 64, 1)])
def test_a_wrong_image_shape_is_refused(shape):
    pool = Pool(load_digits().data[:20], np.arange(3), np.arange(3))
    with pytest.raises(ValueError, match="must be at most 32 × 32 and make up the 64 columns"):
        pick(VAAL(image_shape=shape), pool, 2)


def test_the_layers_for_images_are_the_papers():
    vae = deep_networks._convolutional(3, deep_networks.CHANNELS)
    convolutions = [layer for layer in vae.encoder if isinstance(layer, torch.nn.Conv2d)]
    assert [(layer.in_channels, layer.out_channels) for layer in convolutions] == [
        (3, 128),
        (128, 256),
        (256, 512),
        (512, 1024),
    ]
    assert {(layer.kernel_size, layer.stride) for layer in convolutions} == {((4, 4), (2, 2))}
    assert vae.encoder[-1].out_features == 2 * 32
    assert deep_networks.JUDGE["images"] == (512, 512)


def test_digits_of_a_kind_that_has_no_labels_come_first():
    X, y = load_digits(return_X_y=True)
    keep = np.flatnonzero(np.isin(y, [0, 1]))[:200]
    X, y = X[keep], y[keep]
    labeled = np.flatnonzero(y == 0)[:40]
    shares = []
    for seed in range(3):  # networks that learn for a second vary by ± .06
        alike = likeness(X, labeled, (1, 8, 8), iterations=40, channels=(8, 16, 16, 16), batch=32, seed=seed)
        alike[labeled] = np.inf
        shares.append((y[np.argsort(alike)[:40]] == 1).mean())
    assert np.mean(shares) > 0.85  # .63 by chance


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_images_train_on_the_gpu():
    X, y = load_digits(return_X_y=True)
    labeled = np.flatnonzero(y == 0)[:100]
    alike = likeness(X, labeled, (1, 8, 8), iterations=200)
    assert alike[y == 0].mean() > alike[y != 0].mean()


def test_without_torch_the_list_works_and_the_error_names_the_remedy():
    code = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError(name)
sys.meta_path.insert(0, NoTorch())
import numpy as np
import mheal
from mheal.strategies import describe
assert {"vaal", "cdal-rl"} <= {one.name for one in describe()}
for name in ("vaal", "cdal-rl"):
    try:
        mheal.select(np.eye(6), 1, labeled=[0, 1, 2], y=[0, 1, 0], strategy=name)
    except ValueError as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    remedy = 'trains a network, which needs torch: pip install "mheal[deep]"'
    assert run.stdout.splitlines() == [f"vaal {remedy}", f"cdal-rl {remedy}"]


class TestPolicy:
    """CDAL-RL."""

    def smoothed(self, P):
        A = torch.as_tensor(P, dtype=torch.float32) + 1e-8
        return A / A.sum(dim=1, keepdim=True)

    def test_reward_of_identical_features_is_a_half(self):
        P = self.smoothed(np.tile([[0.7, 0.2, 0.1]], (50, 1)))
        for n in (1, 2, 20):
            assert deep_networks.reward(P, torch.arange(n)) == pytest.approx(0.5, abs=1e-9)

    def test_reward_equals_its_definition(self):
        P = self.smoothed(predictions(30))
        picked = [3, 9, 21, 4]
        A = P.double().numpy()
        pairs = [plain_divergence(A[i], A[j]) for i in picked for j in picked if i != j]
        near = np.square(A[:, None] - A[None, picked]).sum(-1).min(axis=1).mean()
        expected = 1.5 * np.mean(pairs) + 0.5 * np.exp(-near / 50)
        assert deep_networks.reward(P, torch.tensor(picked)) == pytest.approx(expected, rel=1e-9)

    def test_chosen_picks_are_the_best_rewarded_of_all_epochs(self):
        P = self.smoothed(predictions(120))
        chunks = [deep_networks.Chunk(P[:70], 8), deep_networks.Chunk(P[70:], 5)]
        with torch.random.fork_rng():
            torch.manual_seed(0)
            deep_networks.train_policy(chunks, 6)
        for chunk in chunks:
            assert len(chunk.rewards) == 6
            assert len(set(chunk.picked.tolist())) == chunk.share
            assert deep_networks.reward(chunk.P, chunk.picked) == max(chunk.rewards) >= chunk.rewards[0]

    @pytest.mark.parametrize("budget", [1, 2, 10, 53, 100])
    def test_every_chunk_has_its_share(self, budget):
        picks = deep_networks.diverse(predictions(100).astype(np.float32), budget, epochs=1, chunk=30, at_once=3)
        assert len(set(picks.tolist())) == budget
        counts = np.bincount(picks // 25, minlength=4)  # four chunks of 25
        assert counts.max() - counts.min() <= 1

    def test_the_policy_learns_to_find_what_differs(self):
        """Nine rows in ten have the same prediction, so random picks would nearly all be such rows."""
        rng = np.random.default_rng(0)
        P = np.tile([[0.5, 0.25, 0.25]], (300, 1))
        P[::10] = np.eye(3)[rng.integers(3, size=30)]
        A = self.smoothed(P)
        by_chance = [deep_networks.reward(A, torch.as_tensor(rng.choice(300, 15, replace=False))) for _ in range(20)]
        picks = deep_networks.diverse(P.astype(np.float32), 15, seed=0)
        assert deep_networks.reward(A, torch.as_tensor(picks)) > max(by_chance)

    def test_callers_randomness_is_left_alone(self):
        torch.manual_seed(5)
        before = torch.random.get_rng_state()
        deep_networks.diverse(predictions(20).astype(np.float32), 3, epochs=1)
        assert torch.equal(before, torch.random.get_rng_state())
