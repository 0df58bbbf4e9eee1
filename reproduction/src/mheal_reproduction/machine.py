"""The GPU, for experiments with networks."""

import torch


def gpu() -> str | None:
    """The name of the GPU that torch sees."""
    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else None
