"""Constructor parameters: what they may be, declared by their annotations, and checked in one line."""

from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from .exceptions import UserError

COUNT = [Interval(Integral, 1, None, closed="left")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]

Count = Annotated[int, COUNT[0]]
Positive = Annotated[float, Interval(Real, 0, None, closed="neither")]
NotNegative = Annotated[float, NOT_NEGATIVE[0]]
Share = Annotated[float, Interval(Real, 0, 1, closed="both")]


def allowed(annotation: Any) -> list[Any]:
    """The constraints by which scikit-learn checks a parameter of this annotation; `Annotated` names its own."""
    kind, parts = get_origin(annotation), get_args(annotation)
    if kind in (Union, UnionType):
        return [constraint for part in parts for constraint in allowed(part)]
    if kind is Annotated:
        return list(annotation.__metadata__)
    if kind is Literal:
        return [StrOptions(set(parts))]
    return [{NoneType: None, bool: "boolean"}.get(annotation, kind or annotation)]


def check_parameters(estimator: Any) -> None:
    """Check the parameters of a scikit-learn estimator by its `_parameter_constraints`."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise UserError(str(error)) from error
