"""Builds the wheel and the sdist, and uses both in a new environment of each Python that is named (`make release`)."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent
CONSTRAINTS = str(ROOT / "constraints.txt")
MOST = 3_000_000  # bytes of the wheel
IN_SDIST = {
    "src",
    "tests",
    "pyproject.toml",
    "PKG-INFO",
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    ".gitignore",
}
HEAVY = {"torch", "dask", "matplotlib", "polars", "starlette"}  # not loaded by `import mheal`


def run(*command: object, **options: object) -> str:
    """What a command prints; an error with all of it where the command fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """The wheel, which is made from the sdist, and the sdist; both hold what they must, and no more."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, env={**os.environ, "PIP_CONSTRAINT": CONSTRAINTS})
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    paths = (path for path in (ROOT / "src").rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in paths}
    found = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    if found != wanted or "mheal/py.typed" not in found:
        sys.exit(f"{wheel.name}: in the wheel or in src/, not in both: {sorted(found ^ wanted)}")
    with tarfile.open(sdist) as archive:
        top = {name.split("/")[1] for name in archive.getnames()}
    if strange := top - IN_SDIST:
        sys.exit(f"{sdist.name} has {sorted(strange)}")
    if wheel.stat().st_size > MOST:
        sys.exit(f"{wheel.name} has {wheel.stat().st_size:,} bytes, of at most {MOST:,}")
    return wheel, sdist


def use(commands: Path, version: str, desk: Path) -> None:
    """Import mheal, and pick rows of a table; exactly the version that was built."""
    loaded = run(commands / "python", "-I", "-c", "import sys, mheal; print(*sys.modules)").split()
    if heavy := HEAVY & set(loaded):
        sys.exit(f"`import mheal` loads {sorted(heavy)}")
    if run(commands / "mheal", "--version").split() != ["mheal", version]:
        sys.exit(f"`mheal --version` is not {version}")
    run(commands / "mheal", "demo", "--files", cwd=desk)
    run(commands / "mheal", "select", "digits.csv", "--budget", "10", cwd=desk)
    if len((desk / "picks.csv").read_text().splitlines()) != 11:
        sys.exit("picks.csv has not 10 picks")


def open_page(commands: Path, desk: Path) -> None:
    """Start `mheal label` and fetch every file of its page."""
    command = [commands / "mheal", "label", "digits.csv", "--port", "0", "--no-browser"]
    page = subprocess.Popen(command, cwd=desk, stderr=subprocess.PIPE, text=True)
    try:
        said = next((line for line in page.stderr if line.startswith("Label at ")), None)
        if said is None:
            sys.exit("`mheal label` ended before its page was ready")
        address = said.split()[2]
        for file in (ROOT / "src/mheal/web/static").iterdir():
            if urlopen(f"{address}static/{file.name}", timeout=60).read() != file.read_bytes():
                sys.exit(f"the page has another {file.name}")
    finally:
        page.terminate()
        page.wait()


def main(pythons: list[str]) -> None:
    os.environ.pop("PYTHONPATH", None)  # or the environments would import the sources
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    wheel, sdist = built(ROOT / "dist")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        version = wheel.name.split("-")[1]
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes; {sdist.name}: {sdist.stat().st_size:,} bytes", flush=True)
        for at, python in enumerate(pythons):
            began = time.monotonic()
            environment, desk = folder / f"environment{at}", folder / f"desk{at}"
            run(python, "-m", "venv", environment)
            desk.mkdir()
            commands = environment / "bin"
            pip = commands / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"
            run(*pip, "install", "--no-compile", "-c", CONSTRAINTS, wheel)
            use(commands, version, desk)
            run(*pip, "uninstall", "--yes", "mheal")
            run(*pip, "install", "--no-compile", "-c", CONSTRAINTS, f"{sdist}[web]")
            open_page(commands, desk)
            numbers = run(commands / "python", "--version").split()[1]
            print(f"Python {numbers}: wheel and sdist work, {time.monotonic() - began:.0f} s", flush=True)
            shutil.rmtree(environment)


if __name__ == "__main__":
    main(sys.argv[1:])
