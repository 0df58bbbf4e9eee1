"""The page of Table 2: the paper's numbers beside ours and those of random subsets, and its claims."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...report import compare, table, tally
from .chance import HEADER, ROOT2, outside, random_rows, random_verdicts
from .matching import MEASURES, ORDERS, Floats, Statistics
from .numbers import BETA, COLUMNS, DATASETS, L0, METHODS, PAPER, PRINTED, WHO, Found
from .orders import CLIP, RATE

RIVALS = ("l1", "l2")
PROPER = ("mmd_mean", "rbf", "energy", "cells", "classes")
ROUNDING = 0.5e-4  # of the paper's four places
# ℓ_KL is negative at X' = X, so its distance from there is the loss
LOSSES = MEASURES | {
    "kl_mean": "ℓ_KL − its value at X' = X, absolute, mean images",
    "kl_rows": "ℓ_KL, absolute, image by image",
}


def page(found: Found, steps: int, quick: bool) -> str:
    """The whole page, in Markdown; `steps` are those of ℓ2's descent."""
    size = "Quick run: small sizes, so the paper's numbers beside ours are for the look only." if quick else ""
    n, first = found.sizes[-1], found.sizes[0]
    judged: dict[str, list[str]] = {}
    for what in PRINTED:
        judged.setdefault(judge(found, what), []).append(MEASURES[what])
    verdicts = "; ".join(f"{verdict} under {' and '.join(measures)}" for verdict, measures in judged.items())
    return f"""# Table 2 and Figure 10: distribution matching
**Verdict:** the claim that ℓ0 matches the pool's distribution better than ℓ1 and ℓ2 is {verdicts}.

{size}
{len(found.seeds)} seeds; subsets of {first:,} to {n:,} of {n:,} images. A seed decides the random subset, the first row
or the clusters. Few seeds are enough, because greedy selections differ only by their first row.
Protocol: `mheal_reproduction.paper.table2.experiment`; selections: `mheal_reproduction.paper.table2.orders`;
measures: `mheal_reproduction.paper.table2.matching`.

![Loss against the size of the subset](figure10.png)

## Verdicts
{table(["claim or question", "answer", "verdict"], _verdicts(found, steps))}

## Does ℓ0 match better than ℓ1 and ℓ2?
The initial and the mean loss of ℓ0 are compared with those of ℓ1 and of ℓ2 on each dataset, by the 95 % t interval of
the difference, paired by seed. The claim is reproduced if some ℓ0 has the smaller loss in all eight comparisons. It is
refuted if every ℓ0 is worse than ℓ1 or ℓ2 on each dataset. As printed, ℓ_KL is not a loss, because it is negative at
X' = X. So the reading with mean images is compared by its distance from the value at X' = X. The reading image by image
is compared by its distance from 0, which is about the value of the pool in any shuffled order.

{table(["measure", *(METHODS[method] for method in L0)], _claims(found))}

The paper's own table contradicts the claim: {"; ".join(contradictions())}.

## Are the paper's numbers those of random subsets?
The paper's values beside √(trΣ(1/m − 1/n)), the root mean square MMD_μ of random subsets, and the central 95 % of
{ORDERS} random orders; for ℓ_MMD with squared norms, √2 times both. "Inside": random subsets could give this value.

{outside(found)}

{table(HEADER, random_rows(found))}

## Which selection matches best?
Smallest mean loss over the sizes, and Random's beside it. Support points minimise the energy distance and herding the
RBF-MMD, by which they are then judged; MMD_μ is 0 for many X' ≠ X.

{table(["measure", *(f"{name}: best, Random" for name in DATASETS)], _best_rows(found))}

## All numbers
Cells are initial / mean / standard deviation over the sizes, computed for each seed and averaged over the seeds; ± is
the standard deviation of the initial value over the seeds. ℓ_KL, as printed, has two readings: mean images; or the i-th
image of X against the i-th pick, averaged over the images. ℓ_MMD has two as well, with plain or squared norms. With
plain norms it is the root of the energy distance. The paper's ℓ0 could be any of our three.

{_tables(found)}
"""


