"""§6: IWAL, hypothesis pruning, the disagreement coefficient and Theorem 1."""

from .bootstrap import bootstrap_iwal
from .disagreement import disagreement_coefficient
from .hyperplanes import Hyperplanes
from .iwal import deviation, iwal, query_probability
from .pruning import MODES, prune
from .theorem1 import bound_ratio, iwal_bound, iwal_label_bound, mheal_bound, mheal_label_bound

__all__ = [
    "MODES",
    "Hyperplanes",
    "bootstrap_iwal",
    "bound_ratio",
    "deviation",
    "disagreement_coefficient",
    "iwal",
    "iwal_bound",
    "iwal_label_bound",
    "mheal_bound",
    "mheal_label_bound",
    "prune",
    "query_probability",
]
