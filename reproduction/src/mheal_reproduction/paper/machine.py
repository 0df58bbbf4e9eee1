"""What this machine can do for experiments with networks."""

from importlib import import_module
from importlib.util import find_spec


def gpu() -> str | None:
    """The name of the GPU that torch sees."""
    cuda = import_module("torch").cuda
    return str(cuda.get_device_name()) if cuda.is_available() else None


def hindrance(quick: bool) -> str:
    """Why this machine does not train the networks of an experiment; empty: it does."""
    if find_spec("torch") is None:
        return "they need torch, `pip install 'mheal[deep]'`"
    if not quick and gpu() is None:
        return "they need a GPU, because without one they would take days"
    return ""
