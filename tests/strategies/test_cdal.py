"""CDAL: distances between predictions, farthest-first among them, and a policy that learns them."""

import numpy as np
import pytest

from mheal.strategies import Pool, get
from mheal.strategies.cdal import SymmetricKL


class FromColumns:
    """A model that reads class probabilities from the columns of X."""

    def predict_proba(self, X):
        return X


def predictions(rows=60, classes=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(classes, 0.5), rows)


def plain_divergence(p, q):
    return 0.5 * np.sum(p * np.log(p / q)) + 0.5 * np.sum(q * np.log(q / p))


def test_divergence_is_symmetric_zero_for_equals_and_does_not_know_the_order_of_classes():
    P = predictions()
    P[7] = P[3]
    D = SymmetricKL(P).to(np.arange(60))
    np.testing.assert_allclose(D, D.T, atol=1e-12)
    same = np.eye(60, dtype=bool)
    same[3, 7] = same[7, 3] = True
    assert D[same].max() < 1e-12
    assert D[~same].min() > 1e-4
    np.testing.assert_allclose(SymmetricKL(P[:, [2, 0, 3, 1]]).to(np.arange(60)), D, atol=1e-12)


def test_divergence_equals_its_definition():
    P = predictions(10)
    D = SymmetricKL(P).to(np.arange(10))
    S = (P + 1e-8) / (P + 1e-8).sum(axis=1, keepdims=True)
    for i in range(10):
        for j in range(10):
            np.testing.assert_allclose(D[i, j], plain_divergence(S[i], S[j]), atol=1e-10)


def test_certain_predictions_are_at_a_finite_distance():
    D = SymmetricKL(np.eye(3)).to(np.arange(3))
    assert np.isfinite(D).all()
    np.testing.assert_allclose(D[0, 1], -np.log(1e-8), rtol=1e-5)


@pytest.mark.parametrize("labeled", [[0], [5, 11, 30]])
def test_picks_equal_farthest_first_by_brute_force(labeled):
    P = predictions()
    D = SymmetricKL(P).to(np.arange(60))
    chosen = list(labeled)
    for _ in range(12):
        chosen.append(int(D[:, chosen].min(axis=1).argmax()))
    picks = get("cdal-coreset")().select(Pool(P, np.array(labeled), np.zeros(len(labeled)), FromColumns()), 12)
    assert picks.indices.tolist() == chosen[len(labeled) :]


def test_without_labels_the_first_pick_is_random():
    first = {
        int(
            get("cdal-coreset")()
            .select(Pool(predictions(), model=FromColumns(), rng=np.random.default_rng(s)), 1)
            .indices[0]
        )
        for s in range(8)
    }
    assert len(first) > 3


def test_many_labelled_rows_are_seen_in_blocks(monkeypatch):
    from mheal.strategies import cdal

    P = predictions(200)
    pool = Pool(P, np.arange(50), np.zeros(50), FromColumns())
    whole = get("cdal-coreset")().select(pool, 10).indices
    monkeypatch.setattr(cdal, "CELLS", 1500)
    np.testing.assert_array_equal(get("cdal-coreset")().select(pool, 10).indices, whole)


class TestPolicy:
    """CDAL-RL."""

    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch")
        from mheal.strategies import cdal_rl_network as cdal_rl

        self.deep = cdal_rl

    def smoothed(self, P):
        A = self.torch.as_tensor(P, dtype=self.torch.float32) + 1e-8
        return A / A.sum(dim=1, keepdim=True)

    def test_reward_of_identical_features_is_a_half(self):
        P = self.smoothed(np.tile([[0.7, 0.2, 0.1]], (50, 1)))
        for n in (1, 2, 20):
            assert self.deep.reward(P, self.torch.arange(n)) == pytest.approx(0.5, abs=1e-9)

    def test_reward_equals_its_definition(self):
        P = self.smoothed(predictions(30))
        picked = [3, 9, 21, 4]
        A = P.double().numpy()
        pairs = [plain_divergence(A[i], A[j]) for i in picked for j in picked if i != j]
        near = np.square(A[:, None] - A[None, picked]).sum(-1).min(axis=1).mean()
        expected = 1.5 * np.mean(pairs) + 0.5 * np.exp(-near / 50)
        assert self.deep.reward(P, self.torch.tensor(picked)) == pytest.approx(expected, rel=1e-9)

    def test_chosen_picks_are_the_best_rewarded_of_all_epochs(self):
        P = self.smoothed(predictions(120))
        chunks = [self.deep.Chunk(P[:70], 8), self.deep.Chunk(P[70:], 5)]
        with self.torch.random.fork_rng():
            self.torch.manual_seed(0)
            self.deep.train(chunks, 6)
        for chunk in chunks:
            assert len(chunk.rewards) == 6
            assert len(set(chunk.picked.tolist())) == chunk.share
            assert self.deep.reward(chunk.P, chunk.picked) == max(chunk.rewards) >= chunk.rewards[0]

    @pytest.mark.parametrize("budget", [1, 2, 10, 53, 100])
    def test_every_chunk_has_its_share(self, monkeypatch, budget):
        monkeypatch.setattr(self.deep, "CHUNK", 30)
        monkeypatch.setattr(self.deep, "AT_ONCE", 3)
        picks = self.deep.diverse(predictions(100).astype(np.float32), budget, epochs=1)
        assert len(set(picks.tolist())) == budget
        counts = np.bincount(picks // 25, minlength=4)  # four chunks of 25
        assert counts.max() - counts.min() <= 1

    def test_the_policy_learns_to_find_what_differs(self):
        """Nine rows in ten predict the same: left to chance, picks are nearly all of that kind."""
        rng = np.random.default_rng(0)
        P = np.tile([[0.5, 0.25, 0.25]], (300, 1))
        P[::10] = np.eye(3)[rng.integers(3, size=30)]
        A = self.smoothed(P)
        by_chance = [self.deep.reward(A, self.torch.as_tensor(rng.choice(300, 15, replace=False))) for _ in range(20)]
        picks = self.deep.diverse(P.astype(np.float32), 15, seed=0)
        assert self.deep.reward(A, self.torch.as_tensor(picks)) > max(by_chance)

    def test_callers_randomness_is_left_alone(self):
        self.torch.manual_seed(5)
        before = self.torch.random.get_rng_state()
        self.deep.diverse(predictions(20).astype(np.float32), 3, epochs=1)
        assert self.torch.equal(before, self.torch.random.get_rng_state())
