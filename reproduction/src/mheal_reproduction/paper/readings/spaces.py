"""The features that Algorithm 2 may pick from, pixels and codes of autoencoders, and how each is scaled."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mheal.backends.torch.determinism import seeded
from mheal.embed.autoencoder import train
from mheal.runtime.files import replacing
from mheal.runtime.progress import Progress
from mheal.scaling import Scaling

from ..images.features import Features
from .grid import PENULTIMATE

Floats = npt.NDArray[np.float32]
BATCH = 256
# "raw": distances between rows as they are; "unit": standardised and of unit length, as the paper has it
SCALING: dict[str, Scaling] = {
    "pixels": "raw", "unit pixels": "unit", "codes": "unit", "moved codes": "unit", "DEC codes": "unit",
    PENULTIMATE: "unit",
}  # fmt: skip
TABLE3 = {"moved codes": "codes", "DEC codes": "dec"}  # features of Table 3


@dataclass(eq=False)
class Spaces:
    """The features of the images; learnt codes are saved in a folder if one is given.

    steps : batches that an autoencoder of "codes" learns from: 784-500-500-2000-10, Adam, images not moved
    table3 : the codes of Table 3, of autoencoders that see images moved, and of DEC
    """

    images: npt.NDArray[np.uint8]
    steps: int
    folder: Path | None
    table3: Features
    progress: Progress
    _codes: dict[int, Floats] = field(default_factory=dict)

    def __call__(self, space: str, seed: int) -> Floats:
        """The rows of all images."""
        if space.endswith("pixels"):
            return self.images.reshape(len(self.images), -1).astype(np.float32) / np.float32(255)
        if space in TABLE3:
            self.table3.prepare([TABLE3[space]], [seed], self.progress)
            return self.table3(TABLE3[space], seed)
        if seed not in self._codes:
            self._codes = {seed: self._read(seed)}
        return self._codes[seed]

    def learn(self, space: str, seeds: Sequence[int]) -> None:
        """Learn the features of these seeds that are in no file yet, and keep them in files."""
        if space in TABLE3:
            self.table3.prepare([TABLE3[space]], seeds, self.progress)
        elif space == "codes":
            for seed in seeds:
                self._read(seed)

    def ready(self, space: str, seed: int) -> bool:
        """Whether the features are available without learning."""
        if space in TABLE3:
            return self.table3.ready(TABLE3[space], seed)
        file = self._file(seed)
        return space != "codes" or (file is not None and file.exists())

    def _file(self, seed: int) -> Path | None:
        return None if self.folder is None else self.folder / f"mnist_readings_{self.steps}_{seed}.npy"

    def _read(self, seed: int) -> Floats:
        file = self._file(seed)
        if file is not None and file.exists():
            return np.asarray(np.load(file))
        codes = self._learn(seed)
        if file is not None:
            with replacing(file, make_folder=True) as part, part.open("wb") as out:
                np.save(out, codes)
        return codes

    def _learn(self, seed: int) -> Floats:
        """Train the autoencoder in bfloat16, which halves the time on CPUs that support it."""
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        A: Any = torch.as_tensor(self.images.reshape(len(self.images), -1), dtype=torch.float32)
        A = ((A - A.mean(dim=0)) / A.std()).to(device)
        with seeded(seed), torch.autocast(device.type, torch.bfloat16, cache_enabled=False):  # weights change
            model = train(A, self.steps, BATCH, self.progress)
        with torch.inference_mode():
            return torch.cat([model.encoder(part) for part in A.split(8192)]).cpu().numpy()
