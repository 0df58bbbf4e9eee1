"""`mheal compare`: whether a strategy beats random on data of this kind, and how many labels it saves."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import UserError, how_many
from ..runtime.outputs import Outputs, checksum
from .console import messages, show_report
from .options import SPLITS, Estimator, Force, PoolOptions, Quiet, Seed, from_fields, names, option

if TYPE_CHECKING:
    from ..evaluate import Row

Unit = tuple[str, int]  # strategy, seed
BUDGETS = (10, 20, 50, 100, 200)
TARGET = (
    "The labels: a column, an array of the .npz file, the word folder if images are sorted by class, or a file "
    "(.npy, .npz:NAME, .txt, .csv, .tsv, .parquet, .jsonl)."
)
STRATEGIES = "Names, or all, which leaves out those that train a network. random is always added."
STEPS = "Numbers of labels at which to compare. Default: 10 to 200, at most half the pool."
METRIC = "Metric: accuracy, balanced_accuracy, f1_macro, or another scorer of scikit-learn."
OUT = Path("compare")
FILES = ("curves.csv", "curves.png", "report.html")
SETTINGS = "settings.json"  # the record of the files in the folder
FREE = ("mheal", "pool", "target", "strategies", "seeds", "seed")  # settings in which runs in one folder may differ
DEFAULT_SCALING = "rows of unit length as they are, others by standardised columns"


@from_fields
def compare(
    context: typer.Context,
    options: PoolOptions,
    target: Annotated[str, option("COLUMN|FILE", TARGET, "--target", "-t", show_default=False)],
    strategies: Annotated[str, option("A,B", STRATEGIES)] = "mheal,random,coreset,kmeans",
    budgets: Annotated[str | None, option("N,M", STEPS)] = None,
    seeds: Annotated[int, option("N", SPLITS, min=1, max=1000)] = 5,
    seed: Seed = 0,
    estimator: Estimator = "logistic",
    metric: Annotated[str, option("NAME", METRIC)] = "accuracy",
    out: Annotated[Path, option("DIR", "Folder for the results; finished runs in it are kept.", "--out", "-o")] = OUT,
    max_pool: Annotated[int | None, option("N", "Pick from at most N rows, to save time.", min=2)] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Measure on labelled data whether strategies beat random picks, and by how much.

    In each split of the data, the labels are hidden, each strategy picks rows to label, and a model is trained on them
    and tested on held-out rows. Prints the metric, labels saved and paired tests against random, and writes curves.csv,
    curves.png, report.html and settings.json. The same command resumes an interrupted run; strategies, budgets and
    seeds can be added later.

    Example: mheal compare digits.csv --target label --budgets 20,50 --seeds 3 --out compare

    Example: mheal compare digits.csv -t label --estimator sklearn.svm:LinearSVC --metric f1_macro --seeds 3 -o svm
    """
    from .._version import __version__
    from ..evaluate import Curves, report, runs, split_sizes
    from ..evaluate.report import metric_table, sentences, summary_table
    from ..io.locate import named_array
    from ..io.targets import read_target
    from ..runtime.progress import as_progress
    from .pool import answers_in, counted, inputs, print_labels, print_source, read, usable

    console = messages(quiet)
    chosen, wanted = _strategies(strategies), _budgets(budgets)
    pool = options.pool
    files = curves_csv, curves_png, page = [out / name for name in FILES]
    used = inputs(pool=pool, target=str(named_array(target)[0]))
    outputs = context.with_resource(
        Outputs([("--out", f) for f in files], used, force=force, record=out / SETTINGS, make_folder=True)
    )
    source = read(options, console, target=target)
    labelled, labels, described = read_target(target, pool, source)
    if answers := answers_in(options, source, labels, labelled):
        source = read(options, console, target=target, answers=answers)
    X = usable(source.X, pool)  # checked before rows are left out, so that messages name rows of the file
    missing = len(X) - len(labelled)
    X = X[labelled] if missing else X
    n_pool, n_test = split_sizes(labels, max_pool=max_pool)
    of_labels = repr((labelled.tolist(), labels.tolist())).encode()
    settings: dict[str, Any] = dict(
        mheal=__version__, pool=pool, target=target, estimator=estimator, metric=metric, max_pool=max_pool,
        columns=options.columns, without=options.without, id=options.id, text=options.text, embed=options.embed,
        pool_sha256=checksum(source.files), labels_sha256=hashlib.sha256(of_labels).hexdigest(),
        features=f"{source.features}; {DEFAULT_SCALING}", strategies=chosen, seeds=seeds, seed=seed,
    )  # fmt: skip
    splits = range(seed, seed + seeds)
    kept = _found(out, settings)
    measured = {unit: sorted(row["labels"] for row in rows) for unit, rows in kept.items()}
    usual = [budget for budget in BUDGETS if 2 * budget <= n_pool] or [max(1, n_pool // 2)]
    steps = sorted({*(usual if wanted is None else wanted), *(labels for each in measured.values() for labels in each)})
    settings["budgets"] = steps
    units = [(name, split) for split in splits for name in chosen]
    # A run with other budgets is repeated, since some strategies learn from the labels at each budget.
    done = {unit for unit in units if measured.get(unit) == steps}
    todo = runs(X, labels, chosen, steps, estimator, splits, metric, max_pool=max_pool, done=done)

    # All checks are done: only now messages are printed and files written.
    print_source(pool, source, console)
    print_labels(described, labels, console)
    if missing:
        console.print(f"{described}: {how_many(missing, 'row')} without a label left out")
    if kept:
        console.print(f"{out}: {len(done)} of {len(units)} runs found")
    if wanted is not None and len(steps) > len(set(wanted)):
        console.print(f"{out}: its runs are for {', '.join(map(str, steps))} labels; for fewer, choose another --out")
    with outputs.writing(about=settings):
        pass  # written first, so that runs never lack their settings
    count = len(done)
    try:
        with as_progress(True, console) as progress:
            progress(count, len(units), "comparing")
            for rows in todo:
                kept[rows[0]["strategy"], rows[0]["seed"]] = rows
                with outputs.writing(curves_csv, about=settings) as parts:
                    _save(kept, chosen, parts[0])
                count += 1
                progress(count, len(units), "comparing")
    except KeyboardInterrupt:
        console.print(f"{count} of {len(units)} runs are kept in {out}: the same command resumes from there")
        raise
    note = (
        f"Data: {Path(pool).name}, {len(X):,} labelled rows, {source.features}. "
        f"Labels: {described}; classes: {counted(dict(Counter(labels.tolist()).most_common()))}. "
        f"Each split has a pool of {n_pool:,} rows and a test set of {n_test:,}."
    )
    curves = Curves([row for unit in units for row in kept[unit]], metric)
    with outputs.writing(curves_png, page, about=settings) as parts:
        curves.plot(parts[0])
        report(curves, parts[1], f"Which rows to label: {Path(pool).name}", [note])
    if not quiet:
        tables = [metric_table(each) for each in (curves, *curves.beside)]
        show_report([*tables, summary_table(curves, "random")], sentences(curves))
    console.print(f"Written: {', '.join(str(out / name) for name in (*FILES, SETTINGS))}")


def _strategies(listed: str) -> list[str]:
    """The strategies that were named, and random, with which they are compared."""
    from ..strategies import get
    from ..strategies import names as known

    if listed == "all":
        return [name for name in known() if not get(name).needs_torch]
    chosen = dict.fromkeys(names(listed) or ())
    if not chosen:
        raise UserError("--strategies is empty: name at least one (`mheal strategies` lists them), or leave it out")
    for name in chosen:
        get(name)  # raises an error for an unknown strategy
    return list(chosen | {"random": None})


def _budgets(listed: str | None) -> list[int] | None:
    """The numbers of labels that were named; None: the default."""
    try:
        return None if listed is None else [int(number) for number in names(listed) or ()]
    except ValueError:
        raise UserError(f"--budgets takes whole numbers separated by commas, got {listed!r}") from None


def _found(folder: Path, settings: dict[str, Any]) -> dict[Unit, list["Row"]]:
    """The finished runs in the folder, by strategy and seed; refuses runs with other settings."""
    from ..evaluate import Curves

    if not (file := folder / FILES[0]).exists():
        return {}
    remedy = "choose another --out, or delete that folder"
    try:
        before = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        changed = next((name for name in settings if name not in FREE and before[name] != settings[name]), None)
    except (FileNotFoundError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError) as error:
        lacking = "is there, but no settings.json with all settings of its runs"
        raise UserError(f"{file} {lacking}: {remedy}") from error
    if changed is not None:
        was, now = ("unset" if value is None else value for value in (before[changed], settings[changed]))
        others = dict(pool_sha256="another pool", labels_sha256="other labels", features=f"other features ({was})")
        option = f"--{changed.replace('_', '-')} {was} instead of {now}"
        raise UserError(f"{folder} holds runs with {others.get(changed, option)}: {remedy}")
    units: dict[Unit, list[Row]] = {}
    for row in Curves.from_csv(file).rows:
        units.setdefault((row["strategy"], row["seed"]), []).append(row)
    return units


def _save(units: dict[Unit, list["Row"]], strategies: list[str], file: Path) -> None:
    """Rewrite the whole file, sorted by seed and strategy. A kill at any moment leaves only complete runs."""
    from ..evaluate import Curves

    place = {name: at for at, name in enumerate(strategies)}
    order = sorted(units, key=lambda unit: (unit[1], place.get(unit[0], len(place)), unit[0]))
    Curves([row for unit in order for row in units[unit]]).save_csv(file)
