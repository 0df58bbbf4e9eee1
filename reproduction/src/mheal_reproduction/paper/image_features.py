"""Features that lines of Tables 3, 4 and 5 plan from, learnt from the images alone and kept beside them.

Codes of an autoencoder that sees the images a little moved, and of DEC after it; for photographs features of SimCLR,
their 128 principal columns. Autoencoders are trained five times and shared by seeds 5 apart, SimCLR once. Features have
16 bits a number.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal.runtime.files import replacing
from mheal.runtime.progress import Progress

from .deep_constants import CENTER, CLUSTERING, constants_of
from .table1_images import drawn

AUTOENCODERS = 5
EPOCHS = {"mnist": 500, "fashion_mnist": 500, "cifar10": 100, "cifar100": 100}  # of an autoencoder
RATES = {"cifar10": 0.1, "cifar100": 0.1}  # of its learning: at the usual 1 it often diverges on photographs
DEC_BATCHES = 12_000
SIMCLR_EPOCHS, COLUMNS = 128, 128

Images = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]


class Features:
    """The features of one dataset; `folder` keeps them, None (in a quick run) does not."""

    def __init__(self, name: str, images: Images, classes: int, folder: Path | None, quick: bool) -> None:
        self.name, self.images, self.classes, self.folder, self.quick = name, images, classes, folder, quick
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

    def _learn_codes(self, members: list[int], progress: Progress) -> None:
        from ..networks.clustering import fit_many
        from ..networks.dec import Recipe

        X, n = self.images.reshape(len(self.images), -1), len(self.images)
        epochs, batches = (5, 20) if self.quick else (EPOCHS[self.name], DEC_BATCHES)
        recipe = Recipe(self.classes, image_shape=self.images.shape[1:], pretrain_epochs=epochs, max_iter=batches)
        recipe = replace(recipe, pretrain_rate=RATES.get(self.name, recipe.pretrain_rate))
        orders = np.stack([drawn(n, n, member) for member in members])  # as in Table 1
        fitted = fit_many(X, members, rows=orders, recipe=recipe, center=CENTER, progress=progress)
        for order, one in zip(orders, fitted, strict=True):
            for kind, codes in (("codes", one.initial_codes), ("dec", one.codes)):
                in_order = np.empty_like(codes)
                in_order[order] = codes
                self._keep(kind, one.seed, in_order)

    def _learn_simclr(self, progress: Progress) -> None:
        from mheal.embed.simclr import encode

        found = encode(self.images, epochs=1 if self.quick else SIMCLR_EPOCHS, progress=progress)
        self._keep("simclr", 0, principal(found, COLUMNS))

    def _keep(self, kind: str, member: int, features: Floats) -> None:
        short = features.astype(np.float16)
        self._found[kind, member] = short.astype(np.float32)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(self._file(kind, member)) as part, part.open("wb") as file:
                np.savez(file, features=short, made=json.dumps(made(self.name, kind)))

    def _read(self, kind: str, member: int) -> None:
        file = self._file(kind, member) if self.folder is not None else None
        if file is None or not file.exists() or (kind, member) in self._found:
            return
        with np.load(file) as stored:
            same = json.loads(str(stored["made"])) == json.loads(json.dumps(made(self.name, kind)))
            if same and len(stored["features"]) == len(self.images):
                self._found[kind, member] = stored["features"].astype(np.float32)

    def _file(self, kind: str, member: int) -> Path:
        assert self.folder is not None
        return self.folder / f"{self.name}_{kind}_{member}.npz"


def made(name: str, kind: str) -> dict[str, Any]:
    """What features of a kind depend on, beside the images and the seed."""
    if kind == "simclr":
        return {"epochs": SIMCLR_EPOCHS, "columns": COLUMNS} | constants_of("simclr", "views")
    rate = {"rate": RATES[name]} if name in RATES else {}
    return {"epochs": EPOCHS[name], "batches": DEC_BATCHES, "center": CENTER} | rate | constants_of(*CLUSTERING)


def principal(features: Floats, columns: int) -> Floats:
    """So many columns that keep the most of all cosines, of unit length again."""
    if columns >= features.shape[1]:
        return features
    directions = np.linalg.eigh(features.T.astype(np.float64) @ features)[1][:, -columns:]
    kept = features @ directions.astype(np.float32)
    return kept / np.linalg.norm(kept, axis=1, keepdims=True)


def _member(kind: str, seed: int) -> int:
    return 0 if kind == "simclr" else seed % AUTOENCODERS
