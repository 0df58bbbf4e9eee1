import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from mheal_reproduction.clustering_accuracy import clustering_accuracy
from mheal_reproduction.networks.augment import shift_and_rotate
from mheal_reproduction.networks.dec import (
    Recipe,
    Refinement,
    Rows,
    codes_of,
    divergence,
    pretrain,
    soft_labels,
    targets,
)
from mheal_reproduction.networks.initial import initial_clusters

X, y = load_digits(return_X_y=True)
A = torch.as_tensor(X / 16, dtype=torch.float32)


def small(*values, **parameters):
    return Recipe(*values, widths=(64, 64, 128), **parameters)


def all_rows(members, n=1797):
    return Rows(A, torch.arange(n).repeat(members, 1))


def start(rows, seeds, recipe):
    """Autoencoders and the centres of their codes."""
    encoder, decoder = pretrain(rows, seeds, recipe)
    codes = codes_of(encoder, rows).numpy()
    centers = [initial_clusters(z, "kmeans", recipe.n_clusters, s)[0] for z, s in zip(codes, seeds, strict=True)]
    return encoder, decoder, torch.from_numpy(np.stack(centers))


def random_q(members=2, n=200, k=5):
    generator = torch.Generator().manual_seed(0)
    codes, centers = (torch.randn(members, rows, 3, generator=generator) for rows in (n, k))
    return soft_labels(3 * codes, 3 * centers)


def test_soft_labels_are_students_t():
    q = soft_labels(torch.tensor([[[0.0, 0.0]]]), torch.tensor([[[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]]]))
    torch.testing.assert_close(q, torch.tensor([[[1.0, 0.5, 0.1]]]) / 1.6)


def test_rows_of_q_and_p_sum_to_one_and_p_is_sharper():
    q = random_q()
    p = targets(q)
    for one in (q, p):
        torch.testing.assert_close(one.sum(dim=2), torch.ones(2, 200))
    entropy_of_q, entropy_of_p = (-torch.xlogy(one, one).sum(dim=2).mean(dim=1) for one in (q, p))
    assert (entropy_of_p < entropy_of_q).all()


def test_with_equal_masses_p_is_q_squared():
    q = torch.cat([random_q(1).roll(i, 2) for i in range(5)], dim=1)  # every cluster gets what every other gets
    torch.testing.assert_close(targets(q), q.square() / q.square().sum(dim=2, keepdim=True))


def test_divergence_is_zero_only_where_nothing_differs_and_bears_zeros():
    q = random_q()
    assert divergence(q, q).abs().max() < 1e-6
    assert (divergence(targets(q), q) > 0.01).all()
    certain = torch.tensor([[[1.0, 0.0]]])
    torch.testing.assert_close(divergence(certain, torch.tensor([[[0.5, 0.5]]])), torch.tensor([2.0]).log())


