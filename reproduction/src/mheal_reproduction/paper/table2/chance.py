"""The part of Table 2's page on chance: could the paper's numbers be those of random subsets?"""

from collections.abc import Iterator

from .matching import Statistics
from .numbers import COLUMNS, DATASETS, L0, PAPER, WHO, Found

ROOT2 = 2**0.5
RANDOM = {"mmd_mean": 1.0, "mmd": ROOT2}  # of the MMD_μ of random subsets
HEADER = [
    "dataset",
    "measure",
    "statistic",
    "formula",
    "95 % of random",
    *(f"paper's ℓ{who[1:]}" for who in WHO),
]


def random_rows(found: Found) -> Iterator[list[str]]:
    """A row for each dataset, measure and statistic."""
    for name in DATASETS:
        for column, factor in RANDOM.items():
            for what, places in _places(found, name, column).items():
                formula = factor * getattr(Statistics.of(found.formula(name)), what)
                low, high = factor * found.spread(name, what)
                values = [getattr(PAPER[column, who][DATASETS.index(name)], what) for who in WHO]
                cells = [f"{value:.4f} {where}" for value, where in zip(values, places, strict=True)]
                yield [name, COLUMNS[column], what, f"{formula:.4f}", f"{low:.4f} to {high:.4f}", *cells]


def outside(found: Found) -> str:
    """A sentence that counts the paper's values outside the central 95 %."""
    places = [where for name in DATASETS for column in RANDOM for where in flat(found, name, column)]
    count = len(places) - places.count("inside")
    return f"Values outside: {count} of {len(places)}; 5 % of them would be {0.05 * len(places):.1f}."


def random_verdicts(found: Found, name: str) -> Iterator[list[str]]:
    """Whether the paper's numbers could be those of uniformly random subsets."""
    ours = sorted(_ratio(found, name, method) for method in L0)
    also = (
        f"; trΣ = {found.fact(name, 'trace'):.2f}; our Random has {_ratio(found, name, 'random'):.2f} of the formula's "
        f"mean, our ℓ0 {ours[0]:.2f} to {ours[-1]:.2f}"
    )
    for column in RANDOM:
        places = flat(found, name, column)
        counts = ", ".join(f"{places.count(where)} {where}" for where in dict.fromkeys(places))
        yield [
            f"{name}: the paper's {COLUMNS[column]} could be that of random subsets",
            f"of {len(places)} values {counts} (central 95 %)" + (also if column == "mmd_mean" else ""),
            "yes: all inside"
            if set(places) == {"inside"}
            else f"not all: {len(places) - places.count('inside')} outside",
        ]


def _places(found: Found, name: str, column: str) -> dict[str, list[str]]:
    """For each statistic, whether the paper's ℓ2, ℓ1 and ℓ0 are inside the central 95 % of random subsets."""
    places = {}
    for what in Statistics._fields:
        low, high = RANDOM[column] * found.spread(name, what)
        values = [getattr(PAPER[column, who][DATASETS.index(name)], what) for who in WHO]
        places[what] = [
            "inside" if low <= value <= high else "outside: above" if value > high else "outside: below"
            for value in values
        ]
    return places


def flat(found: Found, name: str, column: str) -> list[str]:
    """The same as a list."""
    return [where for places in _places(found, name, column).values() for where in places]


def _ratio(found: Found, name: str, method: str) -> float:
    """The mean MMD_μ over the sizes, as a multiple of a random subset's."""
    return float(found.curve(name, method, "mmd_mean").mean() / found.formula(name).mean())
