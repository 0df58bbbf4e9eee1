"""Folders of images: digits as files, and the odd ones of real folders."""

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from mheal.io.read import read_pool

DIGITS = load_digits()
GREY = (DIGITS.images * 15).astype(np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """300 digits in a subfolder for each class."""
    root = tmp_path_factory.mktemp("digits")
    for at in range(300):
        (root / str(DIGITS.target[at])).mkdir(exist_ok=True)
        Image.fromarray(GREY[at]).save(root / str(DIGITS.target[at]) / f"{at:04d}.png")
    return root


def rows_of(source):
    return [int(name[-8:-4]) for name in source.ids]


def test_pixels_of_digits(folder):
    source = read_pool(folder, embed="pixels")
    assert source.ids == sorted(source.ids)
    assert source.ids[0] == "0/0000.png"
    assert source.items == source.files == [folder / name for name in source.ids]
    np.testing.assert_array_equal(source.X, (GREY[rows_of(source)].astype(np.float32) / 255).reshape(300, 64))
    assert (source.kind, source.features, source.skipped) == ("images", "images 8×8 grey, 64 columns", [])


def test_shapes_are_the_default(folder):
    source = read_pool(folder, seed=3)
    pixels = read_pool(folder, embed="pca", seed=3)
    said = pixels.features.removeprefix("images 8×8 grey, ")
    assert source.features.startswith(f"images 8×8 grey, pixels: {said}, edges: PCA to ")
    np.testing.assert_allclose(np.linalg.norm(source.X, axis=1), 1, rtol=1e-6)
    n = pixels.X.shape[1]
    np.testing.assert_allclose(source.X[:, :n], pixels.X / np.sqrt(2), rtol=1e-5)  # half is pixels, half is edges


def test_pca_of_pixels(folder):
    source = read_pool(folder, embed="pca", seed=3)
    pixels = read_pool(folder, embed="pixels").X
    u, s, _ = np.linalg.svd(pixels - pixels.mean(axis=0), full_matrices=False)
    share = np.cumsum(s**2) / np.sum(s**2)
    n = int((share < 0.9).sum()) + 1
    assert source.X.dtype == np.float32
    assert source.features == f"images 8×8 grey, PCA to {n} columns ({100 * share[n - 1]:.0f} % of the variance)"
    wanted = np.abs(u[:, :n] * s[:n])  # directions have no sign
    np.testing.assert_allclose(np.abs(source.X), wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-4)
    np.testing.assert_array_equal(source.X, read_pool(folder, embed="pca", seed=3).X)


def test_a_pattern_of_images(folder):
    source = read_pool(folder / "*" / "000?.png", embed="pixels")
    assert source.ids == [f"{i}/000{i}.png" for i in range(10)]  # the first ten digits are 0, 1, 2, …


def test_fewer_images_than_components(folder):
    source = read_pool(folder / "1" / "*1.png")
    assert len(source.files) < 64
    assert 1 < source.X.shape[1] < 2 * len(source.files)


def test_progress_counts_to_the_end(folder):
    calls = []
    read_pool(folder, progress=lambda *call: calls.append(call))
    wanted = [(n, 300, f"{verb} images") for verb in ("opening", "reading") for n in (256, 300)]
    assert calls == [*wanted, (5, 5, "finding edges")]


def test_threads_do_not_matter(folder, monkeypatch):
    several = read_pool(folder).X
    monkeypatch.setenv("MHEAL_NUM_THREADS", "1")
    np.testing.assert_array_equal(read_pool(folder).X, several)


def test_different_sizes_and_colours_become_32_by_32_rgb(tmp_path):
    Image.new("L", (100, 50), 51).save(tmp_path / "a.png")
    Image.new("RGB", (10, 20), (255, 0, 102)).save(tmp_path / "b.BMP")
    source = read_pool(tmp_path, embed="pixels")
    assert source.features == "images 32×32 RGB, 3,072 columns"
    pixels = source.X.reshape(2, 32, 32, 3)
    np.testing.assert_allclose(pixels[0], 0.2, atol=1e-6)
    np.testing.assert_allclose(pixels[1], np.broadcast_to([1, 0, 0.4], (32, 32, 3)), atol=1e-6)


def test_one_large_size_becomes_32_by_32(tmp_path):
    for at, colour in enumerate((0, 255)):
        Image.new("L", (800, 600), colour).save(tmp_path / f"{at}.jpg")
    source = read_pool(tmp_path, embed="pixels")
    np.testing.assert_allclose(source.X, np.repeat([[0.0], [1.0]], 1024, axis=1), atol=1e-6)


def test_wide_images_are_not_turned(tmp_path):
    wide = np.arange(12, dtype=np.uint8).reshape(3, 4)
    for at in range(2):
        Image.fromarray(wide).save(tmp_path / f"{at}.png")
    source = read_pool(tmp_path, embed="pixels")
    np.testing.assert_allclose(source.X[0] * 255, wide.ravel(), atol=1e-4)
    assert source.features.startswith("images 4×3 grey")


def test_sixteen_bits_are_not_clipped(tmp_path):
    deep = np.array([[0, 256], [4096, 65535]], np.uint16)
    for at in range(2):
        Image.fromarray(deep).save(tmp_path / f"{at}.png")
    np.testing.assert_allclose(read_pool(tmp_path, embed="pixels").X[0], deep.ravel() / 65535, atol=1e-6)


def test_images_are_seen_as_a_viewer_shows_them(tmp_path):
    clear = Image.new("RGBA", (4, 4), (9, 9, 9, 0))
    clear.save(tmp_path / "clear.png")
    turned = Image.fromarray(np.array([[0] * 4, [255] * 4, [255] * 4, [255] * 4], np.uint8)).convert("RGB")
    orientation = Image.Exif()
    orientation[0x0112] = 6  # turn clockwise to view
    turned.save(tmp_path / "turned.tiff", exif=orientation)
    seen = read_pool(tmp_path, embed="pixels").X.reshape(2, 4, 4, 3)
    np.testing.assert_array_equal(seen[0], 1)  # transparent is white
    np.testing.assert_array_equal(seen[1, ..., 0], [[1, 1, 1, 0]] * 4)  # the dark top is on the right


@pytest.mark.parametrize("embed", ["pixels", "pca"])
def test_unreadable_images_are_left_out_by_name(folder, tmp_path, embed):
    good = folder / "0" / "0000.png"
    for name in ("a.png", "e.png"):
        (tmp_path / name).write_bytes(good.read_bytes())
    (tmp_path / "b.png").write_bytes(good.read_bytes()[:-30])  # the header is whole
    (tmp_path / "c.jpg").write_text("not an image")
    (tmp_path / "d.gif").write_bytes(b"")
    source = read_pool(tmp_path, embed=embed)
    assert source.ids == ["a.png", "e.png"]
    assert len(source.X) == len(source.items) == 2
    assert [name for name, _ in source.skipped] == ["b.png", "c.jpg", "d.gif"]
    assert source.skipped[1:] == [("c.jpg", "it is not an image"), ("d.gif", "it is empty")]
    assert "truncated" in source.skipped[0][1] or "broken" in source.skipped[0][1]


@pytest.mark.parametrize("odd", [np.nan, -np.inf, 3e38])
def test_a_float_image_with_odd_values_is_left_out(tmp_path, odd):
    values = np.full((4, 4), 100, np.float32)
    Image.fromarray(values).save(tmp_path / "a.tif")
    values[1, 2] = odd
    Image.fromarray(values).save(tmp_path / "b.tif")
    source = read_pool(tmp_path, embed="pixels")
    assert source.skipped == [("b.tif", "it holds NaN or values beyond 1e+30")]


def test_equal_images(tmp_path):
    for at in range(3):
        Image.new("L", (4, 4), 7).save(tmp_path / f"{at}.png")
    X = read_pool(tmp_path).X
    assert X.shape == (3, 16)  # their pixels, since there is nothing to tell apart
    assert (X[0] == X).all()
    Image.new("L", (4, 4), 7).save(tmp_path / "0.png")
    for at in (1, 2):
        (tmp_path / f"{at}.png").unlink()
    assert read_pool(tmp_path).X.shape == (1, 16)


def test_no_readable_image(tmp_path):
    (tmp_path / "a.png").write_text("x")
    (tmp_path / "b.png").write_text("x")
    with pytest.raises(ValueError, match=r"none of the 2 images can be read; the first, a.png: it is not an image"):
        read_pool(tmp_path)


def test_images_have_no_columns(folder):
    with pytest.raises(ValueError, match=r"is not a table and has no column names: leave out columns=\['a'\]"):
        read_pool(folder, columns=["a"])


def test_plain_images_are_told_apart_by_their_brightness(tmp_path):
    for level in range(200):
        Image.new("L", (16, 16), level + 20).save(tmp_path / f"{level:03}.png")
    source = read_pool(tmp_path)
    assert len(np.unique(source.X, axis=0)) == 200
    nearest = np.abs(source.X - source.X[100]).sum(axis=1).argsort()[:3]
    assert set(nearest) == {99, 100, 101}
    assert "edges" not in source.features


def test_brightness_stays_where_there_are_edges_of_noise(tmp_path):
    rng = np.random.default_rng(0)
    levels = rng.permutation(200)
    for at, level in enumerate(levels):
        noise = rng.integers(-8, 9, (16, 16, 3))
        Image.fromarray((level + 20 + noise).astype(np.uint8)).save(tmp_path / f"{at:03}.png")
    X = read_pool(tmp_path).X.astype(np.float64)
    order = np.square(X[:, None] - X).sum(axis=2).argsort(axis=1)
    off = np.abs(levels[order[:, 1]] - levels)
    assert off.mean() < 45  # 66 by chance: half of what is compared is brightness
