"""Write README.md from the rows beside it and those of Table 3: python results/typical/table.py"""

import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TABLE3 = HERE.parent / "table3"
HEAD = """# Why is TypiClust ahead with 1,000 and 2,000 photographs?

Of what the lines of Table 3 on features of SimCLR buy on CIFAR-10: **place** when all images are sorted by local
spacing, from 0, the densest, to 1, the sparsest; **same**: of 20 neighbours, the share that has the image's own label;
**accuracy** of ResNet20, % (`results/table3`, with `stopped_rows.jsonl`). Means over seeds; script `typical.py`, rows
`rows.csv`.
"""
TAIL = """
What it says:

- A network that learns from 1,000 or 2,000 photographs alone wants typical ones. At 2,000 the lines are in nearly the
  same order by **same** and by accuracy. TypiClust buys where images are densest, MHEAL at an average place, a little
  to the sparse side, since its charge is 1.25. With 5,000 and more TypiClust's gain is gone.
- Images that are in the pool twice look typical, and TypiClust buys them: in Tables 4 and 5 it is behind MHEAL at each
  number of labels.
- Who learns from the features, not from pixels, need not care: there MHEAL is ahead of Random by 1.7 points at 1,000
  labels and 1.0 at 2,000 (`results/defaults`).
- A charge of 1 buys images that are as typical as TypiClust's by **same**. What networks gain by it may be chance; on
  tables already 1.1 is no better than 1.25 (`results/defaults`). So 1.25 stays until more is known.
"""
CHARGED = """## A charge of 1
Accuracy of ResNet20 on 10,000 training images that were left out, %, seed by seed; random and MHEAL as it is from
`results/asking/photograph_rows.jsonl`, on an H200, a charge of 1 from `charge.py`, on a CPU (`charge_rows.jsonl`).

"""


def main() -> None:
    bought: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    for row in csv.DictReader((HERE / "rows.csv").open(encoding="utf-8")):
        bought[row["strategy"], int(row["labels"])].append((float(row["spacing"]), float(row["same"])))
    accuracy: dict[tuple[str, int], list[float]] = defaultdict(list)
    for name in ("rows.jsonl", "stopped_rows.jsonl"):
        for row in map(json.loads, (TABLE3 / name).open(encoding="utf-8")):
            if row["dataset"] == "cifar10":
                for n, value in row["accuracy"].items():
                    accuracy[row["method"], int(n)].append(100 * value)
    parts = []
    for n in sorted({labels for _, labels in bought}):
        lines = [["bought by", "place", "same", "accuracy", "seeds"], ["---"] * 5]
        for name in sorted({one for one, _ in bought}, key=lambda one: -np.mean(bought[one, n], axis=0)[1]):
            place, same = np.mean(bought[name, n], axis=0)
            found = accuracy["Random" if name == "all" else f"{name}, SimCLR", n]
            title = "Random, on average" if name == "all" else name
            lines.append(
                [
                    title,
                    f"{place:.2f}",
                    f"{same:.2f}",
                    f"{np.mean(found):.1f}" if found else "–",
                    str(len(found) or "–"),
                ]
            )
        parts.append(f"## {n:,} labels\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines))
    text = "\n\n".join([HEAD.strip(), *parts, charged(), TAIL.strip()])
    (HERE / "README.md").write_text(text + "\n", encoding="utf-8")


def charged() -> str:
    """What a charge of 1 gives, beside MHEAL as it is."""
    found: dict[tuple[str, int, int], float] = {}
    for row in map(json.loads, (HERE.parent / "asking" / "photograph_rows.jsonl").open(encoding="utf-8")):
        found |= {(row["strategy"], int(n), row["seed"]): 100 * value for n, value in row["accuracy"].items()}
    for row in map(json.loads, (HERE / "charge_rows.jsonl").open(encoding="utf-8")):
        found["charge=1", row["labels"], row["seed"]] = 100 * row["accuracy"]
    lines = [["labels", "seed", "random", "MHEAL", "MHEAL, charge=1"], ["---"] * 5]
    for _, n, seed in sorted(key for key in found if key[0] == "charge=1"):
        cells = [f"{found[name, n, seed]:.1f}" for name in ("random", "mheal", "charge=1")]
        lines.append([f"{n:,}", str(seed), *cells])
    for n in sorted({n for name, n, _ in found if name == "charge=1"}):
        gap = [found["charge=1", n, s] - found["mheal", n, s] for name, m, s in found if (name, m) == ("charge=1", n)]
        gain = f"{np.mean(gap):+.1f} ± {np.std(gap, ddof=1) / len(gap) ** 0.5:.1f}"
        lines.append([f"{n:,}", "mean", "", "gain, ± its standard error", gain])
    return CHARGED + "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
