"""BALD, Bayesian active learning by disagreement (Houlsby et al. 2011; Gal, Islam and Ghahramani 2017)."""

from .from_draws import FromDraws
from .mc_scores import mutual_information


class Bald(FromDraws):
    """Largest mutual information between the label and the model, from `draws` of it."""

    name, title = "bald", "BALD"
    summary = "Rows on which draws of the model (dropout) are sure, each of something else; repeats itself in batches"
    score = staticmethod(mutual_information)
