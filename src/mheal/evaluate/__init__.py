"""Simulated labelling, learning curves and their statistics, and estimates of how many labels are needed."""

from ..estimators import resolve_estimator
from .curves import Curves, Row
from .learning_curve import CurveFit, Resampled, learning_curve
from .plan import AccuracyPlan, CoveragePlan, accuracy_plan, coverage_plan, horizon
from .report import report
from .simulate import runs, simulate, split_sizes

__all__ = [
    "AccuracyPlan", "CoveragePlan", "CurveFit", "Curves", "Resampled", "Row", "accuracy_plan",
    "coverage_plan", "horizon", "learning_curve", "report", "resolve_estimator", "runs",
    "simulate", "split_sizes",
]  # fmt: skip
