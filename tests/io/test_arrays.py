"""Pools that are arrays: memory-mapped, named inside an archive, in shards."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from mheal.io.read import read_pool

DIGITS = load_digits().data.astype(np.float32)


def test_npy_is_its_memory_map(tmp_path):
    np.save(tmp_path / "pool.npy", DIGITS)
    source = read_pool(tmp_path / "pool.npy")
    assert type(source.X) is np.memmap
    assert source.X.mode == "r"
    assert source.X.filename == tmp_path / "pool.npy"
    np.testing.assert_array_equal(source.X, DIGITS)
    assert (source.kind, source.features, source.ids, source.items) == ("vectors", "64 columns", None, None)
    assert source.files == [tmp_path / "pool.npy"]


def test_images_in_an_array_are_flattened_without_a_copy(tmp_path):
    np.save(tmp_path / "pool.npy", load_digits().images.astype(np.uint8))
    source = read_pool(str(tmp_path / "pool.npy"))
    assert isinstance(source.X, np.memmap)
    assert source.X.dtype == np.uint8
    np.testing.assert_array_equal(source.X, DIGITS)
    assert source.features == "64 columns (8×8 flattened)"


def test_npz_holds_the_only_matrix_or_x_or_the_named_one(tmp_path):
    iris = load_iris()
    np.savez(tmp_path / "one.npz", data=iris.data, target=iris.target)
    np.savez(tmp_path / "many.npz", X=DIGITS, iris=iris.data)
    np.testing.assert_array_equal(read_pool(tmp_path / "one.npz").X, iris.data)
    np.testing.assert_array_equal(read_pool(tmp_path / "many.npz").X, DIGITS)
    np.testing.assert_array_equal(read_pool(f"{tmp_path}/many.npz:iris").X, iris.data)


def test_shards_are_joined_in_the_order_of_their_names(tmp_path):
    np.save(tmp_path / "part-2.npy", DIGITS[1000:])
    np.save(tmp_path / "part-1.npy", DIGITS[:1000])
    source = read_pool(tmp_path / "part-*.npy")
    np.testing.assert_array_equal(source.X, DIGITS)
    assert [file.name for file in source.files] == ["part-1.npy", "part-2.npy"]


def test_a_pattern_with_one_match_is_not_copied(tmp_path):
    np.save(tmp_path / "part-1.npy", DIGITS)
    assert isinstance(read_pool(tmp_path / "part-*.npy").X, np.memmap)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.arange(5.0), r"pool.npy has shape \(5,\), but a pool has rows and columns: save X.reshape\(-1, 1\)"),
        (np.empty((0, 4)), r"pool.npy is empty, shape \(0, 4\)"),
        (np.array([["a"]]), "pool.npy holds <U1, not real numbers"),
        (np.ones((2, 2), complex), "pool.npy holds complex128, not real numbers"),
        (np.array([[None]]), "cannot read pool.npy: .*only numbers or strings"),
    ],
)
def test_arrays_that_are_no_pool(tmp_path, array, message):
    np.save(tmp_path / "pool.npy", array)
    with pytest.raises(ValueError, match=message):
        read_pool(tmp_path / "pool.npy")


@pytest.mark.parametrize("keep", [0, 5, 100, 3000])
@pytest.mark.parametrize("name", ["pool.npy", "pool.npz"])
def test_broken_files(tmp_path, name, keep):
    file = tmp_path / name
    np.save(file, DIGITS) if name.endswith("npy") else np.savez(file, X=DIGITS)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(ValueError, match=f"^cannot read {name}: .*is it complete") as raised:
        read_pool(file)
    assert "\n" not in str(raised.value)


def test_a_single_array_under_the_name_of_an_archive(tmp_path):
    with (tmp_path / "pool.npz").open("wb") as file:
        np.save(file, DIGITS)
    with pytest.raises(ValueError, match=r"cannot read pool.npz: it is not an archive of arrays"):
        read_pool(tmp_path / "pool.npz")


def test_which_array_of_an_archive(tmp_path):
    np.savez(tmp_path / "pool.npz", train=np.ones((3, 2)), test=np.ones((2, 2)), y=np.ones(3))
    with pytest.raises(ValueError, match=r"Write pool.npz:NAME \(it has train \(3, 2\), test \(2, 2\), y \(3,\)\)"):
        read_pool(tmp_path / "pool.npz")
    with pytest.raises(ValueError, match=r"pool.npz has no array 'X2': it has train, test, y"):
        read_pool(f"{tmp_path}/pool.npz:X2")


def test_shards_of_other_widths(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    np.save(tmp_path / "b.npy", np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"b.npy has 4 columns, but a.npy has 2"):
        read_pool(tmp_path / "*.npy")


def test_arrays_have_no_column_names(tmp_path):
    np.save(tmp_path / "pool.npy", DIGITS)
    with pytest.raises(ValueError, match=r"pool.npy is not a table and has no column names: leave out id_column='id'"):
        read_pool(tmp_path / "pool.npy", id_column="id")


def test_pca_of_vectors(tmp_path):
    np.save(tmp_path / "pool.npy", np.hstack([DIGITS, DIGITS**2]))
    source = read_pool(tmp_path / "pool.npy", embed="pca")
    assert source.X.shape == (1797, 23)
    assert source.X.dtype == np.float32
    assert source.features == "128 columns; PCA to 23 columns (91 % of the variance)"
    bad = DIGITS.copy()
    bad[17, 3] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    with pytest.raises(ValueError, match=r"NaN at row 17, column 3"):
        read_pool(tmp_path / "bad.npy", embed="pca")
