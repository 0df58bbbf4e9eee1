"""The words of the arena's page."""

HEAD = """# Which method gives the most accuracy for the fewest labels, on data nobody tuned on?

**No method is ahead of all others: `mheal`, k-medoids, MaxHerding and k-means are level, and ahead of random.** Each
fails on some data: on splice, where a few rows are near most others, by 12 to 24 points. The trial with mutual
proximity (branch `arena-rule`) has the same mean rank without that failure. It loses up to 1.6 points on the
development half from 50 labels on, so it gains on some data and not on all.

{first}

39 datasets in two halves, drawn by a seed before anything was measured; the trial was chosen on development and on
synthetic letters. Pools of up to 2,500 rows, five learners, {seeds} splits; {more} for "worst" and "below / above" of
`mheal`, the trial and k-medoids. Rank: of the mean accuracy on each dataset. Saved: labels that random needs per label
at 20 / 50 / 100 labels, median over datasets and learners. Worst: the lowest mean gap to random on one dataset at 20
labels or more. Below / above: such cells that surely differ (t test over splits, Holm; few splits find little). Last
column: points in favour of the trial, Wilcoxon's p over datasets, Holm. \\* knows the number of labels. Picture:
[critical differences](critical_difference.svg).
"""
MIDDLE = "In rounds, with labels and logistic regression; one split; last column in favour of `mheal with labels`:"
TAIL = "After `prepare.py`: `python benchmarks/labels/arena/run.py PACKED.npz --out rows.csv`, then `arena_page.py`."
