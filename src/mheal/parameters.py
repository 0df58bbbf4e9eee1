"""Constructor parameters: what they may be, declared as in scikit-learn, and checked in one line."""

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from .exceptions import UserError

COUNT = [Interval(Integral, 1, None, closed="left")]
POSITIVE = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]
SHARE = [Interval(Real, 0, 1, closed="both")]
SCALING = [StrOptions({"auto", "standard", "unit", "raw"})]


def check_parameters(estimator: Any) -> None:
    """Check the parameters of a scikit-learn estimator by its `_parameter_constraints`."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise UserError(str(error)) from error
