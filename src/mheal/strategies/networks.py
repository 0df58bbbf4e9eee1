"""The strategies that train a network of their own find it here, and only they need torch."""

from importlib import import_module
from typing import Any

from ..exceptions import UserError


def network(file: str, strategy: str) -> Any:
    """The module mheal.strategies.`file`_network, for the strategy that asks for it."""
    try:
        return import_module(f"mheal.strategies.{file}_network")
    except ImportError as error:
        raise UserError(f'{strategy} trains a network, which needs torch: pip install "mheal[deep]"') from error
