"""The state of a run in a file, from which an interrupted run resumes."""

import pickle
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from mheal.exceptions import UserError
from mheal.runtime.files import replacing


class Checkpoint:
    """A file with tensors and plain values; `belongs` identifies the data and parameters of the run."""

    def __init__(self, file: Path, belongs: str) -> None:
        self.file, self.belongs = file, belongs

    def load(self, device: torch.device) -> dict[str, Any] | None:
        """The content that was saved last; None if there is no file."""
        if not self.file.parent.is_dir():
            raise UserError(f"there is no folder {self.file.parent} for the checkpoint: make it first")
        if not self.file.exists():
            return None
        stored = None
        if zipfile.is_zipfile(self.file):  # torch's format
            with suppress(RuntimeError, pickle.UnpicklingError):
                stored = torch.load(self.file, map_location=device, weights_only=True)
        if not isinstance(stored, dict) or stored.get("belongs") != self.belongs:
            raise UserError(f"{self.file} is no checkpoint of these data and parameters: name another, or delete it")
        return stored

    def save(self, content: dict[str, Any]) -> None:
        """Replace the content of the file in one step: a reader sees the old content or the new, never a part."""
        with replacing(self.file) as part:
            torch.save({"belongs": self.belongs, **content}, part)
