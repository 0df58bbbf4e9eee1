"""Compare speed and memory of this tree with those of another version of mheal, in alternating processes.

    python benchmarks/speed/against_version.py OTHER_TREE [--rounds 3] [--quick]

OTHER_TREE is a checkout with the package in `src`. Both versions get the same data and seeds. Each measurement is a
fresh process that first compiles or loads the kernels. The script writes results/against_VERSION.json and .md. Ratios
are old over new, minimum over minimum: above 1, the present version is faster or needs less memory.
"""

import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from harness import RESULTS, busy_elsewhere, command, machine
from memory import Watch, resident

from pools import mixture, unit_rows

HERE = Path(__file__).resolve()
UNITS = ("seconds", "cpu", "mb")
POOLS = {  # name: rows, columns, components, unit rows
    "1Mx128": (1_000_000, 128, 50, False),
    "1Mx128 unit": (1_000_000, 128, 200, True),
    "100kx128": (100_000, 128, 50, False),
    "100kx128 unit": (100_000, 128, 400, True),
    "200kx64": (200_000, 64, 50, False),
}
WORKS = {  # name: (pool, what, option)
    "SphericalKMeans 1M × 128, k = 10": ("1Mx128 unit", "kmeans", 10),
    "SphericalKMeans 1M × 128, k = 100": ("1Mx128 unit", "kmeans", 100),
    "SphericalKMeans 100k × 128, k = 1000": ("100kx128 unit", "kmeans", 1000),
    "farthest-first 100k × 128, 1,000 picks": ("100kx128", "farthest_first", 1000),
    "select 100k × 128, 1,000 picks": ("100kx128", "select", 1000),
    "select 1M × 128, 1,000 picks": ("1Mx128", "select", 1000),
    "PaperMHEAL 200k × 64, 1,000 picks": ("200kx64", "paper", 1000),
    "mheal select, the command, 1M × 128 .npy, 1,000 picks": ("1Mx128", "command", 1000),
    "the same with --max-memory 700MB": ("1Mx128", "command", 700),
}


def picks_of(X: np.ndarray, n: int) -> Any:
    """`mheal.select`; n is positional because old versions call it by another name."""
    import mheal

    return mheal.select(X, n, random_state=0).indices


def paper(X: np.ndarray, n: int) -> Any:
    """Algorithm 2 with one run of k-means from given centres."""
    import mheal

    start = X[np.random.default_rng(6).choice(len(X), 10, replace=False)]
    start = start / np.linalg.norm(start, axis=1, keepdims=True)
    kind = getattr(mheal, "PaperMHEAL", None) or mheal.MHEAL.paper
    one = {"n_init": 1} if "n_init" in inspect.signature(mheal.MHEAL).parameters else {}
    return kind(10, init=start, max_iter=10, tol=0.0, random_state=0, **one).select(X, n).indices


def farthest_first(X: np.ndarray, n: int) -> Any:
    """Farthest-first from row 0."""
    import mheal

    call = mheal.farthest_first if "farthest_first" in dir(mheal) else mheal.solve.max_min
    return call(X, n, start=0)


def kmeans(X: np.ndarray, k: int) -> Any:
    """Ten iterations from the same centres."""
    import mheal

    start = X[np.random.default_rng(2).choice(len(X), k, replace=False)]
    model = mheal.SphericalKMeans(n_clusters=k, init=start, n_init=1, max_iter=10, tol=0.0, random_state=0)
    return model.fit(X).labels_


def digest(rows: Any) -> int:
    """A number that nearly always differs where the rows or their order differ."""
    return int(np.asarray(rows, np.int64) @ np.arange(1, len(rows) + 1))


WORK: dict[str, Callable[[np.ndarray, int], Any]] = {
    "kmeans": kmeans, "farthest_first": farthest_first, "select": picks_of, "paper": paper,
}  # fmt: skip


def child(what: str, option: int, file: str) -> None:
    """Measure one call in this process: extra memory of a first call, seconds of the faster of two more."""
    import mheal

    work, X = WORK[what], np.load(file)
    work(X[: max(2000, 2 * option)].copy(), min(option, 200))  # kernels compile
    before, watch = resident(), Watch()
    watch.start()
    found = work(X, option)
    watch.done.set()
    watch.join()
    took = []
    for _ in range(2):
        start = time.perf_counter(), time.process_time()
        work(X, option)
        took.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    seconds, cpu = (min(column) for column in zip(*took, strict=True))
    extra = watch.peak["RssAnon"] - before["RssAnon"]
    where = str(Path(mheal.__file__).parent)
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mb": extra, "digest": digest(found), "from": where}))