def _verdicts(found: Found, steps: int) -> Iterator[list[str]]:
    for name in DATASETS:
        yield from random_verdicts(found, name)
    yield from _identity_verdicts(found)
    for name in DATASETS:
        yield from _kl_verdicts(found, name)
    for name in DATASETS:
        moved = _moved(found, name)
        yield [
            f"{name}: ℓ2 leaves the random subset it starts from, in {steps} steps of at most {RATE * CLIP:g} on the "
            "unit sphere (steps and clip are ours)",
            f"MMD_μ changes by {moved:.2%} at most",
            "no" if moved == 0 else "hardly" if moved < 0.05 else "yes",
        ]
    for what in PRINTED:
        against = {rival: [answer for m in L0 for answer in _against(found, what, m, rival)] for rival in RIVALS}
        yield [
            f"ℓ0 is tighter than ℓ1 and ℓ2 under {LOSSES[what]}",
            "; ".join(f"against {METHODS[rival]}: {tally(answers)}" for rival, answers in against.items()),
            judge(found, what),
        ]
    best = {what: [_best(found, name, what) for name in DATASETS] for what in MEASURES}
    wins = [MEASURES[what] for what, names in best.items() if PRINTED.get(what) != "kl" and set(names) <= set(L0)]
    yield [
        "some ℓ0 matches best of all, on both datasets, under a measure that is 0 at X' = X",
        f"under {', '.join(wins)}" if wins else "under none",
        "yes" if wins else "no",
    ]
    proper = [METHODS[name] for what in PROPER for name in best[what]]
    leader = max(dict.fromkeys(proper), key=proper.count)
    yield [
        f"which selection matches best under {', '.join(MEASURES[what] for what in PROPER)}",
        f"{leader}: {proper.count(leader)} of {len(proper)}, a measure and a dataset each",
        leader,
    ]


def judge(found: Found, what: str) -> str:
    """The verdict on ℓ0 being tighter than ℓ1 and ℓ2 under a measure; ℓ_KL, no loss, is never called reproduced."""
    given = {m: {name: _answers(found, what, m, name) for name in DATASETS} for m in L0}
    winners = [METHODS[m] for m, by_name in given.items() if all(set(one) == {"yes"} for one in by_name.values())]
    if winners:
        by = ", ".join(winners)
        return f"holds for {by}, but ℓ_KL is no loss" if PRINTED.get(what) == "kl" else f"reproduced by {by}"
    worse = all("no" in answers for by_name in given.values() for answers in by_name.values())
    return "refuted" if worse else "not reproduced"


def _answers(found: Found, what: str, method: str, name: str, rivals: Sequence[str] = RIVALS) -> list[str]:
    """Whether this ℓ0 has the smaller loss: initial and mean, against each rival."""
    mine, answers = found.loss(name, method, what), []
    for rival in rivals:
        theirs = found.loss(name, rival, what)
        answers += [compare(mine[:, 0], theirs[:, 0]), compare(mine.mean(axis=1), theirs.mean(axis=1))]
    return answers


def _against(found: Found, what: str, method: str, *rivals: str) -> list[str]:
    return [answer for name in DATASETS for answer in _answers(found, what, method, name, rivals)]


def contradictions() -> list[str]:
    """Where the paper's ℓ0 has no lower initial or mean loss than its ℓ1 or ℓ2."""
    against = []
    for column, title in COLUMNS.items():
        for at, name in enumerate(DATASETS):
            for what in ("initial", "mean"):
                mine, *theirs = (getattr(PAPER[column, who][at], what) for who in ("l0", *RIVALS))
                for rival, value in zip(RIVALS, theirs, strict=True):
                    if value <= mine:
                        against.append(f"{title}, {name}, {what}: {METHODS[rival]} {value} against ℓ0's {mine}")
    return against


