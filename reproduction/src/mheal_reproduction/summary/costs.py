"""The stated costs of the searches."""

from collections.abc import Iterator

from ..paper.complexity import CLAIMS, METHODS, exponent, verdict
from .entries import Entry, Results


def entries(results: Results) -> Iterator[Entry]:
    """A claim after the other."""
    values = results.values("complexity")
    for claim in CLAIMS:
        word, _, why = verdict(values, claim).partition(": ")
        counted = [f"{size}^{exponent(values, claim, size, METHODS[0], 'distances'):.1f}" for size in claim.exponents]
        words = f"counted distances grow as {' '.join(counted)}"
        yield Entry("complexity", claim.place, f"the cost is {claim.words}", _VERDICTS[word], why or words)


_VERDICTS = {"holds": "reproduced", "refuted": "refuted"}
