"""`mheal compare`: does it beat random on data of this kind, and how many labels does it save?"""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console

from ..exceptions import UserError
from .console import messages, show_report
from .options import Estimator, PoolOptions, Quiet, from_fields, names, option, whole_numbers

if TYPE_CHECKING:
    from .compare_runs import Runs, Unit

BUDGETS = (10, 20, 50, 100, 200)
TARGET = (
    "The labels: a column, an array of the .npz file, the word folder where each class of images has one, or a file "
    "(.npy, .npz:NAME, .txt, .csv, .tsv, .parquet, .jsonl)."
)
STRATEGIES = "Names, or all: those that train no network of their own. Random is always there."
STEPS = "Numbers of labels. Default: 10 to 200, at most half the pool."
METRIC = "What is measured: accuracy, balanced_accuracy, f1_macro, or any other scorer of scikit-learn."
OUT = Path("compare")
FILES = ("curves.csv", "curves.png", "report.html", "settings.json")
DEFAULT_SCALING = "rows of unit length as they are, others by standardised columns"


@from_fields
def compare(
    options: PoolOptions,
    target: Annotated[str, option("COLUMN|FILE", TARGET, "--target", "-t", show_default=False)],
    strategies: Annotated[str, option("A,B", STRATEGIES)] = "mheal,random,coreset,kmeans",
    budgets: Annotated[str | None, option("N,M", STEPS)] = None,
    seeds: Annotated[int, option("N", "Random splits to average over.", min=1, max=1000)] = 5,
    estimator: Estimator = "logistic",
    metric: Annotated[str, option("NAME", METRIC)] = "accuracy",
    out: Annotated[Path, option("DIR", "Folder for the results; finished runs in it are kept.", "--out", "-o")] = OUT,
    max_pool: Annotated[int | None, option("N", "Pick from at most so many rows, to be quicker.", min=2)] = None,
    quiet: Quiet = False,
) -> None:
    """Find out on labelled data whether picking beats random, and by how much.

    Hides the labels, lets each strategy pick rows to label, trains a model on them and tests it on held-out rows, on
    several splits. Prints the metric, labels saved and paired tests against random, and writes curves.csv,
    curves.png, report.html and settings.json. If interrupted, the same command resumes; strategies, budgets and seeds
    can be added later.

    Example: mheal compare digits.csv --target label --budgets 20,50 --seeds 3 --out compare

    Example: mheal compare digits.csv -t label --estimator sklearn.svm:LinearSVC --metric f1_macro --seeds 3 -o svm
    """
    from .._version import __version__
    from ..evaluate import Curves, report, runs, split_sizes
    from ..evaluate.text import metric_table, sentences, summary_table
    from ..io.targets import read_target
    from .compare_runs import Runs
    from .pool import checksum, read, say_source, usable

    console = messages(quiet)
    chosen = _strategies(strategies)
    wanted = None if budgets is None else whole_numbers(budgets, "--budgets")
    pool = options.pool
    source = read(options, console, target=target)
    labels = read_target(target, pool, source)
    X = usable(source.X, pool)  # checked before rows are left out, so that messages name rows of the file
    missing = len(X) - len(labels.rows)
    X = X[labels.rows] if missing else X
    n_pool, n_test = split_sizes(labels.labels, max_pool=max_pool)
    of_labels = repr((labels.rows.tolist(), labels.labels.tolist())).encode()
    settings: dict[str, Any] = dict(
        mheal=__version__, pool=pool, target=target, estimator=estimator, metric=metric, max_pool=max_pool,
        columns=names(options.columns), without=names(options.without), id=options.id, text=options.text,
        embed=options.embed,
        pool_sha256=checksum(source.files), labels_sha256=hashlib.sha256(of_labels).hexdigest(),
        features=f"{source.features}; {DEFAULT_SCALING}", strategies=chosen, seeds=seeds,
    )  # fmt: skip
    kept = Runs.find(out, settings)
    usual = [budget for budget in BUDGETS if 2 * budget <= n_pool] or [max(1, n_pool // 2)]
    steps = sorted({*(usual if wanted is None else wanted), *kept.budgets})
    settings["budgets"] = steps
    units = {(name, seed) for name in chosen for seed in range(seeds)}
    done = kept.done(steps) & units
    todo = runs(X, labels.labels, chosen, steps, estimator, seeds, metric, max_pool=max_pool, done=done)

    # Everything is checked: from here on there are messages, and files.
    say_source(pool, source, console)
    if missing:
        console.print(f"{labels.description}: {missing:,} rows without a label are left out")
    if kept.units:
        console.print(f"{out}: {len(done)} of {len(units)} runs found")
    if wanted is not None and len(steps) > len(set(wanted)):
        console.print(f"{out}: its runs are for {', '.join(map(str, steps))} labels; for fewer, choose another --out")
    kept.begin()
    _run(todo, kept, chosen, units, steps, console)
    note = (
        f"Data: {Path(pool).name}, {len(X):,} labelled rows, {source.features}. Labels: {labels.description}. "
        f"Each split has a pool of {n_pool:,} rows and a test set of {n_test:,}."
    )
    curves = Curves([row for seed in range(seeds) for name in chosen for row in kept.units[name, seed]], metric)
    curves.plot(out / "curves.png")
    report(curves, out / "report.html", f"Which rows to label: {Path(pool).name}", [note])
    if not quiet:
        show_report([metric_table(curves), summary_table(curves, "random")], sentences(curves))
    console.print(f"Written: {', '.join(str(out / name) for name in FILES)}")


def _strategies(listed: str) -> list[str]:
    """The strategies that were named, and random, against which everything is measured."""
    from ..strategies import get
    from ..strategies import names as known

    every = [name for name in known() if not get(name).needs_torch]
    chosen = every if listed == "all" else list(dict.fromkeys(names(listed) or ()))
    if not chosen:
        raise UserError("--strategies is empty: name at least one (`mheal strategies` lists them), or leave it out")
    for name in chosen:
        get(name)
    return chosen if "random" in chosen else [*chosen, "random"]


def _run(todo: Any, kept: "Runs", chosen: list[str], units: set["Unit"], steps: list[int], console: Console) -> None:
    """Run what is missing of `units`, keeping each as soon as it is finished."""
    from ..runtime.progress import as_progress

    found = len(kept.done(steps) & units)
    try:
        with as_progress(True, console) as progress:
            progress(found, len(units), "comparing")
            for done, unit in enumerate(todo, found + 1):
                kept.add(unit, chosen)
                progress(done, len(units), "comparing")
    except KeyboardInterrupt:
        found = len(kept.done(steps) & units)
        console.print(f"{found} of {len(units)} runs are kept in {kept.folder}: the same command resumes from there")
        raise