def _identity_verdicts(found: Found) -> Iterator[list[str]]:
    """Squared norms make ℓ_MMD a multiple of MMD_μ; the last size has 0 for both."""
    gaps = []
    for name in DATASETS:
        for method in METHODS:
            squared, mean = (found.curve(name, method, what)[:, :-1] for what in ("mmd_squared", "mmd_mean"))
            gaps.append(float(np.max(np.abs(squared / (ROOT2 * mean) - 1))))
    yield [
        "ℓ_MMD with squared norms is √2·MMD_μ, so the two measures are one",
        f"largest relative difference in our rows {max(gaps):.1e}",
        "confirmed" if max(gaps) < 1e-3 else "not confirmed",
    ]
    pairs = [(PAPER["mmd", who][at].initial, PAPER["mmd_mean", who][at].initial) for at in range(2) for who in WHO]
    obeyed = all(abs(mmd - ROOT2 * mean) <= ROUNDING * (1 + ROOT2) for mmd, mean in pairs)
    ratios = ", ".join(f"{mmd / mean:.2f}" for mmd, mean in pairs)
    yield ["the paper's two columns obey it", f"initial ratios {ratios} against √2 = 1.41", "yes" if obeyed else "no"]


def _kl_verdicts(found: Found, name: str) -> Iterator[list[str]]:
    means, images, beta = (found.fact(name, what) for what in ("kl_mean", "kl_rows", "beta"))
    whole = np.array([found.curve(name, method, "kl_rows")[:, -1] for method in METHODS])
    near = abs(beta / BETA[name] - 1) < 0.05
    yield [
        f"{name}: ℓ_KL is a loss, 0 at X' = X and positive elsewhere",
        f"at X' = X it is {means:.1f} for mean images; image by image it depends on the order: {images:.1f} with each "
        f"image beside itself, {whole.min():.2f} to {whole.max():.2f} in the orders of our rows",
        "refuted: negative at X' = X" if max(means, images) < 0 else "not refuted",
    ]
    yield [
        f"{name}: the paper's β = {BETA[name]} is where ℓ_KL of random pairs of images is 0",
        f"it is 0 at β = {beta:.3f}",
        f"{'yes' if near else 'no: not'} within 5 %",
    ]


def _moved(found: Found, name: str) -> float:
    """The largest relative change of MMD_μ by ℓ2's descent."""
    before, after = (found.curve(name, method, "mmd_mean")[:, :-1] for method in ("random", "l2"))
    return float(np.max(np.abs(after / before - 1)))


def _claims(found: Found) -> Iterator[list[str]]:
    for what, title in LOSSES.items():
        yield [title, *(tally(_against(found, what, method, *RIVALS)) for method in L0)]


def _best(found: Found, name: str, what: str) -> str:
    return min(METHODS, key=lambda method: found.loss(name, method, what).mean())


def _best_rows(found: Found) -> Iterator[list[str]]:
    for what, title in LOSSES.items():
        cells = []
        for name in DATASETS:
            best = _best(found, name, what)
            mine, chance = (found.loss(name, method, what).mean() for method in (best, "random"))
            cells.append(f"{METHODS[best]} {_short(mine)}, {_short(chance)}")
        yield [title, *cells]


def _tables(found: Found) -> str:
    parts = []
    for what, title in MEASURES.items():
        header = ["selection", *(f"{name}, {who}" for name in DATASETS for who in ("paper", "ours"))]
        lines = []
        for method, label in METHODS.items():
            paper = PAPER.get((PRINTED.get(what, ""), "l0" if method in L0 else method))
            cells = []
            for at, name in enumerate(DATASETS):
                cells.append(" / ".join(map(_short, paper[at])) if paper else "–")
                cells.append(_cell(found.curve(name, method, what)))
            lines.append([label, *cells])
        parts.append(f"### {title}\n{table(header, lines)}")
    return "\n\n".join(parts)


def _cell(curves: Floats) -> str:
    """Statistics inside each seed, averaged over the seeds."""
    initial, *others = map(_short, np.mean([Statistics.of(curve) for curve in curves], axis=0))
    spread = f" ± {_short(curves[:, 0].std(ddof=1))}" if len(curves) > 1 else ""
    return " / ".join([initial + spread, *others])


def _short(value: float) -> str:
    """Four places, or three digits of what is small."""
    return f"{value:.4f}" if abs(value) >= 0.01 or value == 0 else f"{value:.2e}"
