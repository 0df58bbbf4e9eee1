"""Examples in docstrings are executed."""

import doctest
import importlib
import pkgutil

import pytest

import mheal

MODULES = [m.name for m in pkgutil.walk_packages(mheal.__path__, "mheal.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", ["mheal", *MODULES])
def test_examples(name):
    if name.startswith("mheal.backends.torch"):
        pytest.importorskip("torch")
    if ".fused" in name:
        pytest.importorskip("triton")
    module = pytest.importorskip(name, exc_type=ImportError) if ".adapters." in name else importlib.import_module(name)
    assert doctest.testmod(module).failed == 0
