"""The page of Tables 3, 4 and 5: the paper's accuracies beside ours, its claims, and the standing of our defaults."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ...report import Floats, percent, table
from ...rows import Row
from .lost import SHARES, UNSUPERVISED, lost, shares
from .measured import Measured
from .methods import CANDIDATES
from .picture import DEFAULT, OURS, PAPER, QUERIES, QUERYING, RANDOM, SIMCLR, figure_number
from .pools import KINDS
from .published import BUDGETS, accuracies
from .rank import as_random, best_section, places_of, short_verdict
from .titles import Counterparts
from .words import NARROW, above, against, expected, mean_and_spread, points

POOLS = {
    "clean": "every training image once",
    "repeated": "all training images, 10,000 of them twice, in random order; a copy costs a label like any other image",
    "noisy": "all training images, 10,000 of them twice, in random order; the copies have wrong labels",
}
PLACES = {"yes": "ahead", "no difference": "level", "no": "behind"}


def page(
    kind: str, rows: Sequence[Row], counterparts: Counterparts, quick: bool, clean: Sequence[Row] | None = None
) -> str:
    """The page in Markdown; `clean` are the rows of Table 3."""
    found = Measured(rows)
    first, number = figure_number(kind, "mnist"), 3 + KINDS.index(kind)
    places = {name: places_of(found, name, counterparts) for name in found.datasets}
    best = short_verdict(places)
    parts = [
        f"# Table {number} and Figures {first}–{first + 2}: networks that learn from few images, {kind} pool\n"
        f"**Verdict:** the claim that {PAPER} is the paper's best method at every number of labels is {best}. "
        f"{PAPER} has as many clusters as classes here; [other readings](../readings/README.md) are measured on MNIST.",
        _opening(kind, found, counterparts, quick),
        f"""## Accuracy, %
Mean ± standard deviation over the seeds; the best of ours in bold. Against the paper: ≈ means within a point, or within
the 95 % interval of our mean if that is at most ±{100 * NARROW:.0f} points; otherwise the difference in points.
"= Random": the method has picked nothing yet, so these are Random's own numbers, and are not counted.""",
        *(f"### {name}\n{_accuracies(kind, name, found, counterparts)}" for name in found.datasets),
        best_section(kind, places),
    ]
    if kind in SHARES:
        before = Measured(clean or [])
        parts.append(f"""## How much is lost against the clean pool?
Accuracy here minus accuracy in Table 3, in points, with the 95 % interval, paired by seed. The claim that MHEAL loses
little is *reproduced* if on average it loses at most a point more than in the paper, *refuted* if more than that with
certainty. The text says that unsupervised methods ({", ".join(UNSUPERVISED)}) lose less than the others.""")
        parts += [f"### {name}\n{lost(kind, name, found, before, counterparts)}" for name in found.datasets]
        parts.append(
            f"## Labels spent on {SHARES[kind][1]}, %\nMean over the seeds. Random shows what chance alone gives."
        )
        parts += [f"### {name}\n{shares(kind, name, found, counterparts)}" for name in found.datasets]
    parts += [_default(found, counterparts), "## Pictures"]
    parts += [f"![{name}: accuracy against labels](figure{figure_number(kind, name)}.png)" for name in found.datasets]
    return "\n\n".join(parts) + "\n"


def _opening(kind: str, found: Measured, counterparts: Counterparts, quick: bool) -> str:
    runs = []
    for name in found.datasets:
        seeds = sorted({found.seeds(name, title) for title in counterparts} - {0})
        methods = sum(found.seeds(name, title) > 0 for title in counterparts)
        spent: dict[str, float] = defaultdict(float)
        for row in found.rows:
            spent[row["device"]] += row["seconds"] * (row["dataset"] == name)
        each = " to ".join(str(n) for n in dict.fromkeys([seeds[0], seeds[-1]]))
        minutes = " and ".join(f"{total / 60:,.1f} minutes on {device}" for device, total in spent.items() if total)
        runs.append(f"- {name}: {methods} methods, seeds for each: {each}; {minutes}")
    size = "Quick run: small sizes, not the paper's. " if quick else ""
    return f"""{size}The pool has {POOLS[kind]}.
At each number of labels a network is trained from scratch on a method's labels and tested on the official test images.
The recipe depends on the number of labels alone; it was set by what random labels are known to reach
(`results/recipes`).

- Methods of a seed start with the same 20 labels, drawn at random and counted. On CIFAR, Random and methods that query
  the model start with all labels of the first column, except {QUERIES}.
- {PAPER} has as many clusters as there are classes, and picks from codes of DEC. On MNIST this is one of its worst
  settings: with as many clusters as labels it is above {RANDOM} on most features ([readings](../readings/README.md)).
- Methods that use no model pick from features: {PAPER} from codes of DEC, methods named SimCLR from features of SimCLR,
  the others from codes of an autoencoder. Hierarchical uses such codes and the labels of its earlier picks.
- The remaining methods query the model, that is the network; VAAL trains one of its own. VAAL and CDAL+RL pick in
  rounds from one column of the run to the next: on MNIST at 20, 50, 100, 150, 200, 300 and 400 labels, on CIFAR at the
  table's columns.
- {QUERIES} uses both: it picks in rounds, like methods that query the model. With few labels it picks as {DEFAULT}
  does. From 64 labels on (on CIFAR after the first column) it also prefers images that the network is uncertain about.
- {DEFAULT} and {QUERIES} leave out duplicates (`benchmarks/labels/duplicates`).
- On MNIST, CDAL+RL and methods that sample the network's dropout consider {CANDIDATES:,} images per round. K-medoids
  considers as many on every dataset; all other methods consider all images.

Protocol: `mheal_reproduction.paper.images.experiment`. The paper prints one number for each cell, without a spread.
Minutes are elapsed time; runs shared the GPU, so they are upper limits of its use.

{chr(10).join(runs)}

{_missing(found, counterparts)}"""


