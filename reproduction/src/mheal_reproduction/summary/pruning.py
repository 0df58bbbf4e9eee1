"""The summary of what the paper derives: costs of its searches, Theorem 1, and Figures 6 to 8 on IWAL and MHEAL."""

from collections.abc import Iterator

import numpy as np

from ..paper import theorem1
from ..paper.complexity import CLAIMS, METHODS, exponent
from ..paper.complexity import verdict as verdict_on_cost
from ..paper.pruning.figure6 import faster, speed_up
from ..paper.pruning.figure7 import POOLED, better
from ..paper.pruning.figure8 import EPSILONS, fewer
from ..paper.pruning.streams import DATASETS
from ..report import verdict
from .entries import Entry, Results, judged, span

ALL = len(DATASETS)


def entries(results: Results) -> Iterator[Entry]:
    """The costs, Theorem 1, then the figures."""
    yield from _costs(results)
    yield _theorem(results)
    yield _speed(results)
    yield _error(results)
    yield _labels(results)


def _costs(results: Results) -> Iterator[Entry]:
    values = results.values("complexity")
    for claim in CLAIMS:
        word, _, off = verdict_on_cost(values, claim).partition(": ")
        counted = [f"{size}^{exponent(values, claim, size, METHODS[0], 'distances'):.1f}" for size in claim.exponents]
        why = off or f"counted distances grow as {' '.join(counted)}"
        verdict = "refuted" if word == "refuted" else "reproduced"
        yield Entry("complexity", claim.place, f"the cost is {claim.words}", verdict, why)


def _theorem(results: Results) -> Entry:
    values = results.values("theorem1")
    error, labels = theorem1.error_ratios(values), theorem1.label_ratios(values)
    ends = [float(end(ratio)) for ratio in error.values() for end in (np.min, np.max)]
    below = sum(int((ratio < 1).sum()) for ratio in labels.values())
    cases = sum(len(ratio) for ratio in labels.values())
    why = (
        f"the error bound is {min(ends):.0f} to {max(ends):.0f} times IWAL's; the label bound is the smaller one in "
        f"{below} of {cases} cases, all with a θ that was set smaller"
    )
    return Entry("theorem1", "Theorem 1", "its bounds are tighter than IWAL's", theorem1.error_verdict(error), why)


def _speed(results: Results) -> Entry:
    values = results.values("figure6")
    answers = {mode: [faster(values, name, mode) for name in DATASETS] for mode in ("literal", "control")}
    factors = [speed_up(values, name, "literal") for name in DATASETS]
    verdict = f"{judged(answers['literal'])} by its smaller constant, {judged(answers['control'])} with one for both"
    why = (
        f"the constants 10 and 3.333 make it {span(factors)} times as fast as printed; with one constant for both it "
        f"is slower on {answers['control'].count('no')} of {ALL} datasets"
    )
    return Entry("figure6", "Figure 6", "MHEAL prunes hypotheses faster than IWAL", verdict, why)


def _error(results: Results) -> Entry:
    values = results.values("figure7")
    ends = {who: [better(values, name, "control", who, at_end=True) for name in DATASETS] for who in ("MHEAL", POOLED)}
    whole = [better(values, name, "control", "MHEAL") for name in DATASETS]
    why = (
        f"three hyperplanes, one a cluster, are better at the end on {ends['MHEAL'].count('yes')} of {ALL}; one for "
        f"all is better on {ends[POOLED].count('yes')}"
    )
    return Entry("figure7", "Figure 7", "its error is lower", verdict(whole + ends["MHEAL"]), why)


def _labels(results: Results) -> Entry:
    values = results.values("figure8")
    answers = {
        mode: [fewer(values, name, mode, "reached", e) for e in EPSILONS for name in DATASETS]
        for mode in ("literal", "control")
    }
    printed, control = answers["literal"], answers["control"]
    why = (
        f"as printed fewer labels in {printed.count('yes')} of {len(printed)} comparisons and more in "
        f"{printed.count('no')}; where clusters are pruned with one constant, fewer in {control.count('yes')} and more "
        f"in {control.count('no')}"
    )
    return Entry("figure8", "Figure 8", "it needs fewer labels", verdict(printed), why)
