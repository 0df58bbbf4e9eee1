"""Table 2 and Figure 10: distribution matching."""

from collections.abc import Iterator

import numpy as np

from ..paper.table2.chance import RANDOM, flat
from ..paper.table2.experiment import size_of
from ..paper.table2.numbers import BETA, COLUMNS, DATASETS, L0, PRINTED, Found
from ..paper.table2.page import judge
from .entries import Entry, Results, span


def entries(results: Results) -> Iterator[Entry]:
    """The entries on the claim, on the paper's numbers and on its measures."""
    rows = results.rows("table2")
    found = Found(rows, size_of(quick=False)[0], range(1 + max(row["seed"] for row in rows)))
    verdicts: dict[str, list[str]] = {}
    for column, title in COLUMNS.items():
        for verdict in dict.fromkeys(judge(found, what) for what, of in PRINTED.items() if of == column):
            verdicts.setdefault(verdict, []).append(title)
    ratios = [
        found.curve(name, method, "mmd_mean").mean() / found.formula(name).mean() for name in DATASETS for method in L0
    ]
    yield Entry(
        "table2",
        "Table 2, Figure 10",
        "ℓ0 MHE matches the pool's distribution better than ℓ1 and ℓ2",
        ", ".join(f"{verdict} under {' and '.join(titles)}" for verdict, titles in verdicts.items()),
        f"MMD_μ of real max-min selections is {span(ratios, 0)} times that of random ones",
    )
    places = [where for name in DATASETS for column in RANDOM for where in flat(found, name, column)]
    betas = ", ".join(map(str, BETA.values()))
    zeros = ", ".join(f"{found.fact(name, 'beta'):.3f}" for name in DATASETS)
    yield Entry(
        "table2",
        "Table 2",
        "its numbers",
        "like those of random subsets",
        f"{places.count('inside')} of {len(places)} of the paper's ℓ_MMD and MMD_μ are inside the central 95 % of "
        f"random subsets; its β are {betas}, and ℓ_KL of random pairs of images is 0 at {zeros}",
    )
    at_pool = [found.fact(name, "kl_mean") for name in DATASETS]
    gaps = [
        np.abs(found.curve(name, m, "mmd_squared") - 2**0.5 * found.curve(name, m, "mmd_mean")).max()
        for name in DATASETS
        for m in L0
    ]
    same = max(gaps) < 1e-3
    yield Entry(
        "table2",
        "Table 2",
        "ℓ_KL, ℓ_MMD and MMD_μ are three losses",
        "refuted" if max(at_pool) < 0 and same else "not refuted",
        f"ℓ_KL is {span(at_pool, 0)} at X' = X, and with squared norms ℓ_MMD is √2·MMD_μ",
    )
