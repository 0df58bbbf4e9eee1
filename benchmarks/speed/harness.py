"""Helpers of all speed benchmarks: timing in interleaved rounds, results on disk, the command line."""

import argparse
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

RESULTS = Path(__file__).parent / "results"
PACKAGES = ["mheal", "numpy", "scipy", "scikit-learn", "numba", "threadpoolctl", "scikit-learn-intelex"]
PACKAGES += ["faiss-cpu", "scikit-activeml", "apricot-select", "fpsample", "skmatter"]
TWICE_BELOW = 10.0  # seconds: faster contenders run twice in each round, one call right after the other
SLOW_SECONDS = 20.0  # a contender slower than this runs once; its count of runs is recorded


@dataclass
class Contender:
    """One of the programs that are compared: `build` imports and prepares, untimed, and returns the timed call."""

    build: Callable[[], Callable[[], Any]]
    memory: float = 0.0  # bytes it is known to need
    expected: float | None = None  # seconds, estimated from a smaller pool
    note: str = ""


def available_memory() -> float:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable"):
            return float(line.split()[1]) * 1024
    return float("inf")


def _prepare(name: str, side: Contender, time_limit: float) -> tuple[Callable[[], Any] | None, dict]:
    entry: dict[str, Any] = {"status": "ok", "note": side.note, "times": [], "busy_elsewhere": []}
    if side.memory > 0.8 * available_memory():
        entry["status"] = f"skipped: needs {side.memory / 1e9:.0f} GB"
        return None, entry
    if side.expected is not None:
        entry["expected"] = side.expected
        if side.expected > time_limit:
            entry["status"] = f"skipped: would take about {side.expected:.0f} s"
            return None, entry
    try:
        return side.build(), entry
    # AttributeError: installed, but without this function; RuntimeError: cannot do even the warm-up
    except (ImportError, AttributeError, RuntimeError) as error:
        entry["status"] = f"skipped: {type(error).__name__}: {error}"
        print(f"  {name}: {entry['status']}", flush=True)
        return None, entry


def busy_elsewhere(seconds: float = 0.1) -> float:
    """Share of all cores that other processes use, measured while this one sleeps."""

    def ticks() -> list[int]:
        return [int(x) for x in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]

    if not Path("/proc/stat").exists():
        return float("nan")
    before = ticks()
    time.sleep(seconds)
    spent = [b - a for a, b in zip(before, ticks(), strict=True)]
    return round(1 - (spent[3] + spent[4]) / max(sum(spent), 1), 3)


def expect(small: Contender, scale: float) -> float | None:
    """Seconds a contender should take, from one run on a pool `scale` times smaller (linear growth)."""
    try:
        call = small.build()
        begin = time.perf_counter()
        call()
        return scale * (time.perf_counter() - begin)
    except Exception:  # not installed, or too few rows for it: `race` reports why
        return None


def race(
    contenders: dict[str, Contender], rounds: int = 3, time_limit: float = 1800.0, ours: str = "mheal"
) -> tuple[dict[str, dict], dict[str, Any]]:
    """Time all contenders in interleaved rounds A, B, A, B ...; return (statistics, last results).

    So drift and noise of the machine affect all of them alike. Ratios are peer time over ours.
    """
    stats: dict[str, dict] = {}
    calls: dict[str, Callable[[], Any]] = {}
    results: dict[str, Any] = {}
    for name, side in contenders.items():
        call, stats[name] = _prepare(name, side, time_limit)
        if call is not None:
            calls[name] = call
    for _ in range(rounds):
        for name in list(calls):
            results.pop(name, None)
            gc.collect()
            time.sleep(0.25)  # OpenMP threads of the last contender spin for up to .2 s before they sleep
            stats[name]["busy_elsewhere"].append(busy_elsewhere())
            begin = time.perf_counter()
            try:
                results[name] = calls[name]()
            except Exception as error:  # a peer that cannot do the work is a result, not a crash
                if name == ours:
                    raise
                stats[name]["status"] = f"failed: {type(error).__name__}: {error}"
                print(f"  {name}: {stats[name]['status']}", flush=True)
                del calls[name]
                continue
            took = time.perf_counter() - begin
            stats[name]["times"].append(took)
            if took < TWICE_BELOW:  # some are slow in the first call after a pause (intelex takes twice as long)
                begin = time.perf_counter()
                results[name] = calls[name]()
                stats[name]["times"].append(time.perf_counter() - begin)
            if took > SLOW_SECONDS and name != ours:
                del calls[name]
    mine = stats.get(ours, {}).get("times") or []
    for entry in stats.values():
        if entry["times"]:
            entry.update(runs=len(entry["times"]), min=min(entry["times"]), median=statistics.median(entry["times"]))
            if mine:
                entry["ratio_min"] = entry["min"] / min(mine)
                entry["ratio_median"] = entry["median"] / statistics.median(mine)
    return stats, results


