"""Where `mheal select` works: here, or on what torch calls a device."""

from importlib import import_module

from ..exceptions import UserError

CPU = "cpu"  # our own kernels, without torch


def refuse_missing_device(name: str) -> None:
    """One line for a device that torch does not find here, or for the want of torch."""
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise UserError(f"--device {name} needs torch: pip install 'mheal[deep]'") from error
    try:
        torch.zeros(1, device=name).cpu()
    except (RuntimeError, AssertionError) as error:  # as torch has it: which of them depends on how it was built
        raise UserError(
            f"torch finds no device {name!r} here (no GPU, or a torch built without it): leave out --device to pick on "
            "the CPU"
        ) from error
