"""`mheal strategies` and `mheal datasets`: lists of names."""

from pathlib import Path
from typing import Annotated

import typer

from .console import show_list
from .options import option

datasets = typer.Typer(help="The paper's datasets by name.\n\nExample: mheal datasets list", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A name from `mheal datasets list`.")]
FOLDER = "Folder of NAME.npz files. Default: $MHEAL_DATA, or scikit-learn's folder."
Folder = Annotated[Path | None, option("DIR", FOLDER, "--data")]


def strategies() -> None:
    """List the strategies: what each needs, what it does, and what it costs.

    Example: mheal strategies
    """
    from ..strategies import describe

    heads = ("name", "needs", "what it does", "cost (N rows, d columns)")
    show_list(heads, [(one.name, one.needs, one.summary, one.cost) for one in describe()])


@datasets.command("list")
def show(data: Folder = None) -> None:
    """List the datasets, and whether each is on this machine.

    Example: mheal datasets list
    """
    from ..datasets import DATASETS, path

    here = {name: "yes" if path(name, data).exists() else "no" for name in DATASETS}
    rows = [(name, one.about, str(one.openml_id), here[name]) for name, one in DATASETS.items()]
    show_list(("name", "what", "OpenML", "here"), rows)


@datasets.command()
def get(name: Name, data: Folder = None) -> None:
    """Download a dataset from OpenML, unless it is on this machine, and print the path of its file.

    Example: mheal datasets get magic04 --data datasets
    """
    from ..datasets import get as fetch

    print(fetch(name, data))


@datasets.command()
def path(name: Name, data: Folder = None) -> None:
    """Print the path of a dataset's file, whether or not it exists.

    Example: mheal datasets path magic04
    """
    from ..datasets import path as locate

    print(locate(name, data))
