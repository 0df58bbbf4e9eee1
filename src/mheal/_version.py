"""The version of the package, which is defined here only."""

__version__ = "0.2.0.dev0"
