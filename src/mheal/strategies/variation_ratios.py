"""Variation Ratios of a Bayesian model (Freeman 1965; Gal, Islam and Ghahramani 2017)."""

from .from_draws import FromDraws
from .mc_scores import variation_ratios


class VariationRatios(FromDraws):
    """Largest 1 − max p̄, with p̄ the class probabilities averaged over `draws` of the model; ties at random.

    The other reading, the share of draws that do not vote for the commonest class, ties on most rows.
    """

    name, title = "variation-ratios", "Variation Ratios"
    summary = "Rows whose best class is least probable when averaged over draws of the model (dropout)"
    score = staticmethod(variation_ratios)