def command(*line: str, **options: Any) -> dict[str, float]:
    """Run Python with this command line; return seconds and peak memory in megabytes (10⁶).

    `options` are those of subprocess.Popen. The peak is read from /proc while the process runs, because that of wait4
    includes the parent's memory before exec.
    """
    start, peak = time.perf_counter(), 0.0
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, *line], **pipes, **options)
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        peak = max(peak, _peak(process.pid))
        time.sleep(0.02)
    _, status, usage = ended
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(line)} failed: {process.stderr.read().decode()}")  # type: ignore[union-attr]
    return {"seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_mb": peak}


def _peak(process: int) -> float:
    """Peak resident megabytes of a process; 0 until it has become Python."""
    try:
        if b"python" not in Path(f"/proc/{process}/cmdline").read_bytes():
            return 0.0
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM")), 0.0)


def machine() -> dict[str, Any]:
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    field = {k.strip(): v.strip() for k, _, v in (line.partition(":") for line in info.splitlines())}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": field.get("model name", platform.processor() or platform.machine()),
        "cpu_family_model": f"{field.get('cpu family', '?')}/{field.get('model', '?')}",
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "simd": [flag for flag in ("avx2", "avx512f", "amx_bf16") if flag in field.get("flags", "").split()],
        "memory_gb": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    if found["mheal"] == "not installed" and "mheal" in sys.modules:  # a source tree on the path
        found["mheal"] = getattr(sys.modules["mheal"], "__version__", "unknown")
    return found


class Book:
    """The results of one script in a JSON file, saved after each row so that an interrupted run keeps them."""

    def __init__(self, name: str, args: argparse.Namespace) -> None:
        folder = RESULTS / "quick" if args.quick else RESULTS
        folder.mkdir(parents=True, exist_ok=True)
        suffix = "" if args.spread == 6.0 else f"-spread{args.spread:g}"
        self.path = folder / f"{name}{suffix}.json"
        self.data: dict[str, Any] = {"rows": {}}
        if self.path.exists():
            old = json.loads(self.path.read_text())
            self.data = old if old.get("machine") == machine() else self.data  # never mix machines
        self.head = {"name": name, "quick": args.quick, "spread": args.spread}

    def save(self, key: str, row: dict[str, Any]) -> None:
        """Save a finished row, with its date, the machine and the versions."""
        pools = [{k: i[k] for k in ("user_api", "internal_api", "num_threads")} for i in threadpool_info()]
        row |= {"date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
        self.data |= self.head | {"machine": machine(), "versions": versions(), "threads": pools}
        self.data["rows"][key] = row
        self.path.write_text(json.dumps(self.data, indent=1) + "\n")


def arguments(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that the script works")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default 3)")
    parser.add_argument("--only", action="append", help="run only the rows whose name contains this")
    parser.add_argument("--spread", type=float, default=6.0, help="distance of mixture components")
    parser.add_argument("--time-limit", type=float, default=1800.0, help="skip a peer expected to be slower")
    return parser


def wanted(args: argparse.Namespace, key: str) -> bool:
    return not args.only or any(part in key for part in args.only)


def show(title: str, stats: dict[str, dict]) -> None:
    busy = max((b for e in stats.values() for b in e["busy_elsewhere"]), default=0.0)
    if busy > 0.1:
        print(f"\n! up to {busy:.0%} of the cores were busy with other work: repeat this on an idle machine")
    print(f"\n{title}\n{'':28}{'runs':>5}{'min s':>10}{'median s':>10}{'ratio':>8}{'(median)':>10}")
    for name, e in stats.items():
        if not e["times"]:
            print(f"  {name:26}{e['status']}")
            continue
        ratio = f"{e['ratio_min']:8.2f}{e['ratio_median']:10.2f}" if "ratio_min" in e else f"{'–':>8}{'–':>10}"
        print(f"  {name:26}{e['runs']:5}{e['min']:10.4f}{e['median']:10.4f}{ratio}  {e['note']}")
    print(flush=True)
