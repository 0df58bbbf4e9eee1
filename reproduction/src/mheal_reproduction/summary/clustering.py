"""Table 1 and Figure 9: clustering accuracy on pixels and with DEC."""

from collections.abc import Iterator

from ..paper.table1.deep_page import BEST_MEAN, GOOD_MODE
from ..paper.table1.images import DATASETS, table_sizes
from ..paper.table1.names import DEC, METHODS, MOVED, RAW, full
from ..paper.table1.numbers import BEST_OPTIMUM, GMM_LAST, LEAST_STD, PAPER, Accuracies, Claim
from ..paper.table1.page import BEATS_KMEANS
from ..report import Floats, percent
from .entries import Entry, Results, by_name, dataset, judged, span

OURS = "SphericalKMeans"
MNIST, FASHION = DATASETS


def entries(results: Results) -> Iterator[Entry]:
    """On pixels, then with an autoencoder and DEC."""
    found = Accuracies(results.rows("table1") + results.rows("table1/deep"), table_sizes(quick=False))
    last, ten = found.table[-1], RAW[0]

    def verdicts(claim: Claim, variant: str) -> str:
        return by_name({dataset(name): found.verdict(claim, name, variant) for name in DATASETS})

    def means(method: str, variant: str = ten) -> list[str]:
        return [percent(_mean(found, name, method, variant)) for name in DATASETS]

    def entry(claim: str, verdict: str, why: str) -> Entry:
        return Entry("table1", "Table 1", claim, verdict, why)

    one = {name: found.verdict(BEATS_KMEANS, name, RAW[1]) for name in DATASETS}
    ours, theirs = means(OURS), means("K-means")
    printed = [percent(PAPER[name, OURS].mean) for name in DATASETS]
    yield entry(
        "SphericalKMeans clusters better than K-means",
        f"{verdicts(BEATS_KMEANS, ten)} with ten starts",
        f"mean over n {ours[0]} on MNIST and {ours[1]} on Fashion-MNIST (paper {printed[0]} and {printed[1]}), K-means "
        f"{theirs[0]} and {theirs[1]}; with one start {by_name({dataset(n): v for n, v in one.items()})}",
    )
    paper = {method: PAPER[FASHION, method].optimum for method in METHODS}
    best = {method: grid.max(axis=1).mean() for method, grid in found.grids(FASHION, ten)[1].items()}
    yield entry(
        "SphericalKMeans has the best optimum",
        verdicts(BEST_OPTIMUM, ten),
        f"on Fashion-MNIST the paper's own table has {max(paper, key=paper.__getitem__)} ahead, and ours "
        f"{max(best, key=best.__getitem__)}",
    )
    spread = {n: found.verdict(LEAST_STD, n, RAW[1]) for n in DATASETS}
    yield entry(
        "SphericalKMeans varies least with n",
        f"{verdicts(LEAST_STD, ten)} with ten starts",
        f"with one start {by_name({dataset(n): v for n, v in spread.items()})}",
    )
    gmm = means("GMM")
    printed = [percent(PAPER[name, "GMM"].mean) for name in DATASETS]
    yield entry(
        "GMM is the least accurate (in the table, not in the text)",
        verdicts(GMM_LAST, ten),
        f"{gmm[0]} and {gmm[1]} (paper {printed[0]} and {printed[1]}); K-means has {theirs[1]} on Fashion-MNIST",
    )
    yield _codes(found)
    best_run = [found.column(MNIST, m, DEC, last) for m in (OURS, "K-means")]
    moved = [found.column(MNIST, m, MOVED, last) for m in (OURS, "K-means")]
    yield entry(
        f"SphericalKMeans+{DEC} is the best, {percent(PAPER[MNIST, full(OURS, DEC)].optimum)} on MNIST",
        f"{found.verdict(BEST_MEAN, MNIST, DEC)} on the mean over n",
        f"at {last:,} images {_best_of(best_run[0])}, K-means+{DEC} {_best_of(best_run[1])}; moving the images during "
        f"training gives {span([100 * v.mean() for v in moved])}, {sum(int((v >= GOOD_MODE).sum()) for v in moved)} of "
        f"{sum(map(len, moved))} in the good mode",
    )
    fashion = {m: found.column(FASHION, m, DEC, last) for m in METHODS}
    target = PAPER[FASHION, full(OURS, DEC)].optimum
    yield entry(
        f"{percent(target)} on Fashion-MNIST",
        "reproduced" if fashion[OURS].max() >= target else "not reproduced",
        f"{_best_of(fashion[OURS])}; in their best run K-means has {percent(fashion['K-means'].max())}, GMM "
        f"{percent(fashion['GMM'].max())}",
    )


def _codes(found: Accuracies) -> Entry:
    """Whether codes are better than pixels."""
    gains: dict[str, list[Floats]] = {name: [] for name in DATASETS}
    for name in DATASETS:
        for method in METHODS:
            _, grids = found.common(name, [(method, RAW[0]), (method, DEC)])
            gains[name].append(grids[1].mean(axis=1) - grids[0].mean(axis=1))
    answers = [found.described(gain, found.table).partition(": ")[2] for some in gains.values() for gain in some]
    words = [f"+{span([100 * g.mean() for g in gains[name]], 0)} points on {dataset(name)}" for name in DATASETS]
    seeds = len(gains[MNIST][0])
    return Entry(
        "table1",
        "Table 1, Figure 9",
        "with an autoencoder and DEC clusters are better",
        judged(["yes" if answer == "reproduced" else "no difference" for answer in answers]),
        f"{' and '.join(words)}, mean over 10,000 to 60,000 images; {seeds} seeds",
    )


def _mean(found: Accuracies, name: str, method: str, variant: str) -> float:
    return float(found.grids(name, variant)[1][method].mean())


def _best_of(values: Floats) -> str:
    return f"{percent(values)} (best of {len(values)}: {percent(values.max())})"
