"""Whether MHEAL is the best of the paper's methods at each number of labels, for Tables 3, 4 and 5."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...report import Floats, table, tally
from .measured import Measured
from .methods import methods
from .picture import PAPER, RANDOM
from .published import BUDGETS, accuracies
from .titles import Counterparts
from .words import above, verdict


class Place(NamedTuple):
    """The comparison of MHEAL (paper) with the other methods at one number of labels.

    gains : its accuracy minus that of each other method, one for each seed that both have
    random : the same against Random
    """

    labels: int
    gains: Mapping[str, Floats]
    random: Floats

    def answer(self, most: int) -> str:
        """Whether it is above all others: "no" if below one. A single seed counts only where none has more."""
        found = [above(gain) for gain in self.gains.values()]
        if set(found) == {"yes"}:
            return "yes"
        enough = [gain for gain in self.gains.values() if len(gain) > 1 or most == 1]
        return "no" if any(above(gain) == "no" for gain in enough) else "no difference"


def as_random(name: str, title: str, n: int) -> bool:
    """Whether a method has labelled n random images and picked none, so that its accuracy is Random's."""
    return title != RANDOM and methods(name)[title].first == n


def places_of(found: Measured, name: str, counterparts: Counterparts) -> list[Place]:
    """A place for each number of labels at which it can be compared with other methods of the paper."""
    others = [title for title, printed in counterparts.items() if printed and title != PAPER]
    places = []
    for n in BUDGETS[name]:
        gains = {title: found.gain(name, PAPER, title, n) for title in others if not as_random(name, title, n)}
        gains = {title: gain for title, gain in gains.items() if len(gain)}
        if gains:
            places.append(Place(n, gains, found.gain(name, PAPER, RANDOM, n)))
    return places


def most_seeds(places: Sequence[Place]) -> int:
    """The largest number of seeds of any comparison."""
    return max((len(gain) for place in places for gain in place.gains.values()), default=0)


def best_verdict(places: Sequence[Place]) -> str:
    """Whether it is the best at every number of labels."""
    most = most_seeds(places)
    return verdict([place.answer(most) for place in places], most)


def short_verdict(places: Mapping[str, Sequence[Place]]) -> str:
    """The verdict on every dataset."""
    return ", ".join(f"{best_verdict(some)} on {name}" for name, some in places.items()) or "not judged"


def best_section(kind: str, places: Mapping[str, Sequence[Place]]) -> str:
    """The section of the page."""
    verdicts, details, single = [], [], []
    for name, some in places.items():
        most, printed = most_seeds(some), accuracies(kind, name)
        answers = [place.answer(most) for place in some]
        numbers = f"above all at {answers.count('yes')} of {len(answers)} numbers of labels"
        verdicts.append([name, f"{numbers}, below some at {answers.count('no')}", best_verdict(some)])
        details += [_detail(name, place, printed) for place in some]
        alone = sorted({title for place in some for title, gain in place.gains.items() if len(gain) == 1})
        single += [f"{'every method' if most == 1 else ', '.join(alone)} on {name}"] if alone else []
    note = f"One seed is compared by its sign, which counts as below only if no method has more: {'; '.join(single)}."
    return f"""## Is MHEAL the best method at every number of labels?
{PAPER} against the paper's other methods: 95 % t interval of the difference, paired by seed. *Reproduced* if above all
of them at every number of labels, *refuted* if below at least one at every number, else *not reproduced*; one seed
refutes nothing. Methods that have Random's own numbers at the first number of labels are left out there.
{note if single else ""}

{table(["dataset", "ours", "verdict"], verdicts)}

{table(["dataset", "labels", "best in the paper", f"{PAPER} above the others", "below", "above Random"], details)}"""


def _detail(name: str, place: Place, printed: Mapping[str, Mapping[int, float]]) -> list[str]:
    n, compared = place.labels, {title: above(gain) for title, gain in place.gains.items()}
    below = ", ".join(title for title, answer in compared.items() if answer == "no")
    best = max(cells[n] for cells in printed.values())
    top = " and ".join(method for method, cells in printed.items() if cells[n] == best)
    random = above(place.random) if len(place.random) else "–"
    return [name, f"{n:,}", top, tally(list(compared.values())), below or "none", random]