def whole_command(environment: dict[str, str], option: int, file: str) -> dict[str, Any]:
    """Measure the command `mheal select`: seconds until the file is written, peak memory with the mapped file."""
    limit = ["--max-memory", "700MB"] if option == 700 else []
    out = f"{file}.csv"
    for old in Path(file).parent.glob(f"{Path(out).stem}*"):  # picks and records of the other version
        if old.suffix in (".csv", ".json"):
            old.unlink()
    run = command("-m", "mheal", "select", file, "--budget", "1000", "--out", out, *limit, env=environment)
    rows = np.loadtxt(out, delimiter=",", skiprows=1, usecols=1).astype(np.int64)
    return {"seconds": run["seconds"], "cpu": run["cpu_seconds"], "mb": run["peak_mb"], "digest": digest(rows)}


def measure(tree: Path, what: str, option: int, file: str) -> dict[str, Any]:
    """Measure one call or command with the package of this tree."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    if what == "command":
        return whole_command(environment, option, file)
    line = [sys.executable, str(HERE), "--child", what, str(option), file]
    run = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{what} with {tree} failed: {run.stderr}")
    row = json.loads(run.stdout.splitlines()[-1])
    assert Path(row.pop("from")).is_relative_to(tree), f"another mheal than that of {tree} was imported"
    return row


def page(data: dict[str, Any]) -> str:
    """The results as Markdown."""
    head = ["work", "seconds, old", "new", "ratio", "ratio of CPU time", "MB, old", "new", "ratio", "same result"]
    table = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, row in data["rows"].items():
        best = {side: {unit: min(run[unit] for run in row[side]) for unit in UNITS} for side in ("old", "new")}
        then, now = best["old"], best["new"]
        seconds, cpu, mb = (f"**{then[unit] / max(now[unit], 1e-3):.2f}**" for unit in UNITS)
        cells = [
            f"{then['seconds']:.3f}",
            f"{now['seconds']:.3f}",
            seconds,
            cpu,
            f"{then['mb']:.0f}",
            f"{now['mb']:.0f}",
        ]
        table.append(f"| {name} | {' | '.join(cells)} | {mb} | {'yes' if row['same'] else 'no'} |")
    m, busy = data["machine"], max(row["busy"] for row in data["rows"].values())
    noisy = ", so compare CPU times: seconds are noisy" if busy > 0.1 else ""
    notes = (
        f"Ratios are old over new: above 1, the present version is better. Times are the minimum of {data['rounds']} "
        "rounds in which the versions alternate; CPU time is that of all threads. Memory is what a call allocates "
        "beside its input; for the command, it is the peak of the process with the mapped file. The command of 0.1.0 "
        "drew other random numbers than `mheal.select`; now both pick the same rows. Machine: "
        f"{m['cores']} cores, {m['memory_gb']} GB, {', '.join(m['simd'])}; other work took up to {busy:.0%} of the "
        f"cores{noisy}. Written by `against_version.py`."
    )
    return f"# Speed and memory beside {data['other']}\n\n" + "\n".join(table) + f"\n\n{textwrap.fill(notes, 120)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?", help="the other tree")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", help="only works whose name contains this")
    parser.add_argument("--quick", action="store_true", help="tiny pools, to see that the script works")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.child[0], int(args.child[1]), args.child[2])
        return
    old, new = args.other.resolve(), HERE.parents[2]
    version = {}
    exec((old / "src" / "mheal" / "_version.py").read_text(), version)
    folder = RESULTS / "quick" if args.quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"against_{version['__version__']}.json"
    data: dict[str, Any] = {"other": version["__version__"], "rounds": args.rounds, "machine": machine(), "rows": {}}
    if out.exists() and args.only:
        data["rows"] = json.loads(out.read_text())["rows"]
    with tempfile.TemporaryDirectory() as name:
        for work, (pool, what, option) in WORKS.items():
            if args.only and not any(part in work for part in args.only):
                continue
            file = Path(name) / f"{pool.replace(' ', '-')}.npy"
            if not file.exists():
                n, d, components, unit = POOLS[pool]
                X = mixture(n // 50 if args.quick else n, d, components, seed=1)
                np.save(file, unit_rows(X) if unit else X)
                del X
            sides: dict[str, list[dict[str, Any]]] = {"old": [], "new": []}
            if what == "command":  # kernels compile
                for tree in (old, new):
                    measure(tree, what, option, str(file))
            busy = 0.0
            for _ in range(args.rounds):
                for side, tree in (("old", old), ("new", new)):
                    busy = max(busy, busy_elsewhere(0.5))
                    sides[side].append(measure(tree, what, option, str(file)))
            digests = {run.pop("digest") for runs in sides.values() for run in runs}
            then, now = (min(run["seconds"] for run in sides[side]) for side in ("old", "new"))
            print(f"{work}: {then:.3f} s → {now:.3f} s, {then / now:.2f}", flush=True)
            data["rows"][work] = sides | {"same": len(digests) == 1, "busy": busy}
            out.write_text(json.dumps(data, indent=1) + "\n")
            out.with_suffix(".md").write_text(page(data))
    print(page(data))


if __name__ == "__main__":
    main()
