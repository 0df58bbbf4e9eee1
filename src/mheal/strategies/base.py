"""The contract every strategy keeps."""

from ..strategy import Kind, Pool, Rows, Strategy

__all__ = ["Kind", "Pool", "Rows", "Strategy"]
