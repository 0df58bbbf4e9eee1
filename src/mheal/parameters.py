"""Parameters: what those of a constructor may be, declared by their annotations; and random states."""

from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from .exceptions import UserError, UserTypeError

Seed = int | np.random.Generator | np.random.RandomState | None
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


def random_streams(random_state: Seed) -> tuple[np.random.Generator, np.random.RandomState]:
    """The same random seed or stream as a Generator and as a RandomState."""
    if random_state is None or isinstance(random_state, Integral):
        try:
            return np.random.default_rng(random_state), np.random.RandomState(random_state)  # type: ignore[arg-type]
        except ValueError as error:
            raise UserError(f"random_state must be between 0 and 2**32 − 1, got {random_state!r}") from error
    if isinstance(random_state, np.random.Generator):
        return random_state, np.random.RandomState(random_state.bit_generator)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state), random_state
    raise UserTypeError(f"random_state must be an integer, a Generator, a RandomState or None, got {random_state!r}")
