"""Max Entropy of a Bayesian model (Gal, Islam and Ghahramani 2017)."""

from .from_draws import FromDraws
from .mc_scores import entropy_of_mean


class MaxEntropy(FromDraws):
    """Largest entropy of the class probabilities, averaged over `draws` of the model (see strategies/doubt.py)."""

    name, title = "max-entropy", "Max Entropy"
    summary = "Rows whose prediction, averaged over draws of the model (dropout), is most spread over the classes"
    score = staticmethod(entropy_of_mean)
