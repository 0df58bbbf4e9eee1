"""Write README.md from the rows beside it: python results/shapes/table.py"""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TITLES = {"random": "random", "pca": "pixels", "edges": "edges", "shapes": "**both**"}
HEAD = """# What should images be compared by, where there is no network to say?

MHEAL picks by the principal columns of pixels (`--embed pca`), of the edges in them, or of both side by side (`--embed
shapes`). What learns from the labels sees pixels: an SVM, or the network of Table 3, 400 steps. `shapes.py` says more;
rows in `rows.csv`. How edges are counted was chosen by an SVM, on such training images; no network had a say.

Both gains on photographs, for either model, and is nowhere behind with any certainty. So it is what `mheal select` does
with images.
"""

Runs = dict[tuple[str, str], dict[str, dict[str, dict[int, float]]]]


def main() -> None:
    found: Runs = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    with (HERE / "rows.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            run = found[row["model"], row["dataset"]][row["embedding"]][row["seed"]]
            run[int(row["labels"])] = 100 * float(row["accuracy"])
    text = HEAD
    for model in ("network", "svm"):
        names = [name for one, name in found if one == model]
        text += f"\n## {'The network' if model == 'network' else 'An SVM'}\nAccuracy in %, mean ± standard deviation"
        text += ";\nthe last column is both minus pixels over all numbers of labels, paired, ± its standard error.\n"
        for name in names:
            text += f"\n{_table(name, found[model, name])}\n"
    (HERE / "README.md").write_text(text, encoding="utf-8")
    print(text)


def _table(name: str, embeddings: dict[str, dict[str, dict[int, float]]]) -> str:
    seeds = sorted(set.intersection(*(set(runs) for runs in embeddings.values())))
    budgets = sorted(embeddings["pca"][seeds[0]])
    lines = [[f"{name}, {len(seeds)} splits", *map(str, budgets), "gain"], ["---"] * (2 + len(budgets))]
    means = {e: np.array([np.mean([runs[s][n] for n in budgets]) for s in seeds]) for e, runs in embeddings.items()}
    for embedding, title in TITLES.items():
        cells = [[embeddings[embedding][seed][n] for seed in seeds] for n in budgets]
        gain = means["shapes"] - means["pca"]
        error = gain.std(ddof=1) / len(gain) ** 0.5
        last = f"{gain.mean():+.1f} ± {error:.1f}".replace("-", "−") if embedding == "shapes" else ""
        lines.append([title, *(f"{np.mean(cell):.1f} ± {np.std(cell, ddof=1):.1f}" for cell in cells), last])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
