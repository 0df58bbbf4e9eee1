"""The page of Tables 3, 4 and 5: the paper's accuracies beside ours, its claims, and whether our default is ahead."""

from collections import defaultdict
from collections.abc import Sequence

from mheal.uncertainty import ASK_FROM, DOUBT

from .image_lines import CANDIDATES
from .image_measured import Measured
from .image_pools import KINDS
from .image_tables_lost import SHARES, UNSUPERVISED, lost, shares
from .image_tables_picture import ASKING, ASKS, DEFAULT, OURS, PAPER, RANDOM, SIMCLR, Answers, figure_number
from .image_tables_words import above, against, expected, mean_and_spread, points, verdict
from .published import BUDGETS, accuracies
from .report import Floats, percent, table, tally
from .rows import Row

POOLS = {
    "clean": "every training image once",
    "repeated": "every training image once and 10,000 of them twice, in random order; a copy costs a label",
    "noisy": "every training image once and 10,000 of them twice, in random order, the copies with wrong labels",
}
EARLIER = " Some rows are from before a change of this protocol: the README of the folder above says which."
PLACES = {"yes": "ahead", "no difference": "level", "no": "behind"}


def page(
    kind: str, rows: Sequence[Row], answers: Answers, quick: bool, clean: Sequence[Row] | None = None, why: str = "",
    earlier: bool = False,
) -> str:  # fmt: skip
    """The page in Markdown.

    clean : the rows of Table 3
    why : what keeps this machine from making more
    earlier : whether rows are there that were made under an earlier protocol
    """
    found = Measured(rows)
    first, number = figure_number(kind, "mnist"), 3 + KINDS.index(kind)
    parts = [
        f"# Table {number} and Figures {first}–{first + 2}: networks that learn from few images, {kind} pool",
        _opening(kind, found, answers, quick, why, earlier),
        """## Accuracy, %
Mean ± standard deviation over the seeds; the best of ours in bold. Against the paper: ≈ is as printed, within a point
or two standard deviations of ours; else the difference in points.""",
        *(f"### {name}\n{_accuracies(kind, name, found, answers)}" for name in found.datasets),
        _best(kind, found, answers),
    ]
    if kind in SHARES:
        before = Measured(clean or [])
        parts.append(f"""## Is little lost against the clean pool?
Accuracy here minus accuracy in Table 3, in points, with the 95 % interval, paired by seed. That MHEAL loses little is
*reproduced* if on average it loses at most a point more than in the paper, *refuted* if more than that with certainty.
The text says that unsupervised lines ({", ".join(UNSUPERVISED)}) lose less than the others.""")
        parts += [f"### {name}\n{lost(kind, name, found, before, answers)}" for name in found.datasets]
        parts.append(
            f"## Labels spent on {SHARES[kind][1]}, %\nMean over the seeds. Random shows what blind buying gives."
        )
        parts += [f"### {name}\n{shares(kind, name, found, answers)}" for name in found.datasets]
    parts += [_default(found, answers), "## Pictures"]
    parts += [f"![{name}: accuracy against labels](figure{figure_number(kind, name)}.png)" for name in found.datasets]
    return "\n\n".join(parts) + "\n"


