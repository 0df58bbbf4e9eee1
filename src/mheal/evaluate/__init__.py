"""Simulated labelling, learning curves and their statistics, and how many labels are needed."""

from ..estimators import resolve_estimator
from .checks import split_sizes
from .curves import Curves, Row
from .learning_curve import Resampled, learning_curve
from .plan import AccuracyPlan, CoveragePlan, accuracy_plan, coverage_plan, horizon, knee
from .report import report
from .simulate import runs, simulate
from .stop import Advice, CurveFit, fit_curve, stop_advice

__all__ = [
    "AccuracyPlan", "Advice", "CoveragePlan", "CurveFit", "Curves", "Resampled", "Row", "accuracy_plan",
    "coverage_plan", "fit_curve", "horizon", "knee", "learning_curve", "report", "resolve_estimator", "runs",
    "simulate", "split_sizes", "stop_advice",
]  # fmt: skip
