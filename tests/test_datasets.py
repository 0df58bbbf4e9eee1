import os
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from mheal import datasets


def save(folder, name, **arrays):
    np.savez(folder / f"{name}.npz", **arrays)


X = np.arange(12, dtype=np.float32).reshape(6, 2)
y = np.array([0, 1, 0, 1, 0, 1])


def test_loads_a_table_from_the_folder(tmp_path):
    save(tmp_path, "magic04", X_train=X, y_train=y)
    for found in (datasets.load("magic04", tmp_path), datasets.load("magic04", str(tmp_path))):
        assert len(found) == 2
        assert (found[0] == X).all()
        assert (found[1] == y).all()


def test_loads_an_official_split(tmp_path):
    save(tmp_path, "shuttle", X_train=X, y_train=y, X_test=X[:2], y_test=y[:2])
    assert [len(a) for a in datasets.load("shuttle", tmp_path)] == [6, 6, 2, 2]


def test_the_variable_names_the_folder(tmp_path, monkeypatch):
    save(tmp_path, "jm1", X_train=X, y_train=y)
    monkeypatch.setenv("MHEAL_DATA", str(tmp_path))
    assert datasets.path("jm1") == tmp_path / "jm1.npz"
    assert len(datasets.load("jm1")) == 2
    assert datasets.get("jm1") == tmp_path / "jm1.npz"  # it is there: no download
    assert datasets.path("jm1", tmp_path / "other") == tmp_path / "other" / "jm1.npz"


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'minst': choose from mnist, fashion_mnist"):
        datasets.load("minst")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (dict(X_train=X), "save both"),
        (dict(X=X, y=y), "save both"),
        (dict(X_train=X, y_train=y, X_test=X), "save both"),
        (dict(X_train=X, y_train=y[:3]), "X_train has 6 rows, its labels 3"),
        (dict(X_train=X, y_train=y, X_test=X, y_test=y[:1]), "X_test has 6 rows, its labels 1"),
    ],
)
def test_a_file_with_the_wrong_arrays_is_named(tmp_path, arrays, words):
    save(tmp_path, "skin", **arrays)
    with pytest.raises(ValueError, match=rf"skin\.npz.*{words}"):
        datasets.load("skin", tmp_path)


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "skin.npz").write_bytes(b"not a zip file")
    with pytest.raises(ValueError, match=r"cannot read skin\.npz: .*: delete it and get it again"):
        datasets.load("skin", tmp_path)


def openml(monkeypatch, name, data, target):
    """A replacement for scikit-learn's download, because tests cannot reach OpenML."""
    answer = Bunch(data=data, target=np.array(target, dtype=object), details={"name": name})
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **options: answer)


def test_a_table_from_openml_is_saved_and_read_back(tmp_path, monkeypatch):
    openml(monkeypatch, "jm1", X.astype(np.float64), ["true", "false", "false", "true", "false", "false"])
    file = datasets.get("jm1", tmp_path / "new")
    found = datasets.load("jm1", tmp_path / "new")
    assert file.exists()
    assert found[0].dtype == np.float32
    assert found[1].tolist() == [1, 0, 0, 1, 0, 0]
    assert os.listdir(file.parent) == ["jm1.npz"]


def test_numbers_as_labels_keep_their_order(tmp_path, monkeypatch):
    openml(monkeypatch, "shuttle", X, ["10", "9", "2", "10", "2", "9"])
    assert datasets.load("shuttle", tmp_path)[1].tolist() == [2, 1, 0, 2, 0, 1]


def test_sparse_tables_become_dense(tmp_path, monkeypatch):
    openml(monkeypatch, "a9a", sparse.csr_matrix(X), ["-1", "1"] * 3)
    found = datasets.load("adult", tmp_path)
    assert (found[0] == X).all()
    assert found[1].tolist() == [0, 1] * 3


def test_colour_planes_become_pixels(tmp_path, monkeypatch):
    image = np.random.default_rng(0).integers(256, size=(32, 32, 3), dtype=np.uint8)
    rows = np.tile(image.transpose(2, 0, 1).reshape(1, -1), (50_001, 1))
    openml(monkeypatch, "CIFAR_10", rows, ["3"] * 50_001)
    X_train, _, X_test, y_test = datasets.load("cifar10", tmp_path)
    assert X_train.shape == (50_000, 32, 32, 3)
    assert (X_test[0] == image).all()
    assert y_test.tolist() == [0]


def test_another_dataset_under_the_number_is_refused(tmp_path, monkeypatch):
    openml(monkeypatch, "somebody-elses", X, y)
    with pytest.raises(ValueError, match="1053 is somebody-elses, not jm1"):
        datasets.load("jm1", tmp_path)


def test_offline_says_what_to_do(tmp_path, monkeypatch):
    def fetch(**options):
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    with pytest.raises(OSError, match=r"go online, or put .*mnist\.npz there"):
        datasets.load("mnist", tmp_path)


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_real_files_have_the_expected_shape(name):
    folder = os.environ.get("MHEAL_DATA")
    if not folder or not (Path(folder) / f"{name}.npz").exists():
        pytest.skip("needs MHEAL_DATA with the dataset")
    arrays = datasets.load(name)
    known = datasets.DATASETS[name]
    assert len(arrays) in (2, 4)
    assert arrays[0].shape[1:] == known.image or not known.image
    labels = np.unique(np.concatenate(arrays[1::2]))
    assert labels.tolist() == list(range(len(labels)))
    assert f"{len(labels)} classes" in known.about
