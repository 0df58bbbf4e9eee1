"""The accuracy that Tables 4 and 5 lose against the clean pool of Table 3, and the labels spent on copies."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...report import Floats, percent, table
from .measured import Measured
from .picture import PAPER
from .published import BUDGETS, accuracies
from .titles import Counterparts
from .words import CLOSE, above, expected, points, signed, verdict

UNSUPERVISED = ("K-means", "K-medoids", "Hierarchical", "Core-set", "MHEAL")  # §7.5 calls them so
SHARES = {"repeated": ("copies", "an image that was labelled before"), "noisy": ("wrong", "a wrong label")}

Losses = Mapping[str, Mapping[int, Sequence[float]]]  # title → seed → accuracy minus clean accuracy at each place


def lost(kind: str, name: str, found: Measured, clean: Measured, counterparts: Counterparts) -> str:
    """The tables of the paper's claims, and of each method's loss at each number of labels, the paper's and ours."""
    places = [n for n in BUDGETS[name] if n in found.columns(name) and n in clean.columns(name)]
    if not places:
        return "There is no clean run to compare with."
    here, there = accuracies(kind, name), accuracies("clean", name)
    paper = {method: np.array([here[method][n] - there[method][n] for n in places]) for method in here}
    losses = {title: found.change(clean, name, title, places) for title in expected(name, counterparts)}
    rows = []
    for title, loss in losses.items():
        grid, printed = np.reshape(list(loss.values()), (len(loss), len(places))), paper.get(counterparts[title] or "")
        words = ["–"] * (len(places) + 1) if printed is None else [*map(signed, printed), signed(printed.mean())]
        ours = [points(column) for column in (*grid.T, grid.mean(axis=1))]
        rows.append([title, *(cell for pair in zip(words, ours, strict=True) for cell in pair)])
    header = ["method", *(word for n in (*(f"{n:,}" for n in places), "mean") for word in (f"{n}: paper", "ours"))]
    claims = _claims({method: float(lost.mean()) for method, lost in paper.items()}, losses, counterparts)
    return f"{table(['claim', 'paper', 'ours', 'verdict'], claims)}\n\n{table(header, rows)}"


def _claims(paper: Mapping[str, float], losses: Losses, counterparts: Counterparts) -> Iterator[list[str]]:
    """The mean loss over the places: of MHEAL, of unsupervised methods against the others, and the smallest."""
    means = {title: {seed: float(np.mean(v)) for seed, v in lost.items()} for title, lost in losses.items() if lost}
    if PAPER in means:
        ours = np.array(list(means[PAPER].values()))
        yield ["MHEAL loses little", signed(paper["MHEAL"]), points(ours), _little(ours, paper["MHEAL"])]
    most = max(map(len, means.values()), default=0)
    known = {
        counterparts[title]: lost
        for title, lost in means.items()
        if counterparts[title] and len(lost) > min(1, most - 1)
    }
    groups = [[lost for method, lost in known.items() if (method in UNSUPERVISED) == side] for side in (True, False)]
    seeds = sorted(set[int].intersection(*map(set, known.values()))) if all(groups) else []
    if seeds:
        first, second = ([float(np.mean([lost[seed] for lost in group])) for seed in seeds] for group in groups)
        sides = [[paper[m] for m in paper if (m in UNSUPERVISED) == side] for side in (True, False)]
        printed = float(np.mean(sides[0]) - np.mean(sides[1]))
        ours = np.subtract(first, second)
        claim = "unsupervised methods lose less: their mean minus the mean of the others"
        yield [claim, signed(printed), points(ours), verdict([above(ours)], len(ours))]
    if means:
        ends = [_least(paper), _least({title: float(np.mean(list(lost.values()))) for title, lost in means.items()})]
        yield ["loses least", *ends, "–"]


def mheal_loss(kind: str, name: str, found: Measured, clean: Measured) -> tuple[Floats, str]:
    """MHEAL's average loss, one value per seed, and the verdict on whether it is little."""
    places = BUDGETS[name]
    here, there = accuracies(kind, name)["MHEAL"], accuracies("clean", name)["MHEAL"]
    ours = np.array([np.mean(lost) for lost in found.change(clean, name, PAPER, places).values()])
    return ours, _little(ours, float(np.mean([here[n] - there[n] for n in places])))


def _little(ours: Floats, printed: float) -> str:
    """The verdict on "loses little": on average at most a point more than in the paper."""
    spare = ours - (printed - CLOSE)
    answer = "yes" if spare.mean() >= -1e-9 else above(spare)
    return verdict([answer], len(ours))


def _least(losses: Mapping[str, float]) -> str:
    who = max(losses, key=lambda title: losses[title])
    return f"{who}, {signed(losses[who])}"


def shares(kind: str, name: str, found: Measured, counterparts: Counterparts) -> str:
    """The table of each method's share of labels that are copies, or wrong."""
    measure, budgets = SHARES[kind][0], BUDGETS[name]
    found_shares = {
        title: [found.values(name, title, n, measure) for n in budgets] for title in expected(name, counterparts)
    }
    last = sorted((float(cells[-1].mean()), title) for title, cells in found_shares.items() if len(cells[-1]))
    ends = " and ".join(f"{title} ({percent(share)})" for share, title in (last[0], last[-1])) if last else ""
    note = f"\n\nLeast and most at {budgets[-1]:,} labels: {ends}." if last else ""
    return (
        table(["method", *(f"{n:,}" for n in budgets)], ([t, *map(percent, c)] for t, c in found_shares.items())) + note
    )
