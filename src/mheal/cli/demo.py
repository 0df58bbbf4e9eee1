"""`mheal demo`: compare picks of scikit-learn's digits with random ones, in a table, two pictures and raw numbers."""

from pathlib import Path
from typing import Annotated

from .console import messages, show_report
from .options import SPLITS, Force, Quiet, Seed, option

OUT = Path("mheal-demo")


def demo(
    out: Annotated[Path, option("DIR", "Folder for curves.png, picks.png and runs.csv.", "--out", "-o")] = OUT,
    budget: Annotated[int, option("N", "Number of labels.", "--budget", "-b", min=10)] = 100,
    seeds: Annotated[int, option("N", SPLITS, min=1)] = 10,
    seed: Seed = 0,
    examples: Annotated[bool, option(None, "Write example files into this folder; pick nothing.", "--files")] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Pick digits to label by four strategies, train the same model on each set of picks, and compare.

    With --files: writes digits.csv, digits.npy, labels.csv, proba.npy, a folder of images and texts.txt, on which the
    examples in the help of all commands run. Other files are never overwritten.

    Example: mheal demo --seeds 10

    Example: mheal demo --files
    """
    console = messages(quiet)
    if examples:
        from ..evaluate.digits import write_files

        console.print(f"Written: {', '.join(write_files(Path()))}")
        return
    from ..evaluate.digits import draw_picks, run, save
    from ..evaluate.report import metric_table
    from ..runtime.outputs import SUFFIX, Outputs
    from ..runtime.progress import as_progress

    files = [out / name for name in ("curves.png", "picks.png", "runs.csv")]
    listed, record = [("--out", file) for file in files], out / f"demo{SUFFIX}"
    with Outputs(listed, force=force, record=record, make_folder=True) as outputs:
        with as_progress(True, console) as progress:
            curves = run(budget, range(seed, seed + seeds), progress)
        with outputs.writing(*files) as (curves_png, picks_png, runs_csv):
            curves.plot(curves_png)
            draw_picks(budget, seed, picks_png)
            save(curves, runs_csv)
    if not quiet:
        show_report([metric_table(curves, "sd")], [curves.verdict()])
    console.print(f"Written: {', '.join(map(str, files))}")
