"""The strategies that train a network of their own find it here, and only they need torch."""

from importlib import import_module
from typing import Any


def network(file: str, strategy: str) -> Any:
    """The module mheal.deep.`file`, for the strategy that asks for it."""
    try:
        return import_module(f"mheal.deep.{file}")
    except ImportError as error:
        raise ValueError(f'{strategy} trains a network, which needs torch: pip install "mheal[deep]"') from error
