"""The words of the arena's page."""

HEAD = """# Which method gives the most accuracy for the fewest labels, on data nobody tuned on?

**No method is surely ahead: `mheal`, its trial with mutual proximity, k-medoids, MaxHerding and k-means are level, and
ahead of random.** Of these, all but the trial are 12 to 26 points below random on splice, where a few rows are near
most others; the trial is nowhere more than 4 below. On {more} splits it has a better mean rank than `mheal` on both
halves, .4 points more on development and 1.0 on confirmation (p .8 and .5), and .3 points fewer at 500 labels.

{first}

39 datasets in two halves, drawn by a seed before anything was measured; the trial was chosen on development and on
synthetic letters. Pools of up to 2,500 rows, five learners, {seeds} splits; {more} for "worst" and "below / above" of
`mheal`, the trial and k-medoids. Rank: of the mean accuracy on each dataset. Saved: labels that random needs per
label at 20 / 50 / 100 labels, median over datasets and learners. Worst: the lowest mean gap to random on one dataset
at 20 labels or more. Below / above: such cells that surely differ (t test over splits, Holm; few splits find little).
Last column: points in favour of the trial (`mutual_by_median` in variants.py), Wilcoxon's p over datasets, Holm. \\*
knows the number of labels. Picture: [critical differences](critical_difference.svg).
"""
MIDDLE = "In rounds, with labels and logistic regression; one split; last column in favour of `mheal with labels`:"
TAIL = "After `prepare.py`: `python benchmarks/labels/arena/run.py PACKED.npz --out FILE`, then `arena_page.py`."
