"""Methods that another installed package adds: a real distribution in a folder on sys.path."""

import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from mheal.embed.methods import embed
from mheal.exceptions import UserError

X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
CODE = """
import numpy as np
from mheal.exceptions import UserError

def last(X, *, option, seed, progress):
    rows = X.reshape(len(X), -1)
    assert len(np.unique(rows, axis=0)) == len(X)
    made = [[row[-1], X.ndim, seed] for row in rows]
    return np.array(made)[:, : int(option or 3)]

def short(X, *, option, seed, progress):
    return np.zeros((len(X) - 1, 2))

def words(X, *, option, seed, progress):
    return [["a"]] * len(X)

def infinite(X, *, option, seed, progress):
    return np.full((len(X), 2), np.inf)

def fails(X, *, option, seed, progress):
    return 1 / 0

def refuses(X, *, option, seed, progress):
    raise UserError("give more rows")

number = 3
"""
ENTRIES = """[mheal.embeddings]
last = tiny_embedding:last
short = tiny_embedding:short
words = tiny_embedding:words
infinite = tiny_embedding:infinite
fails = tiny_embedding:fails
refuses = tiny_embedding:refuses
number = tiny_embedding:number
nothing = tiny_embedding:nothing
elsewhere = tiny_embedding_that_is_not_there:last
broken = tiny_broken:last
unreadable = tiny embedding
pca = tiny_embedding:number

[mheal.others]
other = tiny_embedding:last
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A distribution that is installed as pip does it, but in a folder of its own."""
    folder = tmp_path / "site"
    about = folder / "tiny_embedding-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-embedding\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    (folder / "tiny_embedding.py").write_text(CODE)
    (folder / "tiny_broken.py").write_text("raise RuntimeError('no licence\\nfound')")
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("tiny_embedding", None)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("kind", ["vectors", "table"])
def test_columns_are_given_to_the_function_as_they_are(kind):
    made = embed(X, kind, "last", seed=7)
    np.testing.assert_array_equal(made.X, [[row[-1], 2, 7] for row in X])
    assert made.description == "last to 3 columns"


@pytest.mark.usefixtures("package")
def test_the_function_gets_what_stands_behind_the_colon():
    assert embed(X, "vectors", "last:2").X.shape == (12, 2)
    assert embed(X, "vectors", "last:1").description == "last to 1 column"


@pytest.mark.usefixtures("package")
def test_equal_items_are_given_once_and_have_equal_vectors(tmp_path):
    order = [3, 1, 3, 0, 1, 2]
    np.testing.assert_array_equal(embed(X[order], "vectors", "last").X[:, 0], X[order, -1])
    for at, row in enumerate(order):
        Image.new("RGB", (20, 10), (0, 0, 51 * row)).save(tmp_path / f"{at}.png")
    made = embed([tmp_path / f"{at}.png" for at in range(len(order))], "images", "last")
    np.testing.assert_allclose(made.X, [[row / 5, 4, 0] for row in order], rtol=1e-6)
    assert made.description == "images 20×10 RGB, last to 3 columns"


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("elsewhere", "the method 'elsewhere' of tiny-embedding cannot be loaded .*ModuleNotFoundError: No module"),
        ("nothing", "'nothing' of tiny-embedding cannot be loaded .* has no attribute 'nothing'"),
        ("broken", r"'broken' .* cannot be loaded from tiny_broken:last \(RuntimeError: no licence found\): install"),
        ("unreadable", "'unreadable' .* cannot be loaded from tiny embedding"),
        ("number", "'number' of tiny-embedding is not a function: tiny_embedding:number"),
        ("fails", r"'fails' of tiny-embedding failed \(ZeroDivisionError: .*\): see its documentation"),
        ("refuses", "^give more rows$"),
        ("short", r"'short' of tiny-embedding returned float64 \(11, 2\), not a row of finite numbers"),
        ("words", r"'words' .* for each of the 12 items"),
        ("infinite", r"'infinite' .* not a row of finite numbers"),
    ],
)
def test_a_broken_method_is_one_line_that_names_its_package(method, message):
    with pytest.raises(UserError, match=message):
        embed(X, "vectors", method)


@pytest.mark.usefixtures("package")
def test_an_unknown_name_lists_those_of_packages_and_what_to_install():
    with pytest.raises(
        UserError, match=r"no method 'dec' for vectors: use none, pca, autoencoder, broken, .*unreadable"
    ):
        embed(X, "vectors", "dec")
    with pytest.raises(
        UserError, match=r"no method 'last:' .*mheal\[deep\] for autoencoder, mheal-reproduction for dec"
    ):
        embed(X, "vectors", "last:")
    with pytest.raises(
        UserError, match=r"no method 'last' for texts: use auto, minilm, minilm\+tfidf, tfidf or sentence:NAME"
    ):
        embed(["a"], "texts", "last")
    with pytest.raises(UserError, match="no method 'other' for vectors"):
        embed(X, "vectors", "other")


@pytest.mark.usefixtures("package")
def test_no_package_replaces_a_method_of_ours():
    assert embed(X, "vectors", "pca").description.startswith("PCA to")


def test_a_package_is_loaded_only_for_its_own_method(package):
    code = """
import sys
import numpy as np
from mheal.embed import embed
X = np.eye(9)
embed(X, "vectors", "pca")
try:
    embed(X, "vectors", "unknown")
except ValueError:
    pass
assert "tiny_embedding" not in sys.modules
embed(X, "vectors", "last")
assert "tiny_embedding" in sys.modules
"""
    path = os.pathsep.join([str(package), *sys.path])
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})


def test_the_command_line_finds_it(package, tmp_path):
    pool, out = tmp_path / "pool.npy", tmp_path / "vectors.npy"
    np.save(pool, X)
    path = os.pathsep.join([str(package), *sys.path])
    command = [sys.executable, "-m", "mheal", "embed", str(pool), "--embed", "last", "--seed", "5", "--out", str(out)]
    done = subprocess.run(command, check=True, text=True, capture_output=True, env={**os.environ, "PYTHONPATH": path})
    np.testing.assert_array_equal(np.load(out), [[row[-1], 2, 5] for row in X])
    assert "last to 3 columns" in done.stderr


def test_a_damaged_list_of_entry_points_is_one_line(package):
    (package / "tiny_embedding-1.0.dist-info" / "entry_points.txt").write_text("[mheal.embeddings]\nno equals sign\n")
    with pytest.raises(UserError, match="cannot list the methods that installed packages add"):
        embed(X, "vectors", "last")
