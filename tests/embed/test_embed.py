"""Methods of embedding by name: the data that each accepts, and errors for missing packages."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from mheal.embed.methods import DEFAULTS, METHODS, embed
from mheal.io.read import read_pool

DIGITS = load_digits().data.astype(np.float32)


@pytest.fixture
def pictures(tmp_path):
    for at in range(70):
        Image.new("RGB", (20, 20), (at, 0, 0)).save(tmp_path / f"{at:02d}.png")
    (tmp_path / "05.png").write_text("broken")
    return tmp_path


def test_every_kind_has_a_default_that_works_on_it():
    assert {kind for kinds in METHODS.values() for kind in kinds} == set(DEFAULTS)
    for kind, name in DEFAULTS.items():
        assert kind in METHODS[name]


def test_nothing_is_done_to_vectors():
    made = embed(DIGITS, "vectors")
    assert made.X is DIGITS
    assert (made.description, made.skipped) == ("", [])


@pytest.mark.parametrize("noise", [0, 20])
def test_pca_holds_nine_tenths_of_the_variance_or_has_64_columns(noise):
    rng = np.random.default_rng(0)
    X = np.hstack([DIGITS, noise * rng.normal(size=(len(DIGITS), 200)).astype(np.float32)])
    made = embed(X, "vectors", "pca", seed=1)
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False).astype(np.float64) ** 2
    share = np.cumsum(exact) / exact.sum()
    n = min(64, int((share < 0.9).sum()) + 1)
    assert n == (21 if noise == 0 else 64)
    assert made.X.shape == (len(X), n)
    np.testing.assert_allclose(np.linalg.norm(made.X, axis=1), 1, rtol=1e-6)
    if noise == 0:
        Z = (X - X.mean(axis=0)) @ np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:n].T
        cosines = (made.X * Z).sum(axis=0) / np.linalg.norm(made.X, axis=0) / np.linalg.norm(Z, axis=0)
        assert np.abs(cosines).min() > 0.95  # directions have no sign, and lengths are gone
    said = float(made.description.removeprefix(f"PCA to {n} columns (").removesuffix(" % of the variance)"))
    assert abs(said - 100 * share[n - 1]) < (0.6 if noise == 0 else 5)


@pytest.mark.parametrize(
    ("kind", "method", "message"),
    [
        ("vectors", "umap", r"there is no method 'umap' for vectors: use none, pca or autoencoder"),
        ("images", "timm", r"no method 'timm' for images: use .*, autoencoder, simclr, simclr:EPOCHS or timm:NAME"),
        ("images", "timm:", r"there is no method 'timm:' for images"),
        ("vectors", "pca:8", r"there is no method 'pca:8'"),
        ("vectors", "simclr", r"no method 'simclr' for vectors"),
        ("images", "simclr:", r"there is no method 'simclr:'"),
        ("images", "simclr:0", r"whole number of at least 1, as in simclr:100, not '0'"),
        ("images", "simclr:-2", r"not '-2'"),
        ("images", "simclr:fast", r"not 'fast'"),
        ("texts", "pixels", r"no method 'pixels' for texts: use auto, minilm, minilm\+tfidf, tfidf or sentence:NAME"),
        ("images", "sentence:x", r"no method 'sentence:x' for images"),
        ("images", "none", r"no method 'none' for images"),
    ],
)
def test_methods_that_do_not_fit(kind, method, message):
    with pytest.raises(ValueError, match=message):
        embed([], kind, method)


@pytest.mark.parametrize(
    ("module", "kind", "method", "message"),
    [
        ("timm", "images", "timm:resnet18", "the method 'timm:resnet18' needs timm: pip install timm"),
        (
            "sentence_transformers",
            "texts",
            "sentence:all-MiniLM-L6-v2",
            "the method 'sentence:all-MiniLM-L6-v2' needs sentence-transformers: pip install sentence-transformers",
        ),
        (
            "mheal.embed.autoencoder",
            "vectors",
            "autoencoder",
            "the method 'autoencoder' needs mheal[deep]: pip install 'mheal[deep]'",
        ),
    ],
)
def test_a_missing_package_says_how_to_get_it(monkeypatch, module, kind, method, message):
    monkeypatch.setitem(sys.modules, module, None)  # importing it fails, as if it were not installed
    with pytest.raises(ValueError, match="needs") as raised:
        embed(DIGITS if kind == "vectors" else [], kind, method)
    assert str(raised.value) == message


# timm and sentence-transformers download their models, so tests stand in for the models, not for our part.


def test_equal_images_have_equal_features(tmp_path):
    images = load_digits().images[:200] * 15
    rows = np.random.default_rng(0).permutation(np.append(np.arange(200), np.arange(60)))
    for at, row in enumerate(rows):
        Image.fromarray(images[row].astype(np.uint8)).save(tmp_path / f"{at:03}.png")
    X = read_pool(tmp_path).X
    once = np.unique(rows, return_index=True)[1]
    assert len(X) == 260
    np.testing.assert_array_equal(X, X[once][rows])  # not up to rounding, which depends on the row's place


def test_timm_sees_every_readable_image_in_order(pictures, tmp_path, monkeypatch):
    monkeypatch.setenv("MHEAL_CACHE", str(tmp_path / "kept"))
    torch = pytest.importorskip("torch")
    batches = []

    class Reddest(torch.nn.Module):
        def forward(self, images):
            batches.append(len(images))
            return images.amax(dim=(2, 3))

    def create_model(name, *, pretrained, num_classes):
        assert (name, pretrained, num_classes) == ("tiny", True, 0)
        return Reddest()

    def create_transform(*, input_size, is_training):
        assert (input_size, is_training) == ((3, 20, 20), False)
        return lambda image: torch.tensor(np.asarray(image, np.float32)).permute(2, 0, 1)

    data = SimpleNamespace(
        resolve_model_data_config=lambda model: {"input_size": (3, 20, 20)}, create_transform=create_transform
    )
    monkeypatch.setitem(sys.modules, "timm", SimpleNamespace(create_model=create_model, data=data))
    calls = []
    source = read_pool(pictures, embed="timm:tiny", progress=lambda *call: calls.append(call))
    np.testing.assert_array_equal(source.X[:, 0], [at for at in range(70) if at != 5])
    assert source.skipped == [("05.png", "it is not an image")]
    assert source.features == "images, timm model tiny, 3 columns"
    assert batches == [63, 6]
    assert calls == [(70, 70, "reading images"), (64, 70, "timm:tiny"), (70, 70, "timm:tiny")]


def test_timm_without_the_model(pictures, monkeypatch):
    pytest.importorskip("torch")

    def create_model(name, **_):
        raise RuntimeError(f"Unknown model ({name})\nmore")

    monkeypatch.setitem(sys.modules, "timm", SimpleNamespace(create_model=create_model))
    with pytest.raises(ValueError, match=r"^timm cannot load the model 'nope': Unknown model \(nope\)$"):
        embed([pictures / "01.png"], "images", "timm:nope")


def test_sentences_are_encoded_in_order(monkeypatch):
    class SentenceTransformer:
        def __init__(self, name):
            if name != "tiny":
                raise OSError(f"{name} is not a local folder")

        def state_dict(self):
            return {}

        def encode(self, texts, *, convert_to_numpy, show_progress_bar):
            assert (convert_to_numpy, show_progress_bar) == (True, False)
            return np.array([[len(text), 1.0] for text in texts])

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=SentenceTransformer))
    made = embed(["x" * n for n in range(300)], "texts", "sentence:tiny")
    np.testing.assert_array_equal(made.X[:, 0], np.arange(300))
    assert made.X.dtype == np.float32
    assert made.description == "sentence-transformers model tiny, 2 columns"
    with pytest.raises(ValueError, match=r"sentence-transformers cannot load the model 'x': x is not a local folder"):
        embed(["a"], "texts", "sentence:x")


def test_the_autoencoder_is_asked_for_its_code(monkeypatch):
    asked = {}

    def encode(X, *, seed, progress):
        asked.update(shape=X.shape, seed=seed, progress=progress)
        return np.asarray(X[:, :10], np.float32)

    monkeypatch.setitem(sys.modules, "mheal.embed.autoencoder", SimpleNamespace(encode=encode))
    made = embed(DIGITS, "vectors", "autoencoder", seed=5)
    assert asked == {"shape": DIGITS.shape, "seed": 5, "progress": None}
    assert made.X.dtype == np.float32
    assert made.description == "autoencoder to 10 columns"


@pytest.mark.parametrize(("method", "epochs"), [("simclr", None), ("simclr:7", 7)])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_simclr_is_given_the_images_as_they_are(mode, method, epochs, tmp_path, monkeypatch):
    shape = (20, 12, 3) if mode == "RGB" else (20, 12)
    images = np.random.default_rng(0).integers(0, 256, (5, *shape), dtype=np.uint8)
    paths = [tmp_path / f"{at}.png" for at in range(5)]
    for path, image in zip(paths, images, strict=True):
        Image.fromarray(image).save(path)
    paths[2].write_text("broken")
    asked = {}

    def encode(images, **options):
        asked.update(options, images=images)
        return np.ones((len(images), 6), np.float32)

    monkeypatch.setitem(sys.modules, "mheal.embed.simclr", SimpleNamespace(encode=encode))
    made = embed(paths, "images", method, seed=5)
    seen = asked.pop("images")
    assert seen.dtype == np.uint8
    assert seen.shape[:3] == (4, 20, 12)
    np.testing.assert_array_equal(seen.reshape(4, -1), images[[0, 1, 3, 4]].reshape(4, -1))
    assert asked == {"seed": 5, "epochs": epochs, "progress": None}
    assert made.X.dtype == np.float32
    assert made.description == f"images 12×20 {'grey' if mode == 'L' else 'RGB'}, SimCLR to 6 columns"
    assert made.skipped == [(2, "it is not an image")]


def test_simclr_needs_torch(pictures, monkeypatch):
    monkeypatch.setitem(sys.modules, "mheal.embed.simclr", None)
    with pytest.raises(ValueError, match=r"the method 'simclr' needs mheal\[deep\]: pip install 'mheal\[deep\]'"):
        embed([pictures / "01.png"], "images", "simclr:2")


def test_the_door_is_light():
    heavy = "polars, torch, matplotlib, PIL, sklearn.decomposition"
    code = f"""
import sys, mheal.io.read, mheal.io.labels, mheal.embed.methods
loaded = [name for name in "{heavy}".split(", ") if name in sys.modules]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("kind", ["vectors", "table"])
def test_equal_rows_have_equal_features(kind):
    rng = np.random.default_rng(0)
    V = rng.normal(size=(600, 40)).astype(np.float32)
    order = rng.permutation(np.concatenate([np.arange(600), np.arange(300)]))
    made = embed(V[order], kind, "pca").X
    assert len(np.unique(made, axis=0)) == 600
    first = {}
    for row, item in enumerate(order):
        np.testing.assert_array_equal(made[row], made[first.setdefault(item, row)])