def _opening(kind: str, found: Measured, answers: Answers, quick: bool, why: str, earlier: bool) -> str:
    runs = []
    for name in found.datasets:
        seeds = sorted({found.seeds(name, title) for title in answers} - {0})
        lines = sum(found.seeds(name, title) > 0 for title in answers)
        spent: dict[str, float] = defaultdict(float)
        for row in found.rows:
            spent[row["device"]] += row["seconds"] * (row["dataset"] == name)
        each = " to ".join(str(n) for n in dict.fromkeys([seeds[0], seeds[-1]]))
        minutes = " and ".join(f"{total / 60:,.1f} minutes on {device}" for device, total in spent.items() if total)
        runs.append(f"- {name}: {lines} lines, seeds a line: {each}; {minutes}")
    size = "Quick run: small sizes, not the paper's. " if quick else ""
    return f"""{size}The pool has {POOLS[kind]}.
Lines of a seed start with the same 20 labels, drawn at random and counted; on CIFAR, Random and lines that ask a
network start with all those of the first column, except {ASKS}. At each number of labels a network is trained from
scratch on what a line has bought, with a recipe that depends on that number alone, and tested on the official test
images. Recipes were set by what Random is known to reach on them (`results/recipes`).
{PAPER} plans from codes of DEC, lines named SimCLR from features of SimCLR, the other lines that plan from codes of
an autoencoder; Hierarchical looks at such codes and at the labels it buys; the rest ask the network, or VAAL its own.
{ASKS} does both: it buys in rounds, as lines that ask do, what {DEFAULT} would buy up to {ASK_FROM} labels (on CIFAR
up to the first column); from then on a row is worth the network's doubt of it to the power {DOUBT:g}. Both of ours look
only once at an image that is there twice (`results/copies`). On MNIST lines that ask the network for draws of its
dropout, and CDAL+RL, see {CANDIDATES:,} images a round; K-medoids works on as many everywhere; all others see all.
Protocol: `mheal_reproduction.paper.image_tables`. The paper prints one number a cell, with no spread. Minutes are by the clock;
where other runs shared the GPU they say what it cost at most.

{chr(10).join(runs)}

{_missing(found, answers, why)}{EARLIER if earlier else ""}"""


def _missing(found: Measured, answers: Answers, why: str) -> str:
    gaps = [name for name in BUDGETS if name not in found.datasets]
    for name in found.datasets:
        there = [title for title in expected(name, answers) if found.seeds(name, title)]
        absent = [title for title in expected(name, answers) if title not in there]
        gaps += [f"on {name} {' and '.join(absent)}"] if absent else []
        for n in BUDGETS[name]:
            short = [title for title in there if not found.by_seed(name, title, n)]
            lines = "every line" if short == there else " and ".join(short)
            gaps += [f"on {name} {lines} at {n:,} labels"] if short else []
    if not gaps:
        return "No line is missing."
    return f"Missing: {'; '.join(gaps)}." + (f" They were not made on this machine: {why}." if why else "")


def _accuracies(kind: str, name: str, found: Measured, answers: Answers) -> str:
    """A row a line, two columns a number of labels, and how many cells are as printed."""
    printed, budgets = accuracies(kind, name), BUDGETS[name]
    ours = {(title, n): found.values(name, title, n) for title in expected(name, answers) for n in budgets}
    best = {n: max((v.mean() for (_, at), v in ours.items() if at == n and len(v)), default=None) for n in budgets}
    marks: list[str] = []
    lines = []
    for title in expected(name, answers):
        cells = []
        for n in budgets:
            values, paper = ours[title, n], printed.get(answers[title] or "", {}).get(n)
            text = mean_and_spread(values)
            if len(values) and values.mean() == best[n]:
                text = f"**{text}**"
            if len(values) and paper is not None:
                marks.append(against(values, paper))
                text += f", {marks[-1]}"
            cells += ["–" if paper is None else percent(paper), text]
        lines.append([title, str(found.seeds(name, title)), *cells])
    same, higher = marks.count("≈"), sum(mark.startswith("+") for mark in marks)
    header = ["line", "seeds", *(word for n in budgets for word in (f"{n:,}: paper", "ours"))]
    count = f"Of {len(marks)} cells {same} are as printed, {higher} higher, {len(marks) - same - higher} lower."
    return f"{table(header, lines)}\n\n{count}"


