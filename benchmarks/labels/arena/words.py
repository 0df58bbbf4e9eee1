"""The words of the arena's page."""

HEAD = """# Which method gives the most accuracy for the fewest labels, on data nobody tuned on?

**No method is surely ahead in rank: `mheal`, its rule of before, mutual proximity, k-medoids and MaxHerding are level.
But `mheal` is nowhere more than 4 points below random.** The rule of before (`mheal, by distances`), k-medoids and
MaxHerding are 23 to 26 points below it on splice, where a few rows are near most others. There `mheal` is now 7 points
above random with 100 labels. Over {more} splits it has .5 points more than before on development (78.9 ± .3 against
78.4 ± .8, mean ± standard deviation over splits; p .26 over datasets) and 1.1 more on confirmation (76.3 ± .6 against
75.2 ± .2; p .70), most of it on splice. Among five methods on these splits its mean rank is 2.3 against 3.1 on
development and 2.8 against 2.9 on confirmation; in the table, with 2 splits, it is behind on confirmation. It has .2
points fewer with 500 labels, and a lower balanced accuracy on page-blocks and shuttle, though above random's.

{first}

39 datasets in two halves, drawn by a seed before anything was measured. The rule was chosen on development: a dozen
variants of the similarity with 1 or 2 splits and three learners, with and without moving picks within stages that
double, which gained nothing (variants.py). The confirmation half decided nothing. Pools of up to 2,500 rows, five
learners, {seeds} splits; {more} for "worst" and "below / above" of the three rules of `mheal` and k-medoids. Rank: of
the mean accuracy on each dataset. Saved: labels that random needs per label at 20 / 50 / 100 labels, median over
datasets and learners. Worst: the lowest mean gap to random on one dataset at 20 labels or more. Below / above: such
cells that surely differ (t test over splits, Holm; few splits find little). Last column: points in favour of `mheal`,
Wilcoxon's p over datasets, Holm. \\* knows the number of labels. Picture: [critical
differences](critical_difference.svg).
"""
MIDDLE = "In rounds, with labels and logistic regression; one split; last column in favour of `mheal with labels`:"
TAIL = "After `prepare.py`: `python benchmarks/labels/arena/run.py PACKED.npz --out FILE`, then `arena_page.py`."
