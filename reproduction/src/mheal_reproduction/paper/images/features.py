"""Features that methods of Tables 3, 4 and 5 pick from, learnt from the images alone and saved beside them.

They are codes of an autoencoder trained on slightly shifted and rotated images, before and after DEC, and for
photographs the first 128 principal components of SimCLR's features. Five autoencoders are trained; seeds that differ by
5 share one. SimCLR is trained once. Features are stored with 16 bits per number.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import mheal
from mheal.embed.simclr import encode
from mheal.runtime.files import replacing
from mheal.runtime.progress import Progress

from ...networks.dec import Recipe
from ...networks.many import fit_many
from ..table1.deep import CENTER
from ..table1.images import drawn
from .size import FULL, Size

AUTOENCODERS = 5

Images = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]


class Features:
    """The features of one dataset; they are saved in `folder`, or not at all if it is None."""

    def __init__(
        self, name: str, images: Images, classes: int, folder: Path | None, size: Size = FULL,
        version: str = mheal.__version__,
    ) -> None:  # fmt: skip
        self.name, self.images, self.classes, self.folder, self.size = name, images, classes, folder, size
        self.version = version
        self._found: dict[tuple[str, int], Floats] = {}

    def prepare(self, kinds: Sequence[str], seeds: Sequence[int], progress: Progress) -> None:
        """Read or learn features of these kinds ("codes", "dec", "simclr") for these seeds."""
        wanted = {(kind, _member(kind, seed)) for kind in kinds for seed in seeds}
        for kind, member in wanted:
            self._read(kind, member)
        missing = sorted(wanted - set(self._found))
        if members := sorted({member for kind, member in missing if kind != "simclr"}):
            self._learn_codes(members, progress)
        if ("simclr", 0) in missing:
            self._learn_simclr(progress)

    def __call__(self, kind: str, seed: int) -> Floats:
        """The features of all images."""
        return self._found[kind, _member(kind, seed)]

    def ready(self, kind: str, seed: int) -> bool:
        """Whether these features are learnt already."""
        self._read(kind, _member(kind, seed))
        return (kind, _member(kind, seed)) in self._found

    def _learn_codes(self, members: list[int], progress: Progress) -> None:
        X, n, about = self.images.reshape(len(self.images), -1), len(self.images), self.size.autoencoder(self.name)
        recipe = Recipe(
            self.classes, image_shape=self.images.shape[1:], pretrain_epochs=about["epochs"],
            pretrain_rate=about["rate"], max_iter=about["batches"], widths=about["widths"],
        )  # fmt: skip
        orders = np.stack([drawn(n, n, member) for member in members])  # as in Table 1
        for order, one in zip(
            orders, fit_many(X, members, rows=orders, recipe=recipe, center=CENTER, progress=progress), strict=True
        ):
            for kind, codes in (("codes", one.initial_codes), ("dec", one.codes)):
                in_order = np.empty_like(codes)
                in_order[order] = codes
                self._keep(kind, one.seed, in_order)

    def _learn_simclr(self, progress: Progress) -> None:
        size = self.size
        found = encode(self.images, epochs=size.simclr_epochs, width=size.simclr_width, progress=progress)
        self._keep("simclr", 0, principal(found, size.simclr_columns))

    def _keep(self, kind: str, member: int, features: Floats) -> None:
        short = features.astype(np.float16)
        self._found[kind, member] = short.astype(np.float32)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(self._file(kind, member)) as part, part.open("wb") as file:
                np.savez(file, features=short, made=json.dumps(self._made(kind)))

    def _read(self, kind: str, member: int) -> None:
        file = self._file(kind, member) if self.folder is not None else None
        if file is None or not file.exists() or (kind, member) in self._found:
            return
        with np.load(file) as stored:
            same = json.loads(str(stored["made"])) == json.loads(json.dumps(self._made(kind)))
            if same and len(stored["features"]) == len(self.images):
                self._found[kind, member] = stored["features"].astype(np.float32)

    def _made(self, kind: str) -> dict[str, Any]:
        """The settings that features of a kind depend on, beside the images and the seed."""
        about = self.size.simclr() if kind == "simclr" else self.size.autoencoder(self.name)
        return {"mheal": self.version} | about

    def _file(self, kind: str, member: int) -> Path:
        assert self.folder is not None
        return self.folder / f"{self.name}_{kind}_{member}.npz"


def principal(features: Floats, columns: int) -> Floats:
    """So many columns that preserve the cosines best, of unit length again."""
    if columns >= features.shape[1]:
        return features
    directions = np.linalg.eigh(features.T.astype(np.float64) @ features)[1][:, -columns:]
    kept = features @ directions.astype(np.float32)
    return kept / np.linalg.norm(kept, axis=1, keepdims=True)


def _member(kind: str, seed: int) -> int:
    return 0 if kind == "simclr" else seed % AUTOENCODERS
