"""The part of Table 1's page about its lower half: clusters of the codes of an autoencoder."""

from collections import Counter
from typing import NamedTuple

from ...report import Floats, percent, table
from .images import DATASETS
from .names import DEC, DEEP, METHODS, MOVED, RAW, full
from .numbers import BEST_OPTIMUM, GMM_LAST, LEAST_STD, PAPER, Accuracies, Claim, mean_sd, paper_lines

GOOD_MODE = 0.95  # accuracy of a DEC run on MNIST that did not merge two digits
BEST_MEAN = Claim("SphericalKMeans has the best mean over n", "mean", "SphericalKMeans", ("K-means", "GMM"))
CLAIMS = (BEST_OPTIMUM, BEST_MEAN, LEAST_STD, GMM_LAST)


class Target(NamedTuple):
    """An accuracy that SphericalKMeans should reach at the largest n."""

    name: str
    variant: str
    what: str  # "best run" or "mean"
    accuracy: float


TARGETS = (
    Target("mnist", DEC, "best run", 0.96),
    Target("mnist", MOVED, "mean", 0.96),
    Target("fashion_mnist", DEC, "best run", 0.63),
    Target("fashion_mnist", MOVED, "best run", 0.63),
)


def deep_section(found: Accuracies, note: str) -> str:
    """The sections about both variants; `note` lists missing runs."""
    title = f"## Deep clustering: {DEC} and {MOVED}"
    if not found.rows(DEEP):
        return f"""{title}
There are no rows of the deep methods, so the paper's {DEC} is not judged. {note}"""
    return f"""{title}
Each method clusters the codes of an autoencoder (GMM from one start, SphericalKMeans by directions from the origin),
and DEC starts from these clusters. {DEC} is the paper's. {MOVED}, ours, moves the images a little whenever the network
sees them, and is run at the largest n only.
Protocol: `mheal_reproduction.paper.table1.deep`, its numbers in `deep/protocol.json`. {note or "All runs are there."}

### Claims about deep clustering
As above. "On pixels" refers to {RAW[0]} on the same images.

{_claims(found)}

### Our own targets
SphericalKMeans with n = {found.table[-1]:,}. On MNIST, DEC either separates all digits (the good mode, accuracy of at
least {GOOD_MODE}) or merges some. `results/dec` compares other starts.

{_targets(found)}

{_runs(found)}

### Time
Elapsed time of all runs, autoencoders included. Several runs shared a GPU, so these are upper limits of its use.

{_time(found)}"""


def _claims(found: Accuracies) -> str:
    rows = []
    for claim in CLAIMS:
        for name in DATASETS:
            paper = f"{100 * claim.lead(paper_lines(name, DEC)):+.1f}"
            rows.append([claim.words, name, paper, *(found.judge(claim, name, variant) for variant in DEEP)])
    for method in METHODS:
        for name in DATASETS:
            gain = PAPER[name, full(method, DEC)].mean - PAPER[name, method].mean
            ours = [_gain(found, name, method, variant) for variant in DEEP]
            rows.append([f"{method} is better on codes than on pixels, mean over n", name, f"{100 * gain:+.1f}", *ours])
    return table(["claim", "dataset", f"paper, {DEC}", *(f"ours, {variant}" for variant in DEEP)], rows)


def _gain(found: Accuracies, name: str, method: str, variant: str) -> str:
    """The gain of codes over pixels, paired by seed."""
    sizes, grids = found.common(name, [(method, RAW[0]), (method, variant)])
    return found.described(grids[1].mean(axis=1) - grids[0].mean(axis=1) if grids else [], sizes)


def _targets(found: Accuracies) -> str:
    rows = []
    for target in TARGETS:
        values = found.column(target.name, "SphericalKMeans", target.variant, found.table[-1])
        verdict = "no rows"
        if len(values):
            reached = (values.max() if target.what == "best run" else values.mean()) >= target.accuracy
            verdict = "reached" if reached else "not reached"
        wanted = f"{target.what} ≥ {100 * target.accuracy:.0f} %"
        rows.append([target.name, target.variant, wanted, _summary(target.name, values), verdict])
    return table(["dataset", "variant", "target", "ours, %", "verdict"], rows)


def _summary(name: str, values: Floats) -> str:
    if not len(values):
        return "–"
    text = f"best {percent(values.max(), 2)}, mean {percent(values, 2)} of {len(values)}"
    good = values[values >= GOOD_MODE]
    if name != "mnist":
        return text
    return f"{text}; {len(good)} in the good mode" + (f", their mean {percent(good, 2)}" if len(good) else "")


def _runs(found: Accuracies) -> str:
    """A section a variant."""
    header = ["dataset", "method", "n", "runs", "mean ± sd, %", "best, %", "before DEC, %", "good mode"]
    sections = []
    for variant in DEEP:
        rows = [
            [name, full(method, variant), f"{n:,}", *_cells(found, name, method, variant, n)]
            for name in DATASETS
            for method in METHODS
            for n in found.sizes(name, method, variant)
        ]
        about = f"Before DEC: {', '.join(METHODS)} on the codes of the autoencoder alone."
        sections.append(f"### {variant}\n{about}\n\n{table(header, rows)}" if rows else f"### {variant}\nNo rows yet.")
    return "\n\n".join(sections)


def _cells(found: Accuracies, name: str, method: str, variant: str, n: int) -> list[str]:
    values, before = (found.column(name, method, variant, n, of) for of in ("accuracy", "accuracy_before"))
    good = f"{(values >= GOOD_MODE).sum()} of {len(values)}" if name == "mnist" else "–"
    return [str(len(values)), mean_sd(values), percent(values.max()), mean_sd(before), good]


def _time(found: Accuracies) -> str:
    runs, seconds = Counter[str](), Counter[str]()
    for row in found.rows(DEEP):
        runs[row["device"]] += 1
        seconds[row["device"]] += row["seconds"]
    return table(["device", "runs", "minutes"], ([d, str(runs[d]), f"{seconds[d] / 60:.1f}"] for d in sorted(runs)))
