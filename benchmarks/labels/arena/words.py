"""The words of the arena's page."""

HEAD = """# Which method gives the most accuracy for the fewest labels, on data nobody tuned on?

**No method is surely ahead in rank, but `mheal` is nowhere more than 4 points below random.** Its rule of before ("by
distances"), k-medoids and MaxHerding are 23 to 26 points below on splice, where a few rows are near most others. Over
{more} splits `mheal` has 78.9 ± .3 on development (before: 78.4 ± .8; mean ± sd over splits, p .26) and 76.3 ± .6 on
confirmation (75.2 ± .2; p .70; mostly splice, and a worse rank with 2 splits), and .2 fewer with 500 labels.

{first}

39 datasets in two halves, drawn by a seed at first. The rule was chosen on development among a dozen variants, with 1
or 2 splits; moving picks within stages gained nothing. Pools of up to 2,500 rows, five learners, {seeds} splits; {more}
for "worst" and "below / above" of the rules of `mheal` and k-medoids. Rank: of the mean accuracy. Saved: labels that
random needs per label at 20 / 50 / 100 labels. Worst: the lowest mean gap to random on a dataset at 20 labels or more.
Below / above: such cells that surely differ (t test, Holm). Last column: points in favour of `mheal`, Wilcoxon's p over
datasets, Holm. \\* knows the number of labels. Picture: [differences](critical_difference.svg).
"""
MIDDLE = "In rounds, with labels and logistic regression; one split; last column in favour of `mheal with labels`:"
TAIL = "After `prepare.py`: `python benchmarks/labels/arena/run.py PACKED.npz --out FILE`, then `arena_page.py`."
