from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch")

from mheal.backends.torch.determinism import seeded  # noqa: E402


@pytest.mark.parametrize("gpus", [True, False])
def test_draws_depend_on_the_seed_alone_and_the_caller_sees_nothing(gpus):
    before = torch.random.get_rng_state()
    with seeded(3, gpus=gpus):
        first = torch.rand(5)
    torch.rand(2)
    with seeded(3, gpus=gpus):
        assert torch.equal(torch.rand(5), first)
    torch.random.set_rng_state(before)
    with seeded(4, gpus=gpus):
        assert not torch.equal(torch.rand(5), first)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_threads_wait_for_each_other():
    def draw(seed):
        with seeded(seed):
            return torch.stack([torch.rand(20).sort().values for _ in range(200)])

    alone = [draw(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for one, other in zip(alone, pool.map(draw, range(8)), strict=True):
            assert torch.equal(one, other)
