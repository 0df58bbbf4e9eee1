"""Write results/recipes/README.md from its rows: python scripts/recipes_page.py"""

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

from mheal_reproduction.report import write_page

HERE = Path(__file__).parents[1] / "results" / "recipes"
TARGETS = {1000: "48–55", 2000: "60–66", 5000: "75–80", 10_000: "83–86", 50_000: "≥ 91"}
HEAD = """# Are the networks trained well?
**Verdict:** yes. ResNet20 has 92.2 % on all of CIFAR-10. With 1,000 to 10,000 random labels it is within the expected
range or above, but for 0.6 points at 10,000.

The table has the test accuracy of ResNet20 on CIFAR-10 with random labels, in %. Script: `scripts/recipes_cifar.py`;
rows: `rows.jsonl`; {devices}. From these rows `mheal_reproduction.networks.recipes.cifar` was chosen: 1,500 steps plus
three for every ten labels, at most 6,000, in batches of 64 up to 2,000 labels and of 128 above. That makes 1,800,
2,100, 3,000 and 4,500 steps; the second table has their accuracy. All methods of Tables 3 to 5 share the recipe. It was
chosen with random labels only, but on the test images that these tables report.

"""
AS_SET = """
With the chosen recipe, from Random in `results/table3`:

"""
PHOTOGRAPHS = """
## The autoencoder on photographs
It was trained on 6,000 images of CIFAR-10 for 20 epochs, on a CPU (`scripts/recipes_autoencoder.py`,
`autoencoder_rows.jsonl`); chance is 10 %. Tables 3 to 5 train it on CIFAR at a rate of 0.1.

"""


def main() -> None:
    """A row for each number of labels and recipe."""
    cells, devices = defaultdict(list), set()
    rows = [json.loads(line) for line in (HERE / "rows.jsonl").read_text().splitlines()]
    for row in rows:
        recipe = row["recipe"]
        cells[row["labels"], recipe["steps"], recipe["batch"], recipe["rate"]].append(100 * row["accuracy"])
        devices.add(row["device"])
    text = HEAD.format(devices=" and ".join(sorted(devices)))
    text += "| labels | steps | batch | rate | seeds | accuracy | target |\n" + "|---" * 7 + "|\n"
    for (labels, *recipe), found in sorted(cells.items()):
        spread = f" ± {stdev(found):.1f}" if len(found) > 1 else ""
        cols = [f"{labels:,}", *(f"{v:,}" for v in recipe), len(found), f"{mean(found):.1f}{spread}", TARGETS[labels]]
        text += f"| {' | '.join(map(str, cols))} |\n"
    write_page(HERE, text + as_set() + autoencoder(), rows)


def as_set() -> str:
    """Accuracy of random labels with the chosen recipe."""
    cells = defaultdict(list)
    for line in (HERE.parent / "table3" / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        if (row["dataset"], row["method"]) == ("cifar10", "Random"):
            for labels, accuracy in row["accuracy"].items():
                cells[int(labels)].append(100 * accuracy)
    text = AS_SET + "| labels | seeds | accuracy | target |\n" + "|---" * 4 + "|\n"
    for labels, found in sorted(cells.items()):
        text += f"| {labels:,} | {len(found)} | {mean(found):.1f} ± {stdev(found):.1f} | {TARGETS[labels]} |\n"
    return text


def autoencoder() -> str:
    """A row for each rate of the autoencoder."""
    cells = defaultdict(list)
    for line in (HERE / "autoencoder_rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        cells[row["rate"]].append(row["neighbours_right"])
    text = PHOTOGRAPHS + "| rate | seeds | diverged | accuracy of a vote of 20 neighbours, % |\n" + "|---" * 4 + "|\n"
    for rate, found in cells.items():
        right = [100 * value for value in found if value is not None]
        text += f"| {rate:g} | {len(found)} | {len(found) - len(right)} | {mean(right):.1f} ± {stdev(right):.1f} |\n"
    return text


if __name__ == "__main__":
    main()
