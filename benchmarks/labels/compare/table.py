"""Write README.md from the curves in the folders beside it: python results/compare/table.py"""

from pathlib import Path

import numpy as np

from mheal.evaluate import Curves

HERE = Path(__file__).parent
DATA = ("satimage", "phishing", "magic04", "digits")
MODELS = ("logistic", "svm")
HEAD = """# Strategies on four datasets

`mheal compare` with the {strategies} strategies that were there then, on Satimage (4,435 rows), Phishing (11,055),
Magic04 (19,020) and scikit-learn's digits (1,797); two models; budgets {budgets}; {seeds} splits. Each folder holds
every run (`curves.csv`), the picture and the report. The runs were made one to a core, most of them on the 16 cores of
a machine with an H200, and the reports by resuming from them; they are made again with, for instance,

    mheal compare satimage.npz:X_train --target satimage.npz:y_train --strategies {named} --seeds 10 \\
        --budgets 10,20,50,100,200,500 --model svm --out satimage-svm

Mean height of the learning curve (area under it, %), so that 500 labels weigh more than 10; in brackets the mean
accuracy at 20 labels. The last columns are means over all eight; "rank" is over splits, budgets, datasets and models,
1 the best. Strategies that look at labels between budgets have the advantage of that; kmeans, kmedoids, typiclust and
mheal-paper are told each budget in advance; mheal, random and the other ranked ones pick once, and every budget takes
the first picks. Rows of Phishing have unit length, and are compared as they are (`results/spaces`). The constants of
mheal's default were chosen on eight datasets, these four among them (`results/defaults`); those of mheal-asking, which
is mheal until it has 64 labels and a model, on others (`results/asking`).
"""


def main() -> None:
    names = [f"{data}-{model}" for model in MODELS for data in DATA]
    curves = {name: Curves.from_csv(HERE / name / "curves.csv") for name in names}
    one = curves[names[0]]
    at_20 = one.budgets.tolist().index(20)
    ranks = {s: np.mean([c.ranks()[s] for c in curves.values()]) for s in one.strategies}
    lines = []
    for strategy in sorted(one.strategies, key=ranks.__getitem__):
        height = [100 * c.aulc(strategy).mean() for c in curves.values()]
        early = [100 * c.values(strategy)[:, at_20].mean() for c in curves.values()]
        label = f"**{strategy}**" if strategy.startswith("mheal") else strategy
        cells = [f"{h:.1f} ({e:.1f})" for h, e in zip(height, early, strict=True)]
        lines.append(
            f"| {label} | {' | '.join(cells)} | {np.mean(height):.1f} ({np.mean(early):.1f}) | {ranks[strategy]:.1f} |"
        )
    heads = [f"[{name.replace('-', ', ')}]({name}/report.html)" for name in names]
    table = "\n".join([f"| | {' | '.join(heads)} | mean | rank |", "|---" * (len(names) + 3) + "|", *lines])
    verdicts = "\n".join(f"- **{name.replace('-', ', ')}**: {_short(c)}" for name, c in curves.items())
    head = HEAD.format(
        strategies=len(one.strategies),
        named="mheal,random,…",
        budgets=", ".join(map(str, one.budgets)),
        seeds=len(one.seeds("random")),
    )
    (HERE / "README.md").write_text(
        f"{head}\n{table}\n\n## What is certain\n"
        f"Paired t tests on the area, against random, corrected by Holm at 5 %:\n\n{verdicts}\n"
    )


def _short(curves: Curves) -> str:
    tests = curves.significance().filter(
        measure="aulc",
    )
    sure = tests.filter(tests["p_t_holm"] < 0.05)
    better = sure.filter(sure["difference"] > 0).sort("difference", descending=True)["strategy"].to_list()
    worse = sure.filter(sure["difference"] < 0).sort("difference")["strategy"].to_list()
    return f"better than random: {', '.join(better) or 'none'}; worse: {', '.join(worse) or 'none'}."


if __name__ == "__main__":
    main()
