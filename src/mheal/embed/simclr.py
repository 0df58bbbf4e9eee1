"""SimCLR (Chen et al. 2020): features that are similar for two random views of an image, learnt without labels."""

from functools import partial
from itertools import pairwise
from math import cos, pi
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from ..backends.torch.determinism import reproducible_kernels, seeded
from ..backends.torch.graphs import capture, kept_stream
from ..exceptions import UserError
from ..runtime.progress import Progress
from .device_images import Images, random_views

EPOCHS = 100
WIDTH, BLOCKS = 64, 2  # this is ResNet18 without its first pooling
PROJECTION = 128
TEMPERATURE = 0.5
BATCH, SMALL_BATCH = 512, 32  # images; between these 1/16 of the pool, so that small pools get enough steps
RATE, DECAY, WARM_UP = 0.12, 5e-4, 0.05  # the rate is per 256 images of a batch; warm-up is a share of all steps
LARGEST, RESIZED = 64, 32  # pixels a side
AT_ONCE = 2048  # images passed through the encoder together


def encode(
    images: npt.ArrayLike, *, seed: int = 0, epochs: int | None = None, width: int = WIDTH,
    progress: Progress | None = None, device: Any = None,
) -> npt.NDArray[np.float32]:  # fmt: skip
    """Train on the images, and return their features, (n, 8 · width), of unit length.

    images : bytes (n, height, width) or (n, height, width, channels), grey or RGB, as from `datasets.load`; those of
        more than 64 pixels a side are resized to 32 × 32
    epochs : passes over the images, by default 100, which is slow without a GPU
    width : channels of the first layers
    device : by default the GPU, if there is one
    """
    pixels = np.require(images, requirements=["C", "W"])  # torch shares this memory
    if pixels.ndim not in (3, 4) or pixels.shape[3:] not in ((), (1,), (3,)):
        raise UserError(f"images must be (n, height, width) or (n, height, width, 1 or 3), not {pixels.shape}")
    chosen = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    loaded = Images.load(_small(torch.as_tensor(pixels.reshape(*pixels.shape[:3], -1)), chosen), chosen)
    with SimCLR(loaded, epochs=epochs, width=width, seed=seed) as model:
        for _ in range(model.epochs):
            model.epoch(progress)
        return model.features(loaded).cpu().numpy()


convolution = partial(nn.Conv2d, kernel_size=3, padding=1, bias=False)


