"""Simulated labelling, learning curves and their statistics, and how many labels are needed."""

from ..estimators import fit_model, make_model
from .curves import Curves, Row
from .knee import knee
from .report import report
from .resample import Resampled, learning_curve
from .simulate import runs, simulate
from .stop import Advice, CurveFit, fit_curve, stop_advice

__all__ = [
    "Advice",
    "CurveFit",
    "Curves",
    "Resampled",
    "Row",
    "fit_curve",
    "fit_model",
    "knee",
    "learning_curve",
    "make_model",
    "report",
    "runs",
    "simulate",
    "stop_advice",
]
