"""Image files of every kind, size and damage: what is seen, and how much memory it takes."""

import os
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps, features
from sklearn.datasets import load_digits

from mheal.cli import main
from mheal.embed.pixels import in_chunks, opened, upright_rgb
from mheal.io.read import read_pool

DIGITS = load_digits()
GREY = (DIGITS.images * 15).astype(np.uint8)


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
    assert read_pool(tmp_path, embed="pixels").skipped == [("b.png", "it is not an image")]


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
from mheal.embed.pixels import upright_rgb
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


def test_formats_without_a_decoder_are_skipped_and_listed(tmp_path, capfd):
    saved(tmp_path, RED, "a.png")
    saved(tmp_path, RED, "d.jp2")
    for name in ("b.heic", "c.NEF"):
        (tmp_path / name).write_bytes(b"II*\0 as a camera writes it")
    source = read_pool(tmp_path, embed="pixels")
    assert source.ids == ["a.png", "d.jp2"]
    assert source.skipped == [
        ("b.heic", "there is no decoder for .heic here: save it as PNG or JPEG"),
        ("c.NEF", "there is no decoder for .nef here: save it as PNG or JPEG"),
    ]
    assert main(["embed", str(tmp_path), "--embed", "pixels", "--out", str(tmp_path / "v.npy")]) == 0
    error = " ".join(capfd.readouterr().err.split())
    assert "skipped 2 images that cannot be read" in error
    assert "b.heic (there is no decoder for .heic here" in error


def test_a_folder_of_nothing_but_such_images(tmp_path):
    (tmp_path / "a.heic").write_bytes(b"\0" * 20)
    with pytest.raises(ValueError, match=r"none of the 1 images can be read; the first, a.heic: there is no decoder"):
        read_pool(tmp_path)


AVIF = """
import sys
if sys.argv[2] == "without":
    sys.modules["PIL._avif"] = None  # as in a Pillow that was built without it
from mheal.io.read import read_pool
source = read_pool(sys.argv[1], embed="pixels")
print(len(source.X), *(reason for _, reason in source.skipped))
"""


@pytest.mark.skipif(not features.check_module("avif"), reason="this Pillow writes no AVIF")
@pytest.mark.parametrize(
    ("decoder", "seen"), [("with", "2"), ("without", "1 there is no decoder for .avif here: save it as PNG or JPEG")]
)
def test_avif_is_read_where_pillow_decodes_it(tmp_path, decoder, seen):
    saved(tmp_path, RED, "a.png")
    saved(tmp_path, RED, "b.avif")
    command = [sys.executable, "-c", AVIF, str(tmp_path), decoder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == seen
