"""Walk through the docs as a newcomer does, and time each step.

python benchmarks/speed/walk.py

Every command and every block of Python of a page runs as printed, in an empty folder. The walk begins on a machine that
has compiled nothing. Left out are `pip install` and `mheal label`, which waits for a person.
"""

import csv
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("start", "tutorials/table", "tutorials/images", "tutorials/texts")
FILE = Path(__file__).parent / "results" / "walk.csv"
PART = re.compile(r"^(?P<title>[^\n]+)\n[=-]+\n|^\*\*(?P<step>[^*]+)\*\*|"
                  r"^\.\. code-block:: (?P<language>python|console)\n\n(?P<code>(?:   .*\n|\n)+)", re.M)  # fmt: skip
LEFT_OUT = ("pip install ", "mheal label ")


def parts(page):
    """(section, step, language, code) of each block of the page."""
    section = step = ""
    for found in PART.finditer((ROOT / "docs" / f"{page}.rst").read_text(encoding="utf-8")):
        if found["title"]:
            section, step = found["title"], ""
        elif found["step"]:
            step = found["step"].strip(".")
        else:
            yield section, step, found["language"], textwrap.dedent(found["code"])


def lines(code):
    """The commands of a block, as lists of words."""
    given = [line.removeprefix("$ ") for line in code.splitlines() if line.startswith("$ ")]
    run = [shlex.split(line, comments=True) for line in given if not line.startswith(LEFT_OUT)]
    return [[sys.executable, "-m", *words] for words in run]


def used():
    """Seconds of the clock, and of all cores, by this process and the commands that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(usage.ru_utime + usage.ru_stime for usage in both)


def walk(page):
    """Run the page in this folder, and write a row for each section and step."""
    rows, names = {}, {"__name__": "__main__"}
    for section, step, language, code in parts(page):
        before = used()
        if language == "python":
            exec(compile(code, page, "exec"), names)
        else:
            for words in lines(code):
                subprocess.run(words, check=True)
        clock, cores = (now - then for now, then in zip(used(), before, strict=True))
        row = rows.setdefault((page, section, step), [0.0, 0.0])
        row[:] = row[0] + clock, row[1] + cores
    with FILE.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [*key, f"{clock:.1f}", f"{cores:.1f}"] for key, (clock, cores) in rows.items() if clock > 0.001
        )


def main():
    """A folder and a process for each page; compiled code is kept from one to the next."""
    FILE.write_text("page,section,step,seconds,CPU seconds\n")
    with tempfile.TemporaryDirectory() as cache:
        for page in PAGES:
            with tempfile.TemporaryDirectory() as folder:
                env = {**os.environ, "NUMBA_CACHE_DIR": cache}
                subprocess.run([sys.executable, __file__, page], cwd=folder, env=env, check=True)


if __name__ == "__main__":
    walk(sys.argv[1]) if len(sys.argv) > 1 else main()
