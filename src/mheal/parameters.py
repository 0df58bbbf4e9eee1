"""Parameters of estimators: their annotations declare the allowed values; and random states."""

from dataclasses import dataclass
from inspect import get_annotations
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, dataclass_transform, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from .exceptions import UserError, UserTypeError

Seed = int | np.random.Generator | np.random.RandomState | None

Count = Annotated[int, Interval(Integral, 1, None, closed="left")]
Positive = Annotated[float, Interval(Real, 0, None, closed="neither")]
NotNegative = Annotated[float, Interval(Real, 0, None, closed="left")]
Share = Annotated[float, Interval(Real, 0, 1, closed="both")]


@dataclass_transform(eq_default=False)
def declared(cls: Any) -> Any:
    """A class decorator: make the constructor and the parameter constraints of an estimator from its annotations.

    A class without annotated attributes, or with its own `__init__`, is not changed.
    """
    own = [hint for hint in get_annotations(cls).values() if "ClassVar" not in str(hint)]
    if own and "__init__" not in vars(cls):
        dataclass(eq=False, repr=False)(cls)
        hints = get_type_hints(cls.__init__, include_extras=True)
        cls._parameter_constraints = {name: allowed(hint) for name, hint in hints.items() if hint is not Any}
        cls.__init__.__annotations__ = get_type_hints(cls.__init__)  # for `help`, without the constraints
    return cls


def allowed(annotation: Any) -> list[Any]:
    """scikit-learn's parameter constraints for an annotation; for `Annotated`, its metadata."""
    kind, parts = get_origin(annotation), get_args(annotation)
    if kind in (Union, UnionType):
        return [constraint for part in parts for constraint in allowed(part)]
    if kind is Annotated:
        return list(annotation.__metadata__)
    if kind is Literal:
        return [StrOptions(set(parts))]
    return [{NoneType: None, bool: "boolean"}.get(annotation, kind or annotation)]


def check_parameters(estimator: Any) -> None:
    """Check the parameters of a scikit-learn estimator against its `_parameter_constraints`."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise UserError(str(error)) from error


def random_streams(random_state: Seed) -> tuple[np.random.Generator, np.random.RandomState]:
    """A Generator and a RandomState, both from the same seed or stream."""
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
