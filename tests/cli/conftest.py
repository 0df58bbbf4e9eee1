import shutil

import pytest

from mheal.evaluate.digits import write_files


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return folder


@pytest.fixture
def desk(prepared, tmp_path, monkeypatch):
    """A folder with digits.csv, digits.npy, labels.csv, images and texts.txt, and we are in it."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
