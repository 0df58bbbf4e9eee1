"""Features of pretrained networks: timm and sentence-transformers, where they are installed."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..runtime.files import first_line
from ..runtime.progress import Progress
from ..runtime.threads import spans

IMAGES_AT_ONCE = 64
TEXTS_AT_ONCE = 256


def timm_features(
    paths: Sequence[Path], name: str, progress: Progress | None = None
) -> tuple[npt.NDArray[Any], list[tuple[int, str]]]:
    """Features of the images by the pretrained timm model `name`; (position, reason) of images that cannot be read."""
    timm = needed("timm", f"timm:{name}", "pip install timm")
    torch = import_module("torch")
    from .images import in_chunks, opened, upright

    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        model = timm.create_model(name, pretrained=True, num_classes=0).eval().to(device)
    except (RuntimeError, ValueError, OSError) as error:
        raise UserError(f"timm cannot load the model {name!r}: {first_line(error)}") from error
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(model), is_training=False)

    def prepared(path: Path) -> Any:
        return opened(path, lambda image: transform(upright(image).convert("RGB")))

    blocks: list[npt.NDArray[Any]] = []
    skipped: list[tuple[int, str]] = []
    for lo, hi in spans(len(paths), IMAGES_AT_ONCE):
        batch = in_chunks(prepared, paths[lo:hi], "", None)
        skipped += [(lo + at, item) for at, item in enumerate(batch) if isinstance(item, str)]
        tensors = [item for item in batch if not isinstance(item, str)]
        if tensors:
            with torch.inference_mode():
                blocks.append(model(torch.stack(tensors).to(device)).float().cpu().numpy())
        if progress is not None:
            progress(hi, len(paths), f"timm:{name}")
    return np.concatenate(blocks) if blocks else np.empty((0, 0), np.float32), skipped


def sentence_features(texts: Sequence[str], name: str, progress: Progress | None = None) -> npt.NDArray[Any]:
    """Features of the texts by the sentence-transformers model `name`."""
    library = needed("sentence_transformers", f"sentence:{name}", "pip install sentence-transformers")
    try:
        model = library.SentenceTransformer(name)
    except (RuntimeError, ValueError, OSError) as error:
        raise UserError(f"sentence-transformers cannot load {name!r}: {first_line(error)}") from error
    blocks = []
    for lo, hi in spans(len(texts), TEXTS_AT_ONCE):
        blocks.append(model.encode(list(texts[lo:hi]), convert_to_numpy=True, show_progress_bar=False))
        if progress is not None:
            progress(hi, len(texts), f"sentence:{name}")
    return np.concatenate(blocks).astype(np.float32, copy=False)


def needed(module: str, method: str, remedy: str) -> Any:
    """The module that a method needs, or the remedy if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        package = "mheal[deep]" if module.startswith("mheal.") else module.replace("_", "-")
        raise UserError(f"the method {method!r} needs {package}: {remedy}") from error
