"""Variants of the first picks, tried in the arena before any of them enters mheal."""

from collections.abc import Callable
from typing import Any

VARIANTS: dict[str, Callable[[Any, int, Any], Any]] = {}