class Block(nn.Module):
    """A residual block: two convolutions and a shortcut. Where the width grows, the image is halved."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.stride, self.new = after // before, after - before
        self.first = nn.Sequential(convolution(before, after, stride=self.stride), nn.BatchNorm2d(after), nn.ReLU())
        self.second = nn.Sequential(convolution(after, after), nn.BatchNorm2d(after))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """ReLU of the sum of the shortcut and the convolutions."""
        shortcut = x
        if self.new:
            half = self.new // 2
            shortcut = functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, half, half))
        return functional.relu(shortcut + self.second(self.first(x)))


def encoder(channels: int, width: int) -> nn.Sequential:
    """A residual network of four stages (He et al. 2016); each has half the size and twice the width of the last."""
    widths = [width, *(width * 2**stage for stage in range(4) for _ in range(BLOCKS))]
    stem = convolution(channels, width), nn.BatchNorm2d(width), nn.ReLU()
    blocks = (Block(before, after) for before, after in pairwise(widths))
    network = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out")
    return network


class SimCLR:
    """Training of an encoder. A `with` statement frees its CUDA graph. The rate depends on `epochs`."""

    def __init__(self, images: Images, *, epochs: int | None = None, width: int = WIDTH, seed: int = 0) -> None:
        if epochs is not None and epochs < 1:
            raise UserError(f"epochs must be at least 1, not {epochs}")
        if len(images) < 2:
            raise UserError("SimCLR compares images: it needs at least 2")
        device = images.pixels.device
        gpu = device.type == "cuda"
        self.images, self.epochs, self.done = images, epochs or EPOCHS, 0
        self.batch = min(BATCH, max(SMALL_BATCH, len(images) // 16), len(images))
        self.per_epoch = len(images) // self.batch
        self.layout = torch.channels_last if gpu else torch.contiguous_format
        self.network = _fresh(images.pixels.shape[3], width, seed).to(device, memory_format=self.layout)
        self.generator = torch.Generator(device)
        self.rate, self.loss = torch.zeros((), device=device), torch.zeros((), device=device)
        self.at = torch.zeros(1, dtype=torch.int64, device=device)
        self.order = torch.zeros(self.per_epoch, self.batch, dtype=torch.int64, device=device)
        self.optimiser = torch.optim.SGD(
            self.network.parameters(), lr=self.rate, momentum=0.9, nesterov=True, weight_decay=DECAY, fused=gpu
        )
        self.graph: Any = None
        if gpu:
            with reproducible_kernels():
                self.graph = capture(self._step, kept_stream(), [self.generator], "global")
            # the capture has trained the network: start again
            self.network.load_state_dict(_fresh(images.pixels.shape[3], width, seed).state_dict())
            for state in self.optimiser.state.values():
                for value in state.values():
                    value.zero_()
        self.generator.manual_seed(seed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.graph is not None:
            torch.cuda.synchronize()  # a replay may still use what is freed next
            self.graph.reset()
            self.graph = None
            torch.cuda.empty_cache()

    def epoch(self, progress: Progress | None = None) -> float:
        """Train on every image once, in random order, without the last incomplete batch. Returns the mean loss."""
        order = torch.rand(len(self.images), generator=self.generator, device=self.order.device).argsort()
        self.order.copy_(order[: self.order.numel()].view_as(self.order))
        self.loss.zero_()
        for at in range(self.per_epoch):
            step = self.done * self.per_epoch + at
            self.at.fill_(at)
            self.rate.fill_(self.rate_at(step))
            if self.graph is not None:
                self.graph.replay()
            else:
                with reproducible_kernels():
                    self._step()
            if progress is not None:
                progress(step + 1, self.epochs * self.per_epoch, "training SimCLR")
        self.done += 1
        return float(self.loss) / self.per_epoch

    def rate_at(self, step: int) -> float:
        """The learning rate of a step: linear warm-up, then a cosine schedule."""
        highest, steps = RATE * self.batch / 256, self.epochs * self.per_epoch
        warm_up = max(1, round(WARM_UP * steps))
        if step < warm_up:
            return highest * (step + 1) / warm_up
        return highest * (1 + cos(pi * (step - warm_up) / (steps - warm_up))) / 2

    def features(self, images: Images) -> torch.Tensor:
        """Outputs of the encoder, before the projection, of unit length: float32 on the device."""
        rows = torch.arange(len(images), device=images.pixels.device)
        self.network.eval()
        with torch.inference_mode(), self._half():
            pixels = (images.pixels[part].permute(0, 3, 1, 2).float() for part in rows.split(AT_ONCE))
            parts = [self.network[0](self._normalised(part)) for part in pixels]
        self.network.train()
        return functional.normalize(torch.cat(parts).float())

    def _step(self) -> None:
        """One step of gradient descent on two views of each image of the batch."""
        rows = self.order.index_select(0, self.at)[0]
        views = self._normalised(random_views(self.images.pixels[rows.repeat(2)], self.generator))
        self.optimiser.zero_grad(set_to_none=True)
        with self._half():
            projected = self.network(views)
        loss = nt_xent(projected.float(), TEMPERATURE)
        loss.backward()
        lay_out_gradients(self.network)
        self.optimiser.step()
        self.loss.add_(loss.detach())

    def _normalised(self, images: torch.Tensor) -> torch.Tensor:
        mean, deviation = self.images.mean[:, None, None], self.images.deviation[:, None, None]
        return ((images - mean) / deviation).contiguous(memory_format=self.layout)

    def _half(self) -> Any:
        # no cache of casts: each weight is used once, and a CUDA graph must not outlive the cache
        device = self.rate.device.type
        return torch.autocast(device, torch.bfloat16, enabled=device == "cuda", cache_enabled=False)


def _fresh(channels: int, width: int, seed: int) -> nn.Sequential:
    """An untrained encoder followed by its projection."""
    with seeded(seed, gpus=False):  # weights do not depend on the device
        network, n = encoder(channels, width), 8 * width
        projection = nn.Sequential(nn.Linear(n, n, bias=False), nn.BatchNorm1d(n), nn.ReLU(), nn.Linear(n, PROJECTION))
        return nn.Sequential(network, projection)


def nt_xent(projected: torch.Tensor, temperature: float) -> torch.Tensor:
    """The mean cross entropy of finding, by cosine similarity, the other view of an image among all views.

    Rows i and n + i of the 2n are views of the same image.
    """
    z = functional.normalize(projected)
    cosines = (z @ z.T) / temperature
    itself = torch.eye(len(z), dtype=torch.bool, device=z.device)
    pairs = torch.arange(len(z), device=z.device).roll(len(z) // 2)
    return functional.cross_entropy(cosines.masked_fill(itself, -torch.inf), pairs)


def _small(pixels: torch.Tensor, device: Any) -> torch.Tensor:
    """Images with channels first, resized if they are large."""
    images = pixels.movedim(3, 1)
    if max(images.shape[2:]) <= LARGEST:
        return images
    small = partial(functional.interpolate, size=(RESIZED, RESIZED), mode="bilinear", antialias=True)
    parts = [small(part.to(device).float()).round().clamp(0, 255).to(torch.uint8) for part in images.split(256)]
    return torch.cat(parts)


def lay_out_gradients(network: nn.Module) -> None:
    """Give gradients the strides of their weights, as fused optimisers need; only axes of length 1 differ."""
    for weight in network.parameters():
        if weight.grad.stride() != weight.stride():
            weight.grad = weight.grad.as_strided(weight.shape, weight.stride())
