"""The page of Table 1 and Figure 9: the paper's numbers beside ours, and its claims."""

from ...report import compare, percent, table
from .deep_page import BEST_MEAN, deep_section
from .images import DATASETS
from .names import DEC, DEEP, METHODS, RAW
from .numbers import BEST_OPTIMUM, GMM_LAST, LEAST_STD, PAPER, Accuracies, Claim, Line, interval, mean_sd, paper_lines
from .pixels import MAX_ITER

BEATS_KMEANS = Claim("SphericalKMeans beats K-means, mean over n", "mean", "SphericalKMeans", ("K-means",))
CLAIMS = (
    BEATS_KMEANS,
    BEST_OPTIMUM,
    LEAST_STD,
    GMM_LAST,
)


def page(found: Accuracies, quick: bool, deep_note: str) -> str:
    """The whole page, in Markdown; `deep_note` lists missing deep runs."""
    size = "Quick run: small sizes, not the paper's. " if quick else ""
    seeds, first, last = found.seeds(RAW), found.table[0], found.table[-1]
    return f"""# Table 1 and Figure 9: clustering accuracy
**Verdict:** the claim "{CLAIMS[0].words}" is {_short(found, CLAIMS[0], RAW[0])} on pixels with ten starts;
with {DEC}, "{BEST_MEAN.words}" is {_short(found, BEST_MEAN, DEC)}.

{size}{seeds} seeds, each with its own images and starts. Protocol: `mheal_reproduction.paper.table1.experiment`.
The paper seems to show single runs and does not say how many starts they had. We give the best of ten starts
(n_init=10) and a single one (n_init=1). All methods use pixels divided by 255;
[table1_variants](../table1_variants/README.md) compares them with pixels standardised as in §5.1. GMM uses 50 principal
components of the pixels and starts from a k-means whose iterations are not counted. Statistics over n are over the
sizes of Table 1, {first:,} to {last:,}; Figure 9 has smaller ones, too.

![Figure 9: accuracy against the number of images](figure9.png)

The curves on pixels in detail, with ten starts and with one:

![Table 1: accuracy on pixels against the number of images](table1.png)

## Claims
By how many points the claim holds (negative: by how many it fails), with a 95 % t interval over the seeds. Statistics
over the sizes are taken for each seed. Where n is the whole dataset, seeds differ by their starts only, so the interval
describes draws and starts, not other datasets.

{_claims(found)}

{_contradictions()}

## The paper's table beside ours
Statistics over the sizes, in per cent. "Mean of seeds" averages the seeds at each size first; "first seed" has one run
for each size, like the paper.

{_beside(found)}

## Mean ± standard deviation over the seeds, %
The last column is the gain in points from {first:,} images to {last:,}, with a 95 % interval.

{_by_size(found)}

{deep_section(found, deep_note)}

## Cost
Largest n, mean over the seeds: iterations of the best start, and seconds of all starts on one core of machines under
other load. The times are orders of magnitude, no benchmark.

{_cost(found)}
"""


def _short(found: Accuracies, claim: Claim, variant: str) -> str:
    """The verdict on each dataset, in short."""
    verdicts = [found.verdict(claim, name, variant) for name in DATASETS]
    if len(set(verdicts)) == 1:
        return f"{verdicts[0]} on both datasets"
    return " and ".join(f"{verdict} on {name}" for verdict, name in zip(verdicts, DATASETS, strict=True))


def _claims(found: Accuracies) -> str:
    rows = []
    for claim in CLAIMS:
        for name in DATASETS:
            paper = f"{100 * claim.lead(paper_lines(name, RAW[0])):+.1f}"
            rows.append([claim.words, name, paper, *(found.judge(claim, name, variant) for variant in RAW)])
    return table(["claim", "dataset", "paper", *(f"ours, {variant}" for variant in RAW)], rows)


def _contradictions() -> str:
    """Where the paper's own table contradicts its text."""
    against = []
    for claim in CLAIMS:
        for name in DATASETS:
            lines = paper_lines(name, RAW[0])
            if claim.lead(lines) < 0:
                best = max(claim.others, key=lambda m: claim.sign * getattr(lines[m], claim.column))
                values = [percent(getattr(lines[m], claim.column), 2) for m in (best, claim.leader)]
                against.append(f"{claim.words} – not on {name}, {best} {values[0]} against {values[1]}")
    return f"The paper's own table, without {DEC}, contradicts its text: {'; '.join(against)}."


def _beside(found: Accuracies) -> str:
    rows = []
    for name, line_name in PAPER:
        method, _, deep = line_name.partition("+")
        lines = {"paper": PAPER[name, line_name]}
        for variant in DEEP if deep else RAW:
            sizes, grids = found.grids(name, variant)
            if sizes:
                source = f"ours, {variant}, {{}}{found.partly(sizes)}"
                lines[source.format("mean of seeds")] = Line.over(sizes, grids[method].mean(axis=0))
                lines[source.format("first seed")] = Line.over(sizes, grids[method][0])
        for source, line in lines.items():
            rows.append([name, line_name, source, f"{line.at:,}", *(f"{100 * value:.2f}" for value in line[1:])])
    return table(["dataset", "method", "source", "best n", "optimum", "mean", "std"], rows)


def _by_size(found: Accuracies) -> str:
    shown = found.sizes(DATASETS[0], METHODS[0], RAW[0])
    rows = []
    for name in DATASETS:
        for variant in RAW:
            for method, grid in found.grids(name, variant)[1].items():
                cells = [mean_sd(found.column(name, method, variant, n)) for n in shown]
                gain = f"{interval(grid[:, -1] - grid[:, 0])}: {compare(grid[:, 0], grid[:, -1])}"
                rows.append([name, method, variant, *cells, gain])
    return table(["dataset", "method", "starts", *(f"n = {n:,}" for n in shown), "grows?"], rows)


def _cost(found: Accuracies) -> str:
    rows = []
    for name in DATASETS:
        for method in METHODS:
            for variant in RAW:
                line = (name, method, variant, found.table[-1])
                iterations, seconds = (found.column(*line, of) for of in ("iterations", "seconds"))
                stopped = f"{(iterations >= MAX_ITER).sum()} of {len(iterations)}"
                rows.append([name, method, variant, f"{iterations.mean():.0f}", stopped, f"{seconds.mean():.2f}"])
    return table(["dataset", "method", "starts", "iterations", f"stopped at {MAX_ITER}", "seconds"], rows)
