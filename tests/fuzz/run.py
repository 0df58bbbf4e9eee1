"""Damaged files for every reader: a reader reads a file or raises a UserError of one line, and nothing else.

    python tests/fuzz/run.py --seconds 100 --seed 0 --keep failures

A case depends on the seed and its number alone. A file that fails is kept as reader.number.suffix; one of a few kB
belongs into tests/fuzz/corpus once the reader is mended: its files are read in every run of the tests.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent)]

from fuzz.damage import damaged  # noqa: E402
from fuzz.readers import READERS  # noqa: E402
from mheal.exceptions import LONGEST, UserError  # noqa: E402
from mheal.runtime.native import exit_on_native_errors  # noqa: E402

GAVE_UP = 77  # exit status where a library ended the process, which the command reports in a line


def complaint(reader: str, content: bytes, folder: Path) -> str | None:
    """How a reader misbehaves on a file; None if it reads it or raises a proper error."""
    name, _, read = READERS[reader]
    file = folder / name
    file.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(file)
    except UserError as error:
        text = str(error)
        if len(text) > LONGEST or not text.isprintable():
            return f"the message is no line of at most {LONGEST} characters: {text[:2000]!r}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return "".join(traceback.format_exception(error, limit=-6))
    return None


def read_all(seed: int, first: int, stop: float, keep: Path, only: str = "") -> int:
    """Run cases from `first` until the time is up. Returns how many failed; one file of each failure is kept."""
    readers = [reader for reader in READERS if only in reader]
    kinds: Counter[str] = Counter()
    at = first
    with tempfile.TemporaryDirectory() as folder:
        while time.time() < stop:
            reader = readers[at % len(readers)]
            name, good, _ = READERS[reader]
            content = damaged(good, Path(name).suffix, random.Random(f"{seed} {reader} {at}"))
            case = keep / f"{reader}.{at}{Path(name).suffix}"
            case.write_bytes(content)  # so that it is there if the process dies
            wrong = complaint(reader, content, Path(folder))
            at += 1
            if wrong is not None:
                kind = " ".join([wrong.splitlines()[-1][:40], *re.findall(r"mheal/\S+, line \d+", wrong)[-1:]])
                kinds[kind] += 1
                if kinds[kind] == 1:
                    print(f"{case.name}: {wrong}", flush=True)
                    continue
            case.unlink()
    print(f"{at - first} damaged files, {kinds.total()} failures of {len(kinds)} kinds", flush=True)
    return kinds.total()


def campaign(seed: int, seconds: float, keep: Path, only: str = "") -> tuple[int, int, list[str]]:
    """How many files were read, how many of them made a library give up, and what was printed of failures.

    The readers run in a process of their own, which is started again with the next case where a file has ended it.
    """
    keep.mkdir(parents=True, exist_ok=True)
    stop, first, gave_up, failures = time.time() + seconds, 0, 0, []
    while time.time() < stop:
        command = [sys.executable, __file__, "--seed", str(seed), "--keep", str(keep), "--only", only]
        part = [*command, "--first", str(first), "--stop", str(stop)]
        done = subprocess.run(part, capture_output=True, text=True, check=False)
        *found, _ = lines = done.stdout.splitlines() or [""]
        if done.returncode in (0, 1) and not lines[-1]:
            raise RuntimeError(f"the reader's process failed itself: {done.stderr[-2000:]}")
        if done.returncode in (0, 1):
            first += int(lines[-1].split()[0])
            failures += found
            break
        last = max(keep.iterdir(), key=lambda path: int(path.name.split(".")[1]))
        first = int(last.name.split(".")[1]) + 1
        failures += lines
        if done.returncode == GAVE_UP:
            gave_up += 1
            last.unlink()
        else:
            failures.append(f"{last.name}: the process ended with {done.returncode}")
    return first, gave_up, failures


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--keep", type=Path, default=Path("failures"), help="folder for files that fail")
    parser.add_argument("--only", default="", help="a part of the readers' names")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--stop", type=float, help="in this process, until then")
    given = parser.parse_args()
    if given.stop is not None:
        with exit_on_native_errors(GAVE_UP):
            return int(read_all(given.seed, given.first, given.stop, given.keep, given.only) > 0)
    count, gave_up, failures = campaign(given.seed, given.seconds, given.keep, given.only)
    print("\n".join(failures))
    print(f"{count} damaged files; {gave_up} made a library give up")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
