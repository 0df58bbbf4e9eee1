"""The page results/README.md: every claim of the paper with its verdict, made from the rows."""

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
    verdict = f"""**Verdict:** {readings.first_line(results)} The claim that MHEAL is the best of the paper's methods
with few labels is reproduced in {top} of {len(best)} cases (datasets × pools of Tables 3 to 5). Of {len(found)} claims
about experiments, {number["reproduced"]} are reproduced, {number["refuted"]} refuted, {number["not reproduced"]} not
reproduced, {number["mixed"]} mixed and {number["other"]} answered otherwise. In the theory, the energy, the max-min
traversal and the clustering hold; the closed form after Eq. 3, Lemmas 2 and 3, Proposition 3, Eq. 11 and Theorem 1 are
refuted as printed."""
    return f"""# Results, claim by claim
{wrapped(verdict)}

Each folder has raw rows, tables and pictures; `make reproduce NAME=…` makes it again. A claim *holds* or is
*reproduced* if our proofs, tests or runs show it. It is *refuted* if there is a counterexample, or if they show the
opposite with certainty; one seed never refutes. Otherwise it is *not reproduced*. *Mixed* differs between datasets or
settings. *Random* labels random items; "the energy adds" compares with as many random rows of each cluster.

{THEORY}

## Experiments
This page is made from the rows by `python -m mheal_reproduction --summary`. Differences against Random are given as the
smallest and the largest over the numbers of labels.

{table(["where", "claim", "verdict", "why"], experiments)}

Tables 3 to 5 were run in parts, by [in_parts.py](../scripts/in_parts.py). Some runs had not ended when the GPU was no
longer available; [finish_on_cpu.py](../scripts/finish_on_cpu.py) trained their last networks on a CPU, in bfloat16 as
on the GPU. The column `device` of the rows says which.

{wrapped(images.stopped(results))}

## Our own questions
`benchmarks/labels` has how mheal's defaults were chosen, and how it compares without networks. The best other method
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
