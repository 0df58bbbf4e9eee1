"""`mheal datasets`: the paper's datasets by name."""

from pathlib import Path
from typing import Annotated

import typer

from .console import show_list
from .options import option

datasets = typer.Typer(help="The paper's datasets by name.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A name from `mheal datasets list`.")]
FOLDER = "Folder of NAME.npz files. Default: $MHEAL_DATA, or scikit-learn's folder."
Folder = Annotated[Path | None, option("DIR", FOLDER, "--data")]


@datasets.command("list")
def show(data: Folder = None) -> None:
    """List the datasets, and which of them are here.

    Example: mheal datasets list
    """
    from ..datasets import DATASETS, path

    rows = [
        (name, one.about, str(one.openml_id), "yes" if path(name, data).exists() else "no")
        for name, one in DATASETS.items()
    ]
    show_list(("name", "what", "OpenML", "here"), rows)


@datasets.command()
def get(name: Name, data: Folder = None) -> None:
    """Download a dataset from OpenML, unless it is here, and print its file.

    Example: mheal datasets get magic04 --data datasets
    """
    from ..datasets import get as fetch

    print(fetch(name, data))


@datasets.command()
def path(name: Name, data: Folder = None) -> None:
    """Print where a dataset's file is or would be.

    Example: mheal datasets path magic04
    """
    from ..datasets import path as locate

    print(locate(name, data))
