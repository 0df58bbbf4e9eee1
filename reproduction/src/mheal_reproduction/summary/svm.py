"""Figure 12: learning curves of a support vector machine."""

from collections.abc import Iterator

import numpy as np

from ..paper.figure12.experiment import sizes
from ..paper.figure12.page import BASELINES, DATASETS, FEW, PENALTIES, Curves, on_top, shrinking
from ..paper.images.words import signed
from .entries import Entry, Results, by_name

PAPER, OURS = "mheal-paper", "mheal"
TITLE, ALL = "Figure 12", len(DATASETS)


def curves_of(results: Results) -> Curves:
    """The rows as curves."""
    return Curves(results.rows("figure12"), sizes(quick=False)["labels"])


def entries(results: Results) -> Iterator[Entry]:
    """The paper's two claims."""
    curves = curves_of(results)
    verdicts, words, satimage = {}, [], []
    for setting in PENALTIES:
        verdicts[setting] = on_top(curves, PAPER, setting, BASELINES, FEW)[1]
        found = [{curves.above(name, setting, PAPER, other, FEW) for other in BASELINES} for name in DATASETS]
        top, under = sum(answers == {"yes"} for answers in found), sum("no" in answers for answers in found)
        words.append(f"with {setting} above all of them on {top} of {ALL} datasets and below some on {under}")
        satimage.append(signed(float(np.subtract(*curves.gain("satimage", setting, PAPER, "random", FEW)).mean())))
    yield Entry(
        "figure12",
        TITLE,
        "MHEAL is above Margin, TED, GEN, SPAL and ALDR+ with few labels for an SVM",
        ", ".join(f"{verdict} with {setting}" for setting, verdict in verdicts.items()),
        f"at {FEW} labels, {'; '.join(words)}; on Satimage {' and '.join(satimage)} points against Random",
    )
    rows = {setting: shrinking(curves, setting) for setting in PENALTIES}
    words = []
    for setting, row in rows.items():
        answers = [one.rpartition(", ")[2] for one in row[3].partition(": ")[2].split("; ")]
        words.append(f"with {setting} they shrink on {answers.count('yes')} of {ALL} and grow on {answers.count('no')}")
    verdict = by_name({f"with {setting}": row[4] for setting, row in rows.items()}).replace(" on with", " with")
    yield Entry("figure12", TITLE, "the differences shrink with labels", verdict, "; ".join(words))