def _missing(found: Measured, counterparts: Counterparts) -> str:
    gaps = [name for name in BUDGETS if name not in found.datasets]
    for name in found.datasets:
        there = [title for title in expected(name, counterparts) if found.seeds(name, title)]
        absent = [title for title in expected(name, counterparts) if title not in there]
        gaps += [f"on {name} {' and '.join(absent)}"] if absent else []
        for n in BUDGETS[name]:
            short = [title for title in there if not found.by_seed(name, title, n)]
            methods = "every method" if short == there else " and ".join(short)
            gaps += [f"on {name} {methods} at {n:,} labels"] if short else []
    return f"Missing: {'; '.join(gaps)}." if gaps else "No method is missing."


def _accuracies(kind: str, name: str, found: Measured, counterparts: Counterparts) -> str:
    """A row for each method, two columns for each number of labels, and how many cells are as printed."""
    printed, budgets = accuracies(kind, name), BUDGETS[name]
    ours = {(title, n): found.values(name, title, n) for title in expected(name, counterparts) for n in budgets}
    best = {n: max((v.mean() for (_, at), v in ours.items() if at == n and len(v)), default=None) for n in budgets}
    marks: list[str] = []
    rows = []
    for title in expected(name, counterparts):
        cells = []
        for n in budgets:
            values, paper = ours[title, n], printed.get(counterparts[title] or "", {}).get(n)
            text = mean_and_spread(values)
            if len(values) and values.mean() == best[n]:
                text = f"**{text}**"
            if as_random(name, title, n):
                text += ", = Random" * bool(len(values))
            elif len(values) and paper is not None:
                marks.append(against(values, paper))
                text += f", {marks[-1]}"
            cells += ["–" if paper is None else percent(paper), text]
        rows.append([title, str(found.seeds(name, title)), *cells])
    same, higher = marks.count("≈"), sum(mark.startswith("+") for mark in marks)
    header = ["method", "seeds", *(word for n in budgets for word in (f"{n:,}: paper", "ours"))]
    count = f"Of {len(marks)} cells {same} are as printed, {higher} higher, {len(marks) - same - higher} lower."
    return f"{table(header, rows)}\n\n{count}"


class Standing(NamedTuple):
    """One of our defaults at a number of labels, against the best other method: their accuracy, paired by seed."""

    name: str
    ours: str
    labels: int
    other: str
    gain: Floats

    @property
    def place(self) -> str:
        """Ahead, level or behind."""
        return PLACES[above(self.gain)]


def standings(found: Measured, counterparts: Counterparts) -> list[Standing]:
    """Each of our defaults on each dataset, at each number of labels after the start."""
    rows = []
    for name in found.datasets:
        for ours in OURS:
            rivals = [title for title in counterparts if title not in OURS and _rivals(ours, title)]
            for n in found.after_start(name):
                gains = {title: found.gain(name, ours, title, n) for title in rivals}
                gains = {title: gain for title, gain in gains.items() if len(gain)}
                if gains:
                    other = min(gains, key=lambda title: gains[title].mean())
                    rows.append(Standing(name, ours, n, other, gains[other]))
    return rows


def _default(found: Measured, counterparts: Counterparts) -> str:
    shown, counts = [], dict[str, list[str]]()
    compared = standings(found, counterparts)
    for name, ours, n, other, gain in compared:
        place = PLACES[above(gain)]
        counts.setdefault(f"{ours} on {name}", []).append(place)
        cells = [mean_and_spread(found.values(name, title, n)) for title in (other, ours)]
        shown.append([name, ours, f"{n:,}", other, *cells, points(gain), place])
    alone = sum(len(one.gain) == 1 for one in compared)
    total = [place for places in counts.values() for place in places]
    sums = "\n".join(f"- {who}: {_count(places)}" for who, places in {**counts, "In all": total}.items())
    sums = sums if total else "There is nothing to compare."
    sums += f"\n\n{alone} of {len(total)} comparisons rest on one seed, where the sign decides." if alone else ""
    return f"""## Is our default ahead?
{DEFAULT}, which uses no model here, and {QUERIES} are each compared with the best other method at each number of labels
after the start. The best other method is chosen after the fact, so the comparison is strict. {DEFAULT + SIMCLR} is
compared with methods on the same features and Random, {QUERIES + SIMCLR} also with methods that query the model.
Ahead and behind are 95 % t intervals, paired by seed; level is neither, and with few seeds means little. Our defaults
were chosen with labels of training images of MNIST and CIFAR-10 (`benchmarks/labels`), never with those of test images.

{table(["dataset", "ours", "labels", "best other", "its accuracy", "ours", "difference, points", "ours is"], shown)}

{sums}"""


def _rivals(ours: str, other: str) -> bool:
    """Whether two methods are compared: they use the same features, or both query the model."""
    same = other == RANDOM or other.endswith(SIMCLR) == ours.endswith(SIMCLR)
    return same or (ours in QUERYING and other in QUERYING)


def _count(places: Sequence[str]) -> str:
    good = sum(place != "behind" for place in places)
    return f"ahead or level in {good} of {len(places)} (ahead in {places.count('ahead')})"
