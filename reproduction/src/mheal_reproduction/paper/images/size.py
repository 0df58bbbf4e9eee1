"""The size of a run of Tables 3, 4 and 5: images, labels, and lengths of training."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...networks.recipes import Recipe, cifar, mnist
from .published import BUDGETS

RATES = {"cifar10": 0.1, "cifar100": 0.1}  # the autoencoder's learning rate; the usual 1 often diverges on photographs


@dataclass(frozen=True)
class Size:
    """The settings that a quick run makes smaller.

    columns : numbers of labels at which networks are tested, by dataset
    images : of the training set and of the test set, the first ones; None: all
    steps : of training a network; None: as many as its recipe says
    autoencoder_epochs, dec_batches, widths : of the autoencoder whose codes are features
    simclr_epochs, simclr_width, simclr_columns : of SimCLR, and how many principal columns are kept
    vaal_batches : of VAAL's autoencoder
    keep_features : whether features are saved beside the images
    """

    columns: Mapping[str, tuple[int, ...]]
    images: int | None
    steps: int | None
    autoencoder_epochs: Mapping[str, int]
    dec_batches: int
    simclr_epochs: int
    vaal_batches: int
    keep_features: bool
    widths: tuple[int, ...] = (500, 500, 2000)
    simclr_width: int = 64
    simclr_columns: int = 128

    def recipe(self, name: str, labels: int) -> Recipe:
        """The recipe of networks, which depends only on the dataset and the number of labels."""
        recipe = mnist() if name == "mnist" else cifar(labels)
        return recipe if self.steps is None else replace(recipe, steps=self.steps, warm_up=0)

    def autoencoder(self, name: str) -> dict[str, Any]:
        """The settings that the autoencoder's features depend on, beside images and seed."""
        return {
            "epochs": self.autoencoder_epochs[name],
            "batches": self.dec_batches,
            "rate": RATES.get(name, 1.0),
            "widths": self.widths,
        }

    def simclr(self) -> dict[str, Any]:
        """The settings that SimCLR's features depend on, beside the images."""
        return {"epochs": self.simclr_epochs, "width": self.simclr_width, "columns": self.simclr_columns}

    def protocol(self) -> dict[str, Any]:
        """All settings, as they are stored in protocol.json."""
        found: dict[str, Any] = {"simclr": self.simclr(), "vaal": {"batches": self.vaal_batches}}
        for name, columns in self.columns.items():
            recipes = {n: asdict(self.recipe(name, n)) for n in columns}
            found[name] = {"recipes": recipes, "autoencoder": self.autoencoder(name)}
        return found


FULL = Size(
    columns={"mnist": (20, 50, 100, 150, 200, 300, 400, 500), "cifar10": BUDGETS["cifar10"],
             "cifar100": BUDGETS["cifar100"]},  # the tables', and more for the curves of MNIST
    images=None,
    steps=None,
    autoencoder_epochs={"mnist": 500, "cifar10": 100, "cifar100": 100},
    dec_batches=12_000,
    simclr_epochs=128,
    vaal_batches=1000,
    keep_features=True,
)  # fmt: skip
QUICK = Size(
    columns={"mnist": (20, 30, 50)},
    images=2000,
    steps=30,
    autoencoder_epochs={"mnist": 5},
    dec_batches=20,
    simclr_epochs=1,
    vaal_batches=1,
    keep_features=False,
    widths=(64, 64, 128),
)
