"""A stack: E small networks of one shape, trained together with one batched matrix product per layer.

Members are independent: losses are summed and optimisers work element by element, so each is trained as it would be
alone. On CUDA a training step is captured in a graph, because launching its kernels takes longer than running them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch

from mheal.backends.torch.graphs import undisturbed

Optimiser = Literal["sgd", "adam"]
EAGER_STEPS = 3  # steps before the capture, in which libraries initialise themselves


class Stack:
    """E fully connected networks, ReLU between their layers: weights (E, in, out), biases (E, 1, out)."""

    def __init__(self, weights: Sequence[torch.Tensor], biases: Sequence[torch.Tensor]) -> None:
        self.weights = [weight.detach().requires_grad_() for weight in weights]
        self.biases = [bias.detach().requires_grad_() for bias in biases]

    @classmethod
    def initial(cls, widths: Sequence[int], seeds: Sequence[int], device: torch.device, part: int = 0) -> "Stack":
        """Draw weights uniform in ±1/√in from each member's seed and `part`; biases are 0. Equal on every device."""
        rngs = [np.random.default_rng((seed, part)) for seed in seeds]
        weights, biases = [], []
        for before, after in pairwise(widths):
            limit = before**-0.5
            drawn = np.stack([rng.random((before, after), np.float32) for rng in rngs])
            weights.append(torch.from_numpy(limit * (2 * drawn - 1)).to(device))
            biases.append(torch.zeros(len(seeds), 1, after, device=device))
        return cls(weights, biases)

    def __len__(self) -> int:
        return len(self.weights[0])

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """The outputs (E, rows, out) of all members for their own rows (E, rows, in)."""
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x.relu() if layer else x, weight)
        return x

    def parameters(self) -> list[torch.Tensor]:
        """Weights, then biases."""
        return [*self.weights, *self.biases]

    def to(self, device: torch.device) -> "Stack":
        """The same networks on another device."""
        return Stack([weight.to(device) for weight in self.weights], [bias.to(device) for bias in self.biases])

    def take(self, members: Sequence[int]) -> "Stack":
        """A stack of copies of these members, which may repeat."""
        return Stack(
            [_take(weight, members) for weight in self.weights], [_take(bias, members) for bias in self.biases]
        )


class Shuffles:
    """Batches of every member's n rows, in an order that depends only on its seed, the phase and the epoch.

    An epoch has whole batches only; rows left over, which differ between epochs, are skipped. Each row comes with
    `draws` uniform random numbers.
    """

    def __init__(
        self, seeds: Sequence[int], n: int, batch: int, phase: int, device: torch.device, draws: int = 0
    ) -> None:
        self.seeds, self.n, self.batch, self.phase, self.draws = list(seeds), n, min(batch, n), phase, draws
        self.per_epoch = n // self.batch
        self._generator = torch.Generator(device)
        self._epoch = -1

    def __call__(self, iteration: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Batch number `iteration`: places in 0 … n − 1, (E, batch), and draws, (E, batch, draws)."""
        epoch, step = divmod(iteration, self.per_epoch)
        if epoch != self._epoch:
            orders, draws = zip(*(self._shuffle(seed, epoch) for seed in self.seeds), strict=True)
            self._orders, self._draws, self._epoch = torch.stack(orders), torch.stack(draws), epoch
        part = slice(step * self.batch, (step + 1) * self.batch)
        return self._orders[:, part], self._draws[:, part]

    def _shuffle(self, seed: int, epoch: int) -> tuple[torch.Tensor, torch.Tensor]:
        generator = self._generator
        generator.manual_seed(int(np.random.SeedSequence((seed, self.phase, epoch)).generate_state(1)[0]))
        order = torch.randperm(self.n, generator=generator, device=generator.device)
        return order, torch.rand(self.n, self.draws, generator=generator, device=generator.device)


class Trainer:
    """Steps of SGD with momentum .9, or of Adam, on parameters whose first axis is the member.

    `loss` takes the inputs of `step` and gives one loss a member.
    """

    def __init__(
        self,
        parameters: Sequence[torch.Tensor],
        loss: Callable[..., torch.Tensor],
        optimiser: Optimiser,
        rate: float,
    ) -> None:
        self.parameters, self.loss = list(parameters), loss
        device = self.parameters[0].device
        if optimiser == "sgd":
            self._optimizer: Any = torch.optim.SGD(self.parameters, lr=rate, momentum=0.9, fused=True)
        else:
            on_cuda = device.type == "cuda"
            speed = torch.tensor(rate, device=device) if on_cuda else rate
            self._optimizer = torch.optim.Adam(self.parameters, lr=speed, fused=True, capturable=on_cuda)
        self._step = _Captured(self._train) if device.type == "cuda" else self._train

    def step(self, *inputs: torch.Tensor) -> None:
        """One step on this batch; inputs keep their shapes from step to step."""
        self._step(*inputs)

    def _train(self, *inputs: torch.Tensor) -> None:
        gradients = torch.autograd.grad(self.loss(*inputs).sum(), self.parameters)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        self._optimizer.step()

    def memory(self, members: Sequence[int] | None = None) -> list[dict[str, torch.Tensor]]:
        """Copies of the optimiser's state of each parameter, for these members (None: all)."""
        states = [self._optimizer.state.get(parameter, {}) for parameter in self.parameters]
        return [
            {name: value.clone() if members is None or not value.dim() else _take(value, members)
             for name, value in state.items()}
            for state in states
        ]  # fmt: skip

    def restore(self, memory: Sequence[dict[str, torch.Tensor]]) -> None:
        """Continue from copies that `memory` returned; to be called before the first step."""
        for parameter, one in zip(self.parameters, memory, strict=True):
            if one:
                self._optimizer.state[parameter] = {key: value.to(parameter.device) for key, value in one.items()}


class _Captured:
    """A function without result that runs as a CUDA graph from the fourth call on."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function, self.calls = function, 0
        self.stream = torch.cuda.Stream()
        self.graph: Any = None
        self.inputs: list[torch.Tensor] = []

    def __call__(self, *inputs: torch.Tensor) -> None:
        if not self.inputs:
            self.inputs = [torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in inputs]
        for own, given in zip(self.inputs, inputs, strict=True):
            own.copy_(given)
        self.calls += 1
        if self.calls <= EAGER_STEPS:
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                self.function(*self.inputs)
            torch.cuda.current_stream().wait_stream(self.stream)
            return
        if self.graph is None:
            self.graph = torch.cuda.CUDAGraph()
            with undisturbed(), torch.cuda.graph(self.graph):
                self.function(*self.inputs)
        self.graph.replay()


@contextmanager
def fast_matmul(device: torch.device) -> Iterator[None]:
    """While the block runs, CUDA multiplies float32 matrices on its tensor cores (TF32); a CPU stays exact."""
    if device.type != "cuda":
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _take(tensor: torch.Tensor, members: Sequence[int]) -> torch.Tensor:
    return tensor.detach()[torch.as_tensor(members, dtype=torch.int64, device=tensor.device)]
