"""`mheal compare`: does it beat random on data of this kind, and how many labels does it save?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import UserError
from ._common import (
    POOL_HELP,
    Columns,
    Embed,
    Id,
    Quiet,
    Text,
    Without,
    checksum,
    messages,
    names,
    progress_bar,
    results,
    show_table,
    whole_numbers,
)

if TYPE_CHECKING:
    from rich.console import Console

    from ..evaluate import Curves
    from ._compare_runs import Runs, Unit

USUAL = ("mheal", "random", "coreset", "kmeans")
BUDGETS = (10, 20, 50, 100, 200)


def compare(
    pool: Annotated[str, typer.Argument(metavar="POOL", help=POOL_HELP)],
    target: Annotated[
        str,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN|FILE",
            help="The labels: a column, an array of the .npz file, the word folder where each class of images has one, "
            "or a file (.npy, .npz:NAME, .txt, .csv, .tsv, .parquet, .jsonl).",
            show_default=False,
        ),
    ],
    strategies: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Names, or all: those that train no network of their own. Random is always there."
        ),
    ] = ",".join(USUAL),
    budgets: Annotated[
        str | None, typer.Option(metavar="N,M", help="Numbers of labels. Default: 10 to 200, at most half the pool.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Random splits to average over.")] = 5,
    model: Annotated[
        str,
        typer.Option(metavar="NAME", help="What learns from the labels: logistic, svm, knn, forest, logistic+knn."),
    ] = "logistic",
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write to, or to go on in.")] = Path(
        "compare"
    ),
    max_pool: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Pick from at most so many rows, to be quicker.")
    ] = None,
    columns: Columns = None,
    without: Without = None,
    id_column: Id = None,
    text: Text = None,
    embed: Embed = None,
    quiet: Quiet = False,
) -> None:
    """Find out on labelled data whether picking beats random, and by how much.

    Hides the labels, lets each strategy buy some, trains a model on them and
    tests it on held-out rows; several times, on other splits. Prints accuracy,
    labels saved and paired tests against random, and writes curves.csv,
    curves.png, report.html and settings.json. If interrupted, the same command
    goes on where it was; strategies, budgets and seeds can be added later.

    Example: mheal compare digits.csv --target label --budgets 20,50 --seeds 3 --out compare
    """
    import mheal

    from ..evaluate import runs
    from ..evaluate.simulate import split_sizes
    from ._compare_data import read_labelled
    from ._compare_runs import UNIT_ROWS, Runs

    console = messages(quiet)
    chosen = _strategies(strategies)
    asked = None if budgets is None else whole_numbers(budgets, "--budgets")
    data = read_labelled(
        pool, target, console, columns=columns, without=without, id_column=id_column, text=text, embed=embed
    )
    n_pool, n_test = split_sizes(data.y, max_pool=max_pool)
    settings: dict[str, Any] = dict(
        mheal=mheal.__version__, pool=pool, target=target, model=model, max_pool=max_pool, columns=names(columns),
        without=names(without), id=id_column, text=text, embed=embed, pool_sha256=checksum(data.source.files),
        labels_sha256=data.labels_sha256, features=f"{data.source.features}; {UNIT_ROWS}", strategies=chosen,
        seeds=seeds,
    )  # fmt: skip
    kept = Runs.find(out, settings)
    steps = sorted({*(_default_budgets(n_pool) if asked is None else asked), *kept.budgets})
    settings["budgets"] = steps
    units = {(name, seed) for name in chosen for seed in range(seeds)}
    done = kept.done(steps) & units
    todo = runs(data.X, data.y, chosen, steps, model, seeds, max_pool=max_pool, done=done)

    # Everything is checked: from here on there are messages, and files.
    data.say(console)
    if kept.units:
        console.print(f"{out}: {len(done)} of {len(units)} runs found", markup=False)
    if asked is not None and len(steps) > len(set(asked)):
        listed = ", ".join(str(step) for step in steps)
        console.print(f"{out}: its runs are for {listed} labels; for fewer, choose another --out", markup=False)
    kept.begin()
    _carry_out(todo, kept, chosen, units, steps, console)
    curves = kept.curves(chosen, seeds)
    _write(curves, out, Path(pool).name, data.note(n_pool, n_test))
    if not quiet:
        _print(curves)
    console.print(f"Written: {', '.join(str(out / name) for name in FILES)}", markup=False)


FILES = ("curves.csv", "curves.png", "report.html", "settings.json")


def _strategies(listed: str) -> list[str]:
    """The strategies asked for, and random, against which everything is measured."""
    from ..strategies import get
    from ..strategies import names as known

    every = [name for name in known() if not get(name).needs_torch]
    chosen = every if listed == "all" else list(dict.fromkeys(names(listed) or ()))
    if not chosen:
        raise UserError("--strategies is empty: name at least one (`mheal strategies` lists them), or leave it out")
    for name in chosen:
        get(name)
    return chosen if "random" in chosen else [*chosen, "random"]


def _default_budgets(n_pool: int) -> list[int]:
    return [budget for budget in BUDGETS if 2 * budget <= n_pool] or [max(1, n_pool // 2)]


def _carry_out(
    todo: Any, runs: "Runs", chosen: list[str], units: set["Unit"], budgets: list[int], console: "Console"
) -> None:
    """Run what is missing of `units`, keeping each as soon as it is finished."""
    try:
        with progress_bar(console) as progress:
            found = len(runs.done(budgets) & units)
            progress(found, len(units), "comparing")
            for done, unit in enumerate(todo, found + 1):
                runs.add(unit, chosen)
                progress(done, len(units), "comparing")
    except KeyboardInterrupt:
        kept = len(runs.find(runs.folder, runs.settings).done(budgets) & units)  # what is written, not what is counted
        console.print(f"{kept} of {len(units)} runs are kept in {runs.folder}: the same command goes on from there")
        raise


def _write(curves: "Curves", out: Path, name: str, note: str) -> None:
    from ..evaluate import report

    curves.plot(out / "curves.png")
    report(curves, out / "report.html", f"Which labels to buy: {name}", [note])


def _print(curves: "Curves") -> None:
    from ..evaluate import cells
    from ..evaluate.verdict import sentences

    out = results()
    for table in (cells.accuracies(curves), cells.summary(curves, "random")):
        show_table(out, table.caption, table.heads, table.rows)
    for sentence in sentences(curves):
        out.print(sentence, soft_wrap=True, markup=False)
