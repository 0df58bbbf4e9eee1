"""Ways to pick rows to label, ours and the competitors', under one contract."""

from .base import Pool, Strategy
from .registry import Description, describe, get, names

__all__ = ["Description", "Pool", "Strategy", "describe", "get", "names"]
