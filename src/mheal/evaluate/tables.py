"""Curves as tables: polars frames, described where `Curves` offers them."""

from typing import TYPE_CHECKING, Any

import polars

from .statistics import area, holm, paired_tests, t_interval

if TYPE_CHECKING:
    from .curves import Curves


def by_budget(curves: "Curves") -> polars.DataFrame:
    """Mean, interval and deviation for each strategy and budget."""
    parts = []
    for name in curves.strategies:
        values = curves.values(name)
        mean, half = t_interval(values)
        sd = values.std(axis=0, ddof=1) if len(values) > 1 else half
        columns = dict(labels=curves.budgets, mean=mean, low=mean - half, high=mean + half, sd=sd)
        parts.append(polars.DataFrame({"strategy": [name] * len(mean), **columns, "n": [len(values)] * len(mean)}))
    return polars.concat(parts)


def labels_saved(curves: "Curves", against: str) -> polars.DataFrame:
    """Labels saved by each strategy at each budget."""
    types = dict(strategy=str, labels=int, needs=float, bound=str, saved=float, low=float, high=float)
    rows = []
    for name, s in curves.savings(against).items():
        columns = (s.budgets, s.needs, s.bound, s.saved, s.low - s.budgets, s.high - s.budgets)
        rows += [(name, *cells) for cells in zip(*(column.tolist() for column in columns), strict=True)]
    return polars.DataFrame(rows, types, orient="row")


def significance(curves: "Curves", against: str) -> polars.DataFrame:
    """Paired tests against one strategy, on the area and at each budget."""
    tests: list[dict[str, Any]] = []
    for name in curves.others(against):
        ours, theirs = curves.paired(name, against)
        gap = ours - theirs
        tests.append(_test(name, "aulc", None, area(curves.budgets, gap)))
        tests += [_test(name, curves.metric, b, gap[:, i]) for i, b in enumerate(curves.budgets.tolist())]
    for test in ("p_t", "p_wilcoxon"):
        for family in ("aulc", curves.metric):
            members = [cells for cells in tests if cells["metric"] == family]
            for cells, p in zip(members, holm([cells[test] for cells in members]), strict=True):
                cells[f"{test}_holm"] = float(p)
    types = dict(strategy=str, metric=str, labels=int, difference=float, low=float, high=float, n=int)
    return polars.DataFrame(tests, types | dict.fromkeys(("p_t", "p_wilcoxon", "p_t_holm", "p_wilcoxon_holm"), float))


def _test(strategy: str, metric: str, labels: int | None, differences: Any) -> dict[str, Any]:
    mean, half = t_interval(differences)
    p_t, p_wilcoxon = paired_tests(differences)
    interval = dict(difference=float(mean), low=float(mean - half), high=float(mean + half), n=len(differences))
    return dict(strategy=strategy, metric=metric, labels=labels, **interval, p_t=p_t, p_wilcoxon=p_wilcoxon)


def summary(curves: "Curves", against: str) -> polars.DataFrame:
    """One row for each strategy, the largest area first."""
    types = dict(strategy=str, aulc=float, aulc_half=float, rank=float, saved=float, saved_bound=str)
    types |= dict(saved_median=float, saved_median_bound=str, p_holm=float)
    ranks, savings = curves.ranks(), curves.savings(against)
    tested = significance(curves, against).filter(polars.col("metric") == "aulc")
    p_holm = dict(zip(tested["strategy"], tested["p_t_holm"], strict=True))
    rows = []
    for name in curves.strategies:
        mean, half = t_interval(curves.aulc(name))
        s = savings.get(name)
        saved = (None,) * 4 if s is None else (float(s.saved[-1]), str(s.bound[-1]), *s.median())
        rows.append((name, float(mean), float(half), ranks[name], *saved, p_holm.get(name)))
    frame = polars.DataFrame(rows, types, orient="row")
    return frame.sort("aulc", descending=True, maintain_order=True)