def _best(kind: str, found: Measured, answers: Answers) -> str:
    others = [title for title, printed in answers.items() if printed and title != PAPER]
    verdicts, details, single = [], [], []
    for name in found.datasets:
        printed, places = accuracies(kind, name), []
        seeds: dict[str, int] = {}
        for n in BUDGETS[name]:
            gains = {title: found.gain(name, PAPER, title, n) for title in others}
            gains = {title: gain for title, gain in gains.items() if len(gain)}
            if not gains:
                continue
            seeds |= {title: len(gain) for title, gain in gains.items()}
            places.append(_place(list(gains.values())))
            said = {title: above(gain) for title, gain in gains.items()}
            below = [title for title, answer in said.items() if answer == "no"]
            best = max(cells[n] for cells in printed.values())
            top = " and ".join(method for method, cells in printed.items() if cells[n] == best)
            random = found.gain(name, PAPER, RANDOM, n)
            words = [tally(list(said.values())), ", ".join(below) or "none", above(random) if len(random) else "–"]
            details.append([name, f"{n:,}", top, *words])
        numbers = f"above all at {places.count('yes')} of {len(places)} numbers of labels"
        most = max(seeds.values(), default=0)
        verdicts.append([name, f"{numbers}, below some at {places.count('no')}", verdict(places, most)])
        alone = [title for title, count in seeds.items() if count == 1]
        single += [f"{'every line' if most == 1 else ', '.join(alone)} on {name}"] if alone else []
    note = f"One seed is compared by its sign, which counts as below only if no line has more: {'; '.join(single)}."
    return f"""## Is MHEAL best of all lines at every number of labels?
{PAPER} against the paper's other lines: 95 % t interval of the difference, paired by seed. *Reproduced* if above
all of them at every number of labels, *refuted* if below at least one at every number, else *not reproduced*.
{note if single else ""}

{table(["dataset", "ours", "verdict"], verdicts)}

{table(["dataset", "labels", "best in the paper", f"{PAPER} above the others", "below", "above Random"], details)}"""


def _place(gains: Sequence[Floats]) -> str:
    """Whether a line is above all others: "no" if below one, but a single seed says so only where none has more."""
    if all(above(gain) == "yes" for gain in gains):
        return "yes"
    telling = [gain for gain in gains if len(gain) > 1] or gains
    return "no" if any(above(gain) == "no" for gain in telling) else "no difference"


def _default(found: Measured, answers: Answers) -> str:
    shown, counts, alone = [], dict[str, list[str]](), 0
    for name in found.datasets:
        for ours in OURS:
            rivals = [title for title in answers if title not in OURS and _rivals(ours, title)]
            for n in found.bought(name):
                gains = {title: found.gain(name, ours, title, n) for title in rivals}
                gains = {title: gain for title, gain in gains.items() if len(gain)}
                if not gains:
                    continue
                other = min(gains, key=lambda title: gains[title].mean())
                place = PLACES[above(gains[other])]
                counts.setdefault(f"{ours} on {name}", []).append(place)
                alone += len(gains[other]) == 1
                cells = [
                    other,
                    mean_and_spread(found.values(name, other, n)),
                    mean_and_spread(found.values(name, ours, n)),
                ]
                shown.append([name, ours, f"{n:,}", *cells, points(gains[other]), place])
    total = [place for places in counts.values() for place in places]
    sums = "\n".join(f"- {who}: {_count(places)}" for who, places in {**counts, "In all": total}.items())
    sums = sums if total else "There is nothing to compare."
    sums += f"\n\nRest on one seed, where the sign decides: {alone} of {len(total)}." if alone else ""
    return f"""## Is our default ahead?
{DEFAULT}, which plans, and {ASKS}, each against the best other line at each number of labels after the start: the one
that it is least ahead of, found after the fact, which is hard on ours. {DEFAULT + SIMCLR} is compared with lines on the
same features and Random, {ASKS + SIMCLR} also with lines that ask.
Ahead and behind are 95 % t intervals, paired by seed; level is neither, and with few seeds says little. Constants were
chosen with labels of training images of MNIST and CIFAR-10 (`results/defaults`, `results/asking`), never with those of
test images.

{table(["dataset", "ours", "labels", "best other", "its accuracy", "ours", "difference, points", "ours is"], shown)}

{sums}"""


def _rivals(ours: str, other: str) -> bool:
    """Whether these two lines are compared: those that look at the same features, or both ask a network."""
    same = other == RANDOM or other.endswith(SIMCLR) == ours.endswith(SIMCLR)
    return same or (ours in ASKING and other in ASKING)


def _count(places: Sequence[str]) -> str:
    good = sum(place != "behind" for place in places)
    return f"ahead or level in {good} of {len(places)} (ahead in {places.count('ahead')})"