def test_setting_the_length_of_codes_leaves_the_autoencoder_alone():
    outputs = []
    for length in (1.0, 12.0):
        encoder, decoder = pretrain(all_rows(2), [0, 1], small(pretrain_epochs=3, length=length))
        codes = codes_of(encoder, all_rows(2))
        torch.testing.assert_close(codes.norm(dim=2).mean(dim=1), torch.full((2,), length))
        outputs.append(decoder(codes).detach())
    torch.testing.assert_close(*outputs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("variant", ["dec", "idec"])
@pytest.mark.parametrize("shape", [None, (8, 8)], ids=["clean", "augmented"])
def test_the_loss_falls_while_a_target_is_learnt(variant, shape):
    rows, recipe = all_rows(1), small(variant=variant, image_shape=shape, pretrain_epochs=60)
    refinement = Refinement(rows, [0], recipe, *start(rows, [0], recipe))
    refinement._update()

    def now():
        with torch.no_grad():
            return sum(refinement._loss(*refinement.shuffles(i)).item() for i in range(7))

    before = now()
    for i in range(60):
        refinement.trainer.step(*refinement.shuffles(i))
    assert now() < 0.9 * before


def test_divergence_from_the_target_of_the_day_has_fallen_at_the_end():
    rows, recipe = all_rows(1), small(pretrain_epochs=100, max_iter=150)
    (found,) = Refinement(rows, [0], recipe, *start(rows, [0], recipe)).run()
    assert found.history[-1] < 0.9 * found.history[0]


@pytest.mark.parametrize("variant", ["dec", "idec"])
def test_a_stack_equals_single_runs(variant):
    rng = np.random.default_rng(0)
    index = torch.as_tensor(np.stack([rng.permutation(len(A))[:500] for _ in range(3)]))
    recipe, seeds = small(variant=variant, pretrain_epochs=15, max_iter=6), [7, 8, 9]
    rows = Rows(A, index)
    encoder, decoder, centers = start(rows, seeds, recipe)
    together = Refinement(rows, seeds, recipe, encoder, decoder, centers).run()
    for i, seed in enumerate(seeds):
        alone = Rows(A, index[i : i + 1])
        (one,) = Refinement(alone, [seed], recipe, *start(alone, [seed], recipe)).run()
        assert (one.labels == together[i].labels).float().mean() > 0.99
        torch.testing.assert_close(one.centers, together[i].centers, rtol=1e-2, atol=1e-2)
        np.testing.assert_allclose(one.history, together[i].history, rtol=1e-3, atol=1e-6)


def test_a_member_that_leaves_early_does_not_disturb_the_others():
    rows, recipe = all_rows(2, 600), small(pretrain_epochs=3, max_iter=40, tol=0.01)
    encoder, decoder, centers = start(rows, [0, 1], recipe)
    resting = torch.stack([torch.full_like(centers[0], 1e6), centers[1]])  # all codes are equally far: labels rest
    first, second = Refinement(rows, [0, 1], recipe, encoder.take([0, 1]), decoder, resting).run()
    assert first.n_iter < second.n_iter
    (alone,) = Refinement(rows.take([1]), [1], recipe, encoder.take([1]), decoder.take([1]), centers[1:]).run()
    assert alone.n_iter == second.n_iter
    assert (alone.labels == second.labels).float().mean() > 0.99


def test_it_stops_when_labels_rest_and_not_before():
    rows, recipe = all_rows(1), small(pretrain_epochs=5, max_iter=2000, tol=0.05, update_interval=2)
    (found,) = Refinement(rows, [0], recipe, *start(rows, [0], recipe)).run()
    assert 0 < found.n_iter < 2000
    assert len(found.history) == found.n_iter // 2 + 1


@pytest.mark.parametrize(("batch", "steps"), [(256, [30, 30]), (16, [56, 4])])
def test_targets_come_every_half_epoch_but_30_batches_apart_at_least(batch, steps):
    rows, recipe = all_rows(1), small(pretrain_epochs=1, max_iter=60, tol=0, batch=batch)  # 7 or 112 an epoch
    seen = []
    Refinement(rows, [0], recipe, *start(rows, [0], recipe)).run(save=lambda state: seen.append(state["iteration"]))
    assert np.diff(seen).tolist() == steps


def test_without_iterations_labels_are_those_of_the_nearest_centres():
    rows, recipe = all_rows(1), small(pretrain_epochs=2, max_iter=0)
    encoder, decoder, centers = start(rows, [0], recipe)
    (found,) = Refinement(rows, [0], recipe, encoder, decoder, centers).run()
    assert found.n_iter == 0
    assert torch.equal(found.labels, torch.cdist(codes_of(encoder, rows)[0], centers[0]).argmin(dim=1))


@pytest.mark.slow
def test_dec_improves_on_k_means_of_the_codes():
    seeds, recipe = [0, 1, 2], small(pretrain_epochs=150, max_iter=150)
    rows = all_rows(3)
    encoder, decoder, centers = start(rows, seeds, recipe)
    before = [clustering_accuracy(y, z.argmin(dim=1)) for z in torch.cdist(codes_of(encoder, rows), centers)]
    found = Refinement(rows, seeds, recipe, encoder, decoder, centers).run()
    after = [clustering_accuracy(y, one.labels) for one in found]
    assert (np.array(after) > before).all()
    assert min(after) > 0.75


@pytest.mark.parametrize(
    "awkward",
    [np.zeros((5, 3)), np.ones((300, 4)), np.repeat(np.eye(4), 70, axis=0), np.eye(12)[:, :1]],
    ids=["all zero and tiny", "constant", "duplicates", "one column"],
)
@pytest.mark.parametrize("variant", ["dec", "idec"])
def test_awkward_rows_give_no_nan(awkward, variant):
    B = torch.as_tensor(awkward, dtype=torch.float32)
    rows, recipe = Rows(B, torch.arange(len(B))[None]), small(5, variant=variant, pretrain_epochs=2, max_iter=3, tol=0)
    encoder, decoder = pretrain(rows, [0], recipe)
    centers = codes_of(encoder, rows)[:, :5].clone()  # some of them coincide: clusters stay empty
    (found,) = Refinement(rows, [0], recipe, encoder, decoder, centers).run()
    assert np.isfinite(found.history).all()
    assert found.centers.isfinite().all()
    assert set(found.labels.tolist()) <= set(range(5))


def test_moving_an_image_by_nothing_changes_nothing_and_pixels_go_where_the_draws_say():
    images = A[:20].reshape(2, 10, 64)
    still = torch.full((2, 10, 3), 0.5)
    torch.testing.assert_close(shift_and_rotate(images, still, (8, 8)), images, rtol=0, atol=1e-5)
    dot = torch.zeros(1, 1, 10 * 10)
    dot[0, 0, 5 * 10 + 5] = 1.0
    to_the_left = shift_and_rotate(dot, torch.tensor([[[0.5, 1.0, 0.5]]]), (10, 10))
    assert to_the_left[0, 0].argmax() == 5 * 10 + 4
    colours = torch.rand(1, 3, 6 * 4 * 3)
    torch.testing.assert_close(shift_and_rotate(colours, still[:1, :3], (6, 4, 3)), colours, rtol=0, atol=1e-5)


def test_a_rotation_keeps_circles_even_where_images_are_not_square():
    down, across = torch.meshgrid(torch.arange(20.0), torch.arange(40.0), indexing="ij")
    disc = torch.exp(-((down - 9.5) ** 2 + (across - 19.5) ** 2) / 20).reshape(1, 1, -1)
    turned = shift_and_rotate(disc, torch.tensor([[[1.0, 0.5, 0.5]]]), (20, 40))
    assert (turned - disc).abs().max() < 0.02
