"""What the curves show, in plain sentences, whichever way they point."""

from typing import TYPE_CHECKING, Any

import polars

from .savings import Savings

if TYPE_CHECKING:
    from .curves import Curves

LEVEL = 0.05


def sentences(curves: "Curves", against: str = "random") -> list[str]:
    """The most important first: what beats the yardstick and saves labels, what is worse, what cannot be told."""
    if not curves.others(against):
        return [f"Only {against} was run: there is nothing to compare."]
    tests = curves.significance(against).filter(polars.col("measure") == "aulc")
    tests = tests.sort("difference", descending=True, maintain_order=True)
    splits = max(tests["n"].to_list())
    if splits == 1:
        return [f"One split cannot tell whether anything beats {against} on this data: run at least five."]
    certain = tests["p_t_holm"] < LEVEL
    better = tests.filter(certain & (tests["difference"] > 0)).to_dicts()
    worse = tests.filter(certain & (tests["difference"] < 0))["strategy"].to_list()
    unclear = tests.filter(~certain)["strategy"].to_list()

    savings = curves.savings(against)
    said = [_beats(test, against, savings[test["strategy"]]) for test in better]
    if not better:
        said.append(f"Nothing beats {against} on this data.")
    if worse:
        said.append(f"{_are(worse)} worse than {against}.")
    if unclear:
        said.append(f"{_are(unclear)} neither clearly better nor clearly worse in {splits} splits.")
    return said


def _beats(test: dict[str, Any], against: str, savings: Savings) -> str:
    text = f"{test['strategy']} beats {against} ({_by(test)})"
    measured, beyond = (savings.bound == "=").nonzero()[0], (savings.bound == ">").nonzero()[0]
    if len(measured):  # the largest budget for which the yardstick's curve is long enough
        b = measured[-1]
        text += f": with {savings.budgets[b]} labels it is as good as {against} with {savings.needs[b]:.0f}"
        if savings.saved[b] >= 0.5:
            share = savings.saved[b] / savings.needs[b]
            text += f", which saves {savings.saved[b]:.0f} labels ({share:.0%})"
    elif len(beyond):
        b = beyond[0]
        text += f": what it reaches with {savings.budgets[b]} labels takes {against} more than {savings.needs[b]:.0f}"
    return text + "."


def _by(test: dict[str, Any]) -> str:
    p = "p < 0.001" if test["p_t_holm"] < 0.001 else f"p = {test['p_t_holm']:.3f}"
    return f"+{100 * test['difference']:.1f} points of accuracy on average, {p}"


def _are(names: list[str]) -> str:
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"
