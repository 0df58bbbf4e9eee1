"""Simulated labelling, learning curves and their statistics, and how many labels are needed."""

from ..estimators import resolve_estimator
from .curves import Curves, Row
from .learning_curve import Advice, CurveFit, Resampled, fit_curve, learning_curve, stop_advice
from .plan import AccuracyPlan, CoveragePlan, accuracy_plan, coverage_plan, horizon, knee
from .report import report
from .simulate import runs, simulate, split_sizes

__all__ = [
    "AccuracyPlan", "Advice", "CoveragePlan", "CurveFit", "Curves", "Resampled", "Row", "accuracy_plan",
    "coverage_plan", "fit_curve", "horizon", "knee", "learning_curve", "report", "resolve_estimator", "runs",
    "simulate", "split_sizes", "stop_advice",
]  # fmt: skip
