"""results/README.md: what holds, claim by claim; the parts about experiments are made from the rows."""

from collections.abc import Iterable
from pathlib import Path

from mheal.runtime.files import replacing

from ..report import table, wrapped
from . import clustering, images, matching, ours, pruning, readings, svm
from .entries import Entry, Results
from .theory import THEORY

PARTS = (pruning, clustering, matching, images, readings, svm)
WORDS = ("reproduced", "refuted", "not reproduced")


def claims(results: Results) -> list[Entry]:
    """Every claim of the paper that an experiment decides, in the order of the paper."""
    return [entry for part in PARTS for entry in part.entries(results)]


def counts(found: Iterable[Entry]) -> dict[str, int]:
    """How many claims have which verdict; "mixed" where it differs between datasets or settings."""
    kinds = [kind(entry.verdict) for entry in found]
    return {word: kinds.count(word) for word in (*WORDS, "mixed", "other")}


def kind(verdict: str) -> str:
    """A verdict as one word, "mixed" or "other"."""
    bare = verdict.replace("not reproduced", "open")
    present = [word for word, sign in zip(WORDS, ("reproduced", "refuted", "open"), strict=True) if sign in bare]
    return present[0] if len(present) == 1 else "mixed" if present else "other"


def page(results: Results) -> str:
    """The whole page, in Markdown."""
    found = claims(results)
    number = counts(found)
    best = [entry for entry in found if entry.claim.startswith("MHEAL is the best")]
    top = sum(kind(entry.verdict) == "reproduced" for entry in best)
    experiments = [[_link(entry), entry.claim, entry.verdict, entry.why] for entry in found]
    questions = [[_link(entry), entry.claim, entry.verdict] for entry in ours.entries(results)]
    verdict = f"""**Verdict:** {readings.first_line(results)} That it is the best of the paper's methods with few
labels is reproduced in {top} of {len(best)} cases (datasets × pools of Tables 3 to 5). Of {len(found)} claims of the
experiments {number["reproduced"]} are reproduced, {number["refuted"]} refuted, {number["not reproduced"]} not
reproduced, {number["mixed"]} mixed. In the theory, the energy, the max-min traversal and the clustering hold; the
closed form after Eq. 3, Lemmas 2 and 3, Proposition 3, Eq. 11 and Theorem 1 are refuted as printed."""
    return f"""# Results, claim by claim
{wrapped(verdict)}

Each folder has raw rows, tables and pictures; `make reproduce NAME=…` makes it again. **Holds** or **reproduced**: our
proofs, tests or runs show it. **Not reproduced**: they show neither the claim nor its opposite with certainty; one seed
never refutes. **Refuted**: there is a counterexample, or they show the opposite with certainty.

{THEORY}

## Experiments
Made from the rows by `python -m mheal_reproduction --summary`. Differences against Random are the smallest and the
largest over the numbers of labels.

{table(["where", "claim", "verdict", "why"], experiments)}

Tables 3 to 5 were run in parts, by [in_parts.py](../scripts/in_parts.py). Where the GPU was no longer available before
a run had ended, its last networks were trained on a CPU, in bfloat16 as on the GPU, by
[finish_on_cpu.py](../scripts/finish_on_cpu.py); the column `device` of the rows says which.

{wrapped(images.stopped(results))}

## Our own questions
How mheal's defaults were chosen, and how it compares without networks, is in `benchmarks/labels`. The best other method
is chosen after the fact at each number of labels, so the comparison is strict.

{table(["where", "question", "answer"], questions)}
"""


def write(home: Path) -> str:
    """Write README.md of the folder of results, and return it."""
    text = page(Results(home))
    with replacing(home / "README.md") as part:
        part.write_text(text, encoding="utf-8")
    return text


def _link(entry: Entry) -> str:
    return f"[{entry.title}]({entry.folder}/README.md)"
