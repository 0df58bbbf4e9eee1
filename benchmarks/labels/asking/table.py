"""Write README.md from the rows beside it: python results/asking/table.py"""

import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TAKEN = "cover power=2 from=64"
ASKED = "logistic+knn"
CHOSEN = ("adult", "nomao", "mnist", "fashion_mnist")
JUDGED = ("satimage", "magic04", "phishing", "digits")
LATE = (100, 150, 200, 300, 500)  # labels at which a model may have been asked
HEAD = """# How should MHEAL ask a model?

Once labels are there and a model has learnt from them, `mheal-asking` looks at what it doubts: each row is worth
(1 − (p₁ − p₂))^power, p₁ and p₂ its two most probable classes. What was tried, with `variants.py`:

- **cover** goes on as MHEAL does: up to 256 labels it covers what is worth most, then it spreads, and distances count
  times the worth; **cover on** covers without end; **spread** spreads from the start; **shortlist** spreads without
  charges among the five times as many rows of the most doubt; other names are strategies that take over;
- **from** so many labels on; before it is MHEAL;
- **draws**: doubt of the mean of 20 draws of the dropout; **network**: distances in the network's last layer.

Bold is `mheal-asking` as it is. To ask from 32 labels on is no better with any certainty, and 64 leaves a model more to
learn from. The labels that variants are judged by are of training data, and chose among them.
"""
PHOTOGRAPHS = """A network that has 56 % right was asked for 1,000 more labels. With power 1 these are worth 1.1 ± 0.2
points more than with power 2, with every seed; on tables and small images power 1 is 0.2 ± 0.1 points behind. So one
that knows little may be trusted less, but three seeds at one number of labels are too few to change the power for.
Against MHEAL, which does not ask, chance is larger than any gain. What draws disagree on, and distances in the
network's last layer, are no better than the margin in the given features."""


