"""Damaged files for every reader: a reader reads a file or raises a UserError of one line, and nothing else.

    python tests/fuzz/run.py --seconds 100 --seed 0 --keep failures

A case is named reader-number.suffix; with the seed it can be made again. What fails is kept in a folder: once it is
mended, `git add` a small one to tests/fuzz/corpus, whose files tests read each time.
"""

import argparse
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent)]

from fuzz.damage import damaged  # noqa: E402
from fuzz.readers import READERS  # noqa: E402

from mheal.exceptions import UserError  # noqa: E402

LONGEST = 300  # characters of a message


def complaint(reader: str, content: bytes, folder: Path) -> str | None:
    """What is wrong with how a reader takes a file; None where nothing is."""
    name, _, read = READERS[reader]
    file = folder / name
    file.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(file)
    except UserError as error:
        text = str(error)
        if "\n" in text or len(text) > LONGEST or not text.isprintable():
            return f"the message is no line of at most {LONGEST} characters: {text[:2000]!r}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return "".join(traceback.format_exception(error, limit=-6))
    return None


def fuzz(seed: int, seconds: float, most: int, keep: Path, only: str = "") -> tuple[int, dict[str, int]]:
    """How many cases were read, and how many failures there were by place; one file of each place is kept."""
    readers = [reader for reader in READERS if only in reader]
    stop, count, places = time.monotonic() + seconds, 0, {}
    keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        while count < most and time.monotonic() < stop:
            reader = readers[count % len(readers)]
            suffix = Path(READERS[reader][0]).suffix
            content = damaged(READERS[reader][1], suffix, random.Random(f"{seed} {reader} {count}"))
            case = keep / f"{reader}.{count}{suffix}"
            case.write_bytes(content)  # so that it is there if the process dies
            wrong = complaint(reader, content, Path(folder))
            place = "" if wrong is None else " ".join([wrong.splitlines()[-1][:40], *re.findall(r"mheal/\S+, line \d+", wrong)[-1:]])
            if wrong is None or place in places:
                case.unlink()
            if wrong is not None:
                places[place] = places.get(place, 0) + 1
                if places[place] == 1:
                    print(f"{case.name}: {wrong}", flush=True)
            count += 1
    return count, places


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--most", type=int, default=10**9, help="cases")
    parser.add_argument("--keep", type=Path, default=Path("failures"), help="folder for what fails")
    parser.add_argument("--only", default="", help="a part of the readers' names")
    given = parser.parse_args()
    count, places = fuzz(given.seed, given.seconds, given.most, given.keep, given.only)
    print(f"{count} damaged files, {sum(places.values())} failures of {len(places)} kinds")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
