import csv
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

import mheal
from mheal.exceptions import UserError
from mheal_reproduction.networks.embedding import dec, parts_of, prepared

ROOT = Path(__file__).parents[2]
SHORT = {"pretrain_epochs": 2, "max_iter": 3, "widths": (16, 32)}


def test_the_option_has_clusters_and_epochs():
    assert [parts_of(option) for option in ("", "20", "7,50")] == [(10, None), (20, None), (7, 50)]
    for wrong in ("1", "-3", "ten", "2.5", "²", "3,", "3,4,5"):
        with pytest.raises(UserError, match="number of clusters"):
            parts_of(wrong)


def test_pixels_stay_and_columns_are_standardised():
    images, table = load_digits().images[:100].astype(np.float32) / 16, load_wine().data
    rows, model = prepared(images, "4", 0, None)
    np.testing.assert_array_equal(rows, images.reshape(100, 64))
    assert model.set_params(**SHORT).fit(rows).transform(rows).shape == (100, 10)
    assert len(model.cluster_centers_) == 4
    columns, of_table = prepared(table, "3", 0, None)
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(columns.std(axis=0), 1, atol=1e-5)
    assert of_table.pretrain_rate < model.pretrain_rate
    coloured = np.repeat(images[..., None], 3, axis=-1)
    assert prepared(coloured, "3", 0, None)[1].pretrain_rate == of_table.pretrain_rate


def test_codes_of_an_item_depend_on_the_seed_alone():
    few = load_digits().images[:24].astype(np.float32) / 16
    first, again, other = (dec(few, option="2,3", seed=seed, progress=None) for seed in (3, 3, 4))
    assert first.shape == (24, 10)
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_papers_pipeline_is_one_command(tmp_path):
    """Of a real distribution, whose entry points are those of pyproject.toml."""
    image = pytest.importorskip("PIL.Image")
    with (ROOT / "pyproject.toml").open("rb") as file:
        entries = tomllib.load(file)["project"]["entry-points"]["mheal.embeddings"]
    info = tmp_path / "mheal_reproduction-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mheal-reproduction\nVersion: 0.1.0\n")
    lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
    (info / "entry_points.txt").write_text(f"[mheal.embeddings]\n{lines}")
    (tmp_path / "images").mkdir()
    for at, pixels in enumerate(load_digits().images[:40]):
        image.fromarray((pixels * 15).astype(np.uint8)).save(tmp_path / "images" / f"{at}.png")
    path = os.pathsep.join(map(str, (tmp_path, Path(mheal.__file__).parents[1], ROOT / "src")))
    command = [
        sys.executable,
        "-m",
        "mheal",
        "select",
        tmp_path / "images",
        "--budget",
        "5",
        "--out",
        tmp_path / "picks.csv",
    ]
    command += ["--embed", "dec:4,2", "--strategy", "mheal-paper"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    with (tmp_path / "picks.csv").open() as file:
        picks = list(csv.reader(file))[1:]
    assert len({tuple(row) for row in picks}) == 5
    assert "dec to 10 columns" in done.stdout + done.stderr
