"""What strategies declare: names, descriptions and parameters."""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.base import clone

import mheal
from mheal import strategies
from mheal.exceptions import UserError
from mheal.parameters import Count, Share
from mheal.strategies import describe, get, names


@pytest.mark.parametrize("name", names())
def test_what_a_strategy_can_do_is_declared(name):
    cls = get(name)
    assert cls.name == name
    assert cls.kind in {"ranked", "one-shot", "adaptive"}
    assert {"cpu"} <= cls.backends <= {"cpu", "torch", "dask"}
    assert cls.kind == "adaptive" or not cls.uses_proba
    assert not cls.uses_proba or cls.needs_model or cls.uses_model
    documented = " ".join(base.__doc__ or "" for base in cls.__mro__ if base.__module__.startswith("mheal."))
    assert all(f"{parameter}" in documented for parameter in cls().get_params())


def test_descriptions_fit_a_table():
    rows = describe()
    assert [row.name for row in rows] == names()
    assert len({row.title for row in rows}) == len(rows)
    for row in rows:
        assert row.needs.removesuffix(" and torch") in ("nothing", "labels", "labels or a model")
        assert 20 < len(row.summary) <= 110
        assert 0 < len(row.cost) <= 80


def test_an_unknown_name_is_answered_with_similar_ones():
    with pytest.raises(UserError, match=r"'corset'.*coreset") as error:
        get("corset")
    assert "\n" not in str(error.value)
    with pytest.raises(UserError, match=r"'xyz'.*mheal, .*vaal"):
        get("xyz")


def test_classes_can_be_imported():
    assert strategies.TypiClust is get("typiclust")
    assert {get(name).__name__ for name in names()} <= set(dir(strategies))
    with pytest.raises(AttributeError, match="Typical"):
        _ = strategies.Typical


def test_parameters_are_checked_by_their_annotations():
    class Own(strategies.Random):
        size: Count = 3
        _: KW_ONLY
        share: Share | None = None
        kind_of: Literal["a", "b"] = "a"
        loud: bool = False
        anything: Any = None

    assert clone(Own(5, share=0.5)).get_params() == {
        "size": 5, "share": 0.5, "kind_of": "a", "loud": False, "anything": None,
    }  # fmt: skip
    assert len(mheal.select(np.eye(6), 2, strategy=Own(anything=object()))) == 2
    for wrong in ({"size": 0}, {"share": 2.0}, {"kind_of": "c"}, {"loud": 3}):
        with pytest.raises(UserError, match=f"'{next(iter(wrong))}' parameter of Own"):
            mheal.select(np.eye(6), 2, strategy=Own(**wrong))


def test_a_strategy_may_write_its_own_constructor():
    class Own(strategies.Random):
        note: str

        def __init__(self, first=1):
            self.first = first

    class Further(Own):
        title = "Further"

    assert [cls(2).get_params() for cls in (Own, Further)] == [{"first": 2}] * 2
    assert len(mheal.select(np.eye(6), 2, strategy=Further())) == 2
