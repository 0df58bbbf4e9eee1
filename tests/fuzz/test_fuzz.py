"""Damaged files: all tests read those that once broke a reader; slow tests also read new ones for two minutes."""

import random
from pathlib import Path

import pytest

pytest.importorskip("PIL")

from fuzz.damage import damaged
from fuzz.readers import READERS
from fuzz.run import campaign, complaint

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
SECONDS = 100


@pytest.mark.parametrize("reader", READERS)
def test_good_files_are_read(reader, tmp_path):
    name, good, read = READERS[reader]
    (tmp_path / name).write_bytes(good)
    read(tmp_path / name)


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.name)
def test_what_once_broke_a_reader_is_read_or_refused_in_one_line(file, tmp_path):
    assert complaint(file.name.partition(".")[0], file.read_bytes(), tmp_path) is None


def test_damage_depends_on_the_seed_alone():
    for reader in ("pool-npz", "labels-tasks", "pool-xlsx"):
        name, good, _ = READERS[reader]
        some = [damaged(good, Path(name).suffix, random.Random(f"7 {reader} {at}")) for at in range(20)]
        assert some == [damaged(good, Path(name).suffix, random.Random(f"7 {reader} {at}")) for at in range(20)]
        assert len(set(some)) > 10
        assert good not in some


@pytest.mark.slow
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    count, gave_up, failures = campaign(seed=0, seconds=SECONDS, keep=tmp_path)
    assert not failures, "\n".join(failures)[:5000]
    assert count > 1000
    assert gave_up < count / 500
