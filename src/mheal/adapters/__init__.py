"""Adapters for other libraries: one module each, imported by its name, such as `mheal.adapters.scikit_activeml`.

Every adapter picks by calling `mheal.select`, so that picks do not depend on the library.
"""

from ..exceptions import UserError


class MissingPackageError(UserError, ImportError):
    """The package of an adapter is not installed."""


def missing(adapter: str, package: str) -> MissingPackageError:
    """The error of an adapter whose package is not installed."""
    return MissingPackageError(f"mheal.adapters.{adapter} needs {package}: pip install {package}")
