"""Folders of images: digits as files, and the odd ones of real folders."""

import os
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps
from sklearn.datasets import load_digits

from mheal.cli import main
from mheal.embed.images import in_chunks, opened, upright_rgb
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
    assert [file.name for file, _ in source.skipped] == ["b.png", "c.jpg", "d.gif"]
    assert source.skipped[1:] == [(tmp_path / name, "it is not an image") for name in ("c.jpg", "d.gif")]
    assert "truncated" in source.skipped[0][1] or "broken" in source.skipped[0][1]


@pytest.mark.parametrize("odd", [np.nan, -np.inf, 3e38])
def test_a_float_image_with_odd_values_is_left_out(tmp_path, odd):
    values = np.full((4, 4), 100, np.float32)
    Image.fromarray(values).save(tmp_path / "a.tif")
    values[1, 2] = odd
    Image.fromarray(values).save(tmp_path / "b.tif")
    source = read_pool(tmp_path, embed="pixels")
    assert source.skipped == [(tmp_path / "b.tif", "it holds NaN or values beyond 1e+30")]


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


def saved(folder, image, name="a.tif", **options):
    image.save(folder / name, **options)
    return folder


RAMP = np.linspace(0, 1, 16, dtype=np.float32).reshape(4, 4)
RED = Image.new("RGB", (4, 4), (255, 0, 0))
KINDS = {
    "12 bits in 16": (Image.fromarray((RAMP * 4095).astype(np.uint16)), "a.tif", RAMP),
    "16 bits": (Image.fromarray((RAMP * 65535).astype(np.uint16)), "a.png", RAMP),
    "32 bits": (Image.fromarray((RAMP * 1e6).astype(np.int32)), "a.tif", RAMP),
    "floats to 1": (Image.fromarray(RAMP), "a.tif", RAMP),
    "floats to 255": (Image.fromarray(RAMP * 255), "a.tif", RAMP),
    "floats from -3 to 5": (Image.fromarray(RAMP * 8 - 3), "a.tif", RAMP),
    "palette": (RED.convert("P", palette=Image.Palette.ADAPTIVE), "a.png", RED),
    "CMYK": (RED.convert("CMYK"), "a.tif", RED),
    "CMYK as JPEG": (RED.resize((16, 16)).convert("CMYK"), "a.jpg", RED.resize((16, 16))),
    "1 bit": (Image.fromarray(RAMP > 0.5), "a.png", RAMP > 0.5),
    "half transparent": (
        Image.new("RGBA", (4, 4), (255, 0, 0, 128)),
        "a.png",
        Image.new("RGB", (4, 4), (255, 127, 127)),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_pixels_and_thumbnails_of_every_kind_of_image(tmp_path, kind):
    image, name, wanted = KINDS[kind]
    wanted = np.asarray(wanted, np.float32) / (255 if isinstance(wanted, Image.Image) else 1)
    source = read_pool(saved(tmp_path, image, name), embed="pixels")
    np.testing.assert_allclose(source.X[0], wanted.ravel(), atol=0.01)
    small = np.asarray(upright_rgb(Image.open(tmp_path / name), 4), np.float32) / 255
    np.testing.assert_allclose(small, wanted if wanted.ndim == 3 else np.repeat(wanted[..., None], 3, 2), atol=0.01)


@pytest.mark.parametrize("name", ["a.gif", "a.webp", "a.tif", "a.png"])
def test_of_pages_and_frames_the_first_counts(tmp_path, name):
    blue = Image.new("RGB", (4, 4), (0, 0, 255))
    saved(tmp_path, RED, name, save_all=True, append_images=[blue], **({"lossless": True} if name == "a.webp" else {}))
    np.testing.assert_array_equal(read_pool(tmp_path, embed="pixels").X.reshape(-1, 3), [[1, 0, 0]] * 16)


def test_deep_images_are_as_bright_as_they_are_beside_each_other(tmp_path):
    for at, level in enumerate((1000, 2000, 4000)):
        saved(tmp_path, Image.fromarray(np.full((4, 4), level, np.uint16)), f"{at}.png")
    saved(tmp_path, RED, "colour.png")
    X = read_pool(tmp_path, embed="pixels").X
    np.testing.assert_allclose(X[:3], np.repeat([[1000 / 4095], [2000 / 4095], [4000 / 4095]], 48, axis=1), rtol=1e-5)
    np.testing.assert_array_equal(X[3].reshape(-1, 3), [[1, 0, 0]] * 16)


def test_a_transparent_colour_of_16_bits_clips_nothing(tmp_path):
    saved(tmp_path, KINDS["16 bits"][0], "a.png", transparency=0)
    np.testing.assert_allclose(read_pool(tmp_path, embed="pixels").X[0], RAMP.ravel(), atol=1e-4)


def grey_png(file, width, height):
    """A small file of many black pixels."""
    pack = zlib.compressobj(1)
    line = bytes(width + 1)
    data = b"".join([*(pack.compress(line) for _ in range(height)), pack.flush()])
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    packed = (struct.pack(">I", len(it)) + name + it + struct.pack(">I", zlib.crc32(name + it)) for name, it in chunks)
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(packed))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif"])
def test_images_are_turned_as_their_exif_data_say(tmp_path, name, orientation):
    corner = Image.new("RGB", (40, 24), "white")
    corner.paste("black", (0, 0, 20, 12))
    exif = Image.Exif()
    exif[0x0112] = orientation
    corner.save(tmp_path / name, exif=exif)
    wanted = ImageOps.exif_transpose(Image.open(tmp_path / name)).convert("RGB")
    with Image.open(tmp_path / name) as image:
        seen = upright_rgb(image, 4)
    assert (seen.width > seen.height) == (wanted.width > wanted.height)
    small = wanted.resize(seen.size, Image.Resampling.BOX)
    assert np.abs(np.asarray(seen, float) - np.asarray(small, float)).max() < 30


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_large_images_are_averaged_in_bands(tmp_path, mode):
    grey = (np.add.outer(np.arange(1500), np.arange(1900)) // 14).astype(np.uint8)
    image = Image.fromarray(grey)
    if mode in ("I;16", "F"):
        image = Image.fromarray(grey.astype(np.uint16 if mode == "I;16" else np.float32))
    elif mode == "LA":
        image = Image.merge("LA", (image, image))
    else:
        image = image.convert(mode, palette=Image.Palette.ADAPTIVE) if mode != "P" else image.quantize()
    image.save(tmp_path / "a.tif")
    pixels = read_pool(tmp_path, embed="pixels").X.reshape(32, 32, -1)
    whole = 255 - (255.0 - grey) * grey / 255 if mode == "LA" else grey
    wanted = np.asarray(Image.fromarray(whole.astype(np.float32)).resize((32, 32), Image.Resampling.BOX)) / 255
    assert np.abs(pixels - wanted[:, :, None]).max() < 0.04


def test_files_that_would_start_a_program_are_no_images(tmp_path):
    saved(tmp_path, RED, "a.png")
    RED.save(tmp_path / "b.eps")
    (tmp_path / "b.eps").rename(tmp_path / "b.png")
    assert read_pool(tmp_path, embed="pixels").skipped == [(tmp_path / "b.png", "it is not an image")]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_not_utf8_is_left_out_by_every_output(tmp_path, monkeypatch, capfd):
    (tmp_path / "images").mkdir()
    for at, name in enumerate((b"a.png", b"caf\xe9.png", "é 日本 #1.png".encode(), b"d.png")):
        saved(tmp_path / "images", Image.new("RGB", (4, 4), (60 * at, 9, 200)), "new.png")
        os.rename(tmp_path / "images" / "new.png", os.fsencode(tmp_path / "images") + b"/" + name)
    (tmp_path / "images" / "gone.png").symlink_to("nowhere.png")
    monkeypatch.chdir(tmp_path)
    for out in ("picks.csv", "picks.jsonl", "picks.parquet", "tasks.json", "sheet.html"):
        assert main(["select", "images", "-b", "3", "-o", out]) == 0
        said = capfd.readouterr().err
        assert "2 images that cannot be read" in said
        assert "its name is not UTF-8: rename it" in said
        assert "é 日本 #1.png" in (tmp_path / out).read_bytes().decode(errors="ignore") or out == "tasks.json"


def test_odd_files_are_read_without_warnings(tmp_path, recwarn):
    saved(tmp_path, RED, "a.tif")
    content = bytearray((tmp_path / "a.tif").read_bytes())
    (tmp_path / "b.tif").write_bytes(content[:-6])  # the last tag is cut
    clear = RED.convert("P", palette=Image.Palette.ADAPTIVE)
    clear.save(tmp_path / "c.png", transparency=b"\0\1")
    assert len(read_pool(tmp_path, embed="pixels").X) >= 2
    assert not recwarn.list


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of its memory from /proc")
def test_images_of_too_many_pixels_are_not_decoded(tmp_path):
    grey_png(tmp_path / "a.png", 11_000, 11_000)
    for name in "bcde":
        (tmp_path / f"{name}.png").hardlink_to(tmp_path / "a.png")
    grey_png(tmp_path / "f.png", 200_000, 1_000)
    assert max(file.stat().st_size for file in tmp_path.iterdir()) < 2_000_000
    saved(tmp_path, RED, "g.png")
    code = f"""
import polars, sklearn.decomposition
from pathlib import Path
from mheal.io.read import read_pool
def peak():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))
before = peak()
source = read_pool({str(tmp_path)!r}, embed="pixels")
print((peak() - before) // 1000, source.ids, {{reason for _, reason in source.skipped}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    more, _, rest = done.stdout.partition(" ")
    assert rest == "['g.png'] {'it has more than 100 million pixels: make it smaller'}\n"
    assert int(more) < 60  # MB; one of them takes 121 when it is decoded
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of its memory from /proc")
@pytest.mark.parametrize("work", ["read_pool(folder, embed='pixels')", "[upright_rgb(Image.open(file), 128)]"])
def test_a_large_image_is_in_memory_once(tmp_path, work):
    Image.new("RGBA", (6000, 6000), (9, 9, 9, 99)).save(tmp_path / "a.png", compress_level=1)
    code = f"""
import polars, sklearn.decomposition
from pathlib import Path
from PIL import Image
from mheal.embed.images import upright_rgb
from mheal.io.read import read_pool
def peak():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))
folder, file, before = {str(tmp_path)!r}, {str(tmp_path / "a.png")!r}, peak()
{work}
print((peak() - before) // 1000)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 220  # MB; its 36 million pixels are 144


def test_large_images_are_decoded_one_after_another(tmp_path, monkeypatch):
    monkeypatch.setenv("MHEAL_NUM_THREADS", "4")
    saved(tmp_path, Image.new("1", (4000, 2600)), "a.png")
    saved(tmp_path, Image.new("1", (40, 26)), "b.png")
    now, most = [0], {"a.png": 0, "b.png": 0}

    def work(image):
        now[0] += 1
        name = Path(image.filename).name
        most[name] = max(most[name], now[0])
        time.sleep(0.05)
        now[0] -= 1

    for name in most:
        in_chunks(lambda path: opened(path, work), [tmp_path / name] * 4, "", None)
    assert most["a.png"] == 1
    assert most["b.png"] > 1
