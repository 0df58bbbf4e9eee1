import numpy as np
import pytest
import torch

from mheal_reproduction.networks.stack import Shuffles, Stack, Trainer, fast_matmul

CPU = torch.device("cpu")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def data(members, rows=40, columns=6):
    return torch.as_tensor(np.random.default_rng(0).normal(size=(members, rows, columns)), dtype=torch.float32)


def test_a_stack_of_one_is_an_ordinary_network():
    stack = Stack.initial((6, 5, 3), [0], CPU)
    first, last = torch.nn.Linear(6, 5), torch.nn.Linear(5, 3)
    for layer, weight, bias in zip((first, last), stack.weights, stack.biases, strict=True):
        layer.weight.data, layer.bias.data = weight[0].T, bias[0, 0]
    x = data(1)
    torch.testing.assert_close(stack(x)[0], last(first(x[0]).relu()))


def test_first_weights_depend_on_the_members_seed_alone_and_are_bounded_by_the_fan_in():
    both, second = Stack.initial((6, 5), [3, 8], CPU), Stack.initial((6, 5), [8], CPU)
    assert torch.equal(both.weights[0][1], second.weights[0][0])
    assert not torch.equal(both.weights[0][0], both.weights[0][1])
    assert both.weights[0].abs().max() <= 6**-0.5


@pytest.mark.parametrize("method", ["sgd", "adam"])
def test_a_stack_trains_like_separate_networks(method):
    seeds, x = [1, 2, 3], data(3)

    def trained(stack, x):
        trainer = Trainer(stack.parameters(), lambda x: (stack(x) - x).square().mean(dim=(1, 2)), method, 0.05)
        for _ in range(30):
            trainer.step(x)
        return stack(x).detach()

    together = trained(Stack.initial((6, 4, 6), seeds, CPU), x)
    for i, seed in enumerate(seeds):
        alone = trained(Stack.initial((6, 4, 6), [seed], CPU), x[i : i + 1])
        torch.testing.assert_close(together[i], alone[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", ["sgd", "adam"])
def test_members_that_stay_behind_go_on_as_if_nobody_had_left(method):
    x = data(3)

    def trainer_of(stack):
        return Trainer(stack.parameters(), lambda x: (stack(x) - x).square().mean(dim=(1, 2)), method, 0.05)

    whole = Stack.initial((6, 4, 6), [1, 2, 3], CPU)
    trainer = trainer_of(whole)
    for _ in range(5):
        trainer.step(x)
    left = whole.take([0, 2])
    fewer = trainer_of(left)
    fewer.restore(trainer.memory([0, 2]))
    for _ in range(5):
        trainer.step(x)
        fewer.step(x[[0, 2]])
    torch.testing.assert_close(left(x[[0, 2]]), whole(x)[[0, 2]], rtol=1e-4, atol=1e-5)


def test_an_epoch_shows_every_row_once_and_depends_on_nothing_but_seed_phase_and_epoch():
    shuffles = Shuffles([4, 5], 12, 4, 0, CPU, draws=3)
    seen = torch.cat([shuffles(i)[0] for i in range(3)], dim=1)
    assert shuffles.per_epoch == 3
    assert seen.sort(dim=1).values.tolist() == [list(range(12))] * 2
    assert not torch.equal(seen[0], seen[1])
    late = Shuffles([5], 12, 4, 0, CPU, draws=3)
    for i in (7, 1):  # in any order
        for one, other in zip(shuffles(i), late(i), strict=True):
            assert torch.equal(one[1], other[0])
    assert not torch.equal(shuffles(0)[0], Shuffles([4, 5], 12, 4, 1, CPU)(0)[0])


@pytest.mark.parametrize(("n", "batch", "per_epoch"), [(10, 4, 2), (3, 256, 1), (1, 4, 1)])
def test_batches_keep_one_size_and_left_over_rows_wait_for_another_epoch(n, batch, per_epoch):
    shuffles = Shuffles([0], n, batch, 0, CPU)
    assert shuffles.per_epoch == per_epoch
    places = [shuffles(i)[0] for i in range(20 * per_epoch)]
    assert {one.shape for one in places} == {(1, min(batch, n))}
    assert set(torch.cat(places, dim=1)[0].tolist()) == set(range(n))


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize("method", ["sgd", "adam"])
def test_a_captured_step_does_what_an_eager_one_does(method):
    results = []
    for device in (CPU, torch.device("cuda")):
        stack, x = Stack.initial((6, 4, 6), [1, 2], device), data(2).to(device)
        trainer = Trainer(
            stack.parameters(), lambda x, stack=stack: (stack(x) - x).square().mean(dim=(1, 2)), method, 0.05
        )
        for i in range(20):
            trainer.step(x.roll(i, 1)[:, :16])
        results.append(stack(x).detach().cpu())
    torch.testing.assert_close(*results, rtol=1e-3, atol=1e-4)


def test_precision_of_products_is_put_back():
    before = torch.get_float32_matmul_precision()
    with fast_matmul(torch.device("cuda")):
        assert torch.get_float32_matmul_precision() == "high"
    assert torch.get_float32_matmul_precision() == before


@pytest.mark.gpu
@gpu
def test_a_capture_survives_garbage_that_holds_an_older_graph():
    device = torch.device("cuda")
    for _ in range(6):  # trainers hold themselves in a cycle, so only the collector frees them
        weight = torch.zeros(2, 3, 3, device=device, requires_grad=True)

        def loss(x, weight=weight):
            for _ in range(300):  # objects enough for a collection in the midst of the capture
                x = x + [weight.square().sum(dim=(1, 2), keepdim=True)][0]
            return x.sum(dim=(1, 2))

        trainer = Trainer([weight], loss, "sgd", 0.1)
        for _ in range(6):
            trainer.step(torch.ones(2, 3, 3, device=device))
        assert weight.isfinite().all()
        del trainer
