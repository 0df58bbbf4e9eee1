"""The part of the summary about the theory: claims, verdicts, and the tests that decide them."""

from ..report import table

BOUNDS, PRINTED = "reproduction/tests/theory/test_bounds.py", "reproduction/tests/theory/test_printed.py"
ROWS = (
    (
        "Eq. 1–2: minimising E_0 is maximising the product of the distances",
        "holds",
        "the printed sum counts pairs twice, and each point with itself, which must be left out "
        "(`tests/test_energy.py`)",
    ),
    (
        "below Eq. 3: the closed form solves for the minimum of E_2",
        "refuted",
        f"iterating it raises the energy; gradient descent on the sphere finds the octahedron (`{PRINTED}`)",
    ),
    (
        "Algorithm 1: searching all starts for the best one helps",
        "holds, with a small gain",
        "`reproduction/tests/theory/test_sequential.py`; L, called an energy, is a product to be maximised",
    ),
    (
        "Proposition 1: lower bound of the product",
        "holds at both ends, refuted in the middle",
        f"the middle term exceeds the product for every triangle tried (`{BOUNDS}`)",
    ),
    (
        "Corollary 1: max-min is a way to maximise that bound",
        "holds",
        "it is farthest-first traversal, also known as k-center greedy, with its factor of 2 "
        "(`tests/algorithms/test_farthest_first.py`)",
    ),
    (
        "Lemma 1: random projections keep lengths, scaled by 1/√n",
        "refuted as scaled",
        f"with n = 1 it holds, with n = κ the coverage is 0 (`{BOUNDS}`)",
    ),
    (
        "Proposition 2: no need to reduce the dimension",
        "holds",
        f"it follows from Lemma 1 with the right scale (`{BOUNDS}`)",
    ),
    (
        "Lemma 2: projection keeps the order of distances",
        "refuted",
        f"near ties flip about half of the time (`{BOUNDS}`)",
    ),
    ("Lemma 3: projection keeps the order of angles", "refuted", f"a fifth of random triples flip (`{BOUNDS}`)"),
    (
        "Proposition 3: the loss of the approximation",
        "refuted as printed",
        f"the constant 2 should be 1, and the upper definition misses chords inside the set (`{BOUNDS}`)",
    ),
    (
        "Eq. 11: rotations of a vector cover a cluster",
        "refuted as printed",
        f"it falls into a cycle of two (`{PRINTED}`); without repetition it works "
        "(`tests/algorithms/test_within_clusters.py`)",
    ),
    (
        "§6.1: MHEAL's disagreement is a k-th of IWAL's",
        "not derived",
        "it is set by choosing the constants 10 and 3.333; [Figure 6](figure6/README.md) measures it",
    ),
)
THEORY = f"## Theory\nThe tests that are named decide these claims.\n\n{table(('claim', 'verdict', 'why'), ROWS)}"