def tables() -> str:
    """Four datasets, two models: mean over all, and against the one that was taken, paired."""
    found: dict[str, dict[tuple[str, str, str], dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    with (HERE / "table_rows.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            run = found[row["strategy"]][row["dataset"], row["model"], row["seed"]]
            run[int(row["labels"])] = float(row["accuracy"])
    keys = sorted(found[TAKEN])
    budgets = sorted(found[TAKEN][keys[0]])
    lines = []
    for name, runs in found.items():
        late = np.array([100 * np.mean([runs[key][n] for n in LATE]) for key in keys])
        gap = late - [100 * np.mean([found[TAKEN][key][n] for n in LATE]) for key in keys]
        means = [f"{100 * np.mean([runs[key][n] for key in keys]):.1f}" for n in budgets]
        error = gap.std(ddof=1) / len(gap) ** 0.5
        against = "–" if name == TAKEN else f"{gap.mean():+.2f} ± {error:.2f}".replace("-", "−")
        lines.append((late.mean(), [f"**{name}**" if name == TAKEN else name, *means, f"{late.mean():.2f}", against]))
    body = [cells for _, cells in sorted(lines, key=lambda line: -line[0])]
    seeds, models, names = (len({key[i] for key in keys}) for i in (2, 1, 0))
    return f"""## Tables and small images
Adult, Nomao, MNIST and Fashion-MNIST (PCA to 30 columns), none of them in `results/compare`; {names} datasets,
{models} models, {seeds} splits (`tables.py`, rows in `table_rows.csv`). Accuracy in %, means over all; the last columns
are means from 100 labels on, and the difference to the one that was taken, paired, ± its standard error. Chance
differs by variant: at 20 and 50 labels, where most of them are the same, it makes half a point.

{_table(["strategy", *map(str, budgets), "100 on", "difference"], body)}"""


def proxy() -> str:
    """What asking one model gains for another, against asking none."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    with (HERE / "proxy_rows.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):  # labels in the order they were bought
            found[row["asked"], row["trained"]][row["dataset"], row["seed"]].append(100 * float(row["accuracy"]))
    asked, trained = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))
    seeds = len({seed for runs in found.values() for _, seed in runs})
    parts = []
    for title, names in (("Chosen on " + ", ".join(CHOSEN), CHOSEN), ("Judged on " + ", ".join(JUDGED), JUDGED)):
        body = []
        for one in asked:
            gaps = []
            for learner in trained:
                runs = {key: run for key, run in found["none", learner].items() if key[0] in names}
                gaps.append([np.mean(found[one, learner][key]) - np.mean(run) for key, run in runs.items()])
            cells = [f"{np.mean(gap):+.2f} ± {np.std(gap, ddof=1) / len(gap) ** 0.5:.2f}" for gap in gaps]
            line = [f"**{one}**" if one == ASKED else one, *cells, f"{np.mean(gaps):+.2f}"]
            body.append([cell.replace("-", "−") for cell in line])
        body = [line for line in body if line[0] != "none"]
        parts.append(f"{title}:\n\n{_table(['asked', *trained, 'mean'], body)}")
    return f"""## Whom to ask, if there are labels and no model
`mheal select --labeled` knows the labels, not what will learn from them. What it asks may help one model and not
another: gain of asking the model on the left for the one above, against MHEAL, which asks none, in points, mean over
200, 300 and 500 labels, ± standard error over four datasets and {seeds} splits (`proxy.py`, rows in `proxy_rows.csv`).
"+" is the mean of what models say; "network" has one hidden layer of 128; "random" buys at random.

{(chr(10) * 2).join(parts)}

Bold is what was taken: of those that gain most, the one that costs least to ask about a large pool. Who will classify
by nearest neighbours should ask those, or none. To add them to a model of your own (svm+knn for svm, and so on) helps
as often as it hurts, so `--proba` is taken as it is."""


def networks() -> str:
    """MNIST with networks, on training images left out."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    seeds = set()
    with (HERE / "network_rows.jsonl").open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            seeds.add(row["seed"])
            for n, value in row["accuracy"].items():
                found[row["strategy"]][int(n)].append(100 * value)
    budgets = sorted(set.intersection(*(set(cells) for cells in found.values())))
    order = sorted(found, key=lambda name: -np.mean(found[name][budgets[-1]]))
    body = [[name, *(_cell(found[name][n]) for n in budgets)] for name in order]
    return f"""## Networks
MNIST without its last 10,000 training images, which are the test set; codes, network and rounds of Table 3;
{len(seeds)} seeds, mean ± standard deviation, on an H200. A first trial: it was cut off before 500 labels, its variants
let labelled rows count for nothing, and the one that was taken, which is between "cover on" and "spread", was not among
them. `networks.py` makes rows of the variants above.

{_table(["strategy", *map(str, budgets)], body)}"""


def photographs() -> str:
    """CIFAR-10 with networks, on training images left out."""
    found: dict[str, dict[int, dict[int, float]]] = defaultdict(dict)
    with (HERE / "photograph_rows.jsonl").open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            found[row["strategy"]][row["seed"]] = {int(n): 100 * value for n, value in row["accuracy"].items()}
    seeds = sorted(found[TAKEN])
    budgets = sorted(set.intersection(*(set(cells) for runs in found.values() for cells in runs.values())))
    body = []
    for name, runs in found.items():
        gaps = [np.mean([runs[seed][n] - found[TAKEN][seed][n] for n in budgets[1:]]) for seed in seeds]
        against = "–" if name == TAKEN else f"{np.mean(gaps):+.1f} ± {np.std(gaps, ddof=1) / len(gaps) ** 0.5:.1f}"
        cells = [_cell([runs[seed][n] for seed in seeds]) for n in budgets]
        body.append([f"**{name}**" if name == TAKEN else name, *cells, against.replace("-", "−")])
    return f"""## Photographs
CIFAR-10 without its last 10,000 training images, which are the test set; features of SimCLR, network and rounds of
Table 3: all but random buy 1,000 labels as MHEAL does; then variants ask. {len(seeds)} seeds, mean ± standard
deviation, on an H200 (`networks.py`, rows in `photograph_rows.jsonl`); variants were stopped after 2,000 labels.
The last column is the difference to what was taken, paired, ± its standard error. **bald**: worth is what 20
draws of the dropout disagree on.

{_table(["strategy", *(f"{n:,}" for n in budgets), "difference"], body)}

{PHOTOGRAPHS}"""


def _cell(values: list[float]) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}"


def _table(header: list[str], lines: list[list[str]]) -> str:
    rule = ["---"] * len(header)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *lines])


if __name__ == "__main__":
    text = "\n\n".join([HEAD.strip(), tables(), proxy(), networks(), photographs()]) + "\n"
    (HERE / "README.md").write_text(text, encoding="utf-8")
