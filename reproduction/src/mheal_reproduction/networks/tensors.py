"""Arrays to tensors and back, for deep clustering."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch


def device_of(device: str | torch.device | None) -> torch.device:
    """The given device; by default the GPU if there is one."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def scale_of(X: npt.ArrayLike) -> float:
    """The largest absolute value, by which pixels are divided to be in 0 … 1; 1 if all values are 0."""
    X = np.asarray(X)
    return float(max(X.max(), -float(X.min()))) or 1.0


def as_tensor(X: npt.ArrayLike, scale: float, device: torch.device) -> torch.Tensor:
    """X / scale as float32 on a device."""
    return torch.from_numpy((np.asarray(X) / np.float32(scale)).astype(np.float32, copy=False)).to(device)


def stacked(centers: Sequence[npt.NDArray[np.float32]], device: torch.device) -> torch.Tensor:
    """The centres of several members, (members, clusters, code)."""
    return torch.from_numpy(np.stack(centers)).to(device)


def as_labels(labels: torch.Tensor) -> npt.NDArray[np.int32]:
    """Labels as an array."""
    return labels.to(torch.int32).cpu().numpy()
