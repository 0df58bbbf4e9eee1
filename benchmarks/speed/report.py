"""Write results/README.md from results/*.json: what was measured beside its target."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import RESULTS

EXACT_PACKAGES = (
    "fpsample", "fpsample bucket kdtree", "fpsample bucket kdline", "skmatter FPS", "skmatter Voronoi",
    "scikit-activeml",
)  # fmt: skip


@dataclass
class Goal:
    """A ratio to reach: the fastest of `peers` should take at least `must` times as long as mheal."""

    work: str
    label: str
    file: str
    row: str
    peers: tuple[str, ...]
    must: float | None
    aim: float | None = None


@dataclass
class Ceiling:
    """A number that should not exceed `must`, found at `path` in a row."""

    work: str
    label: str
    file: str
    row: str
    path: tuple[str, ...]
    must: float | None
    aim: float | None = None
    unit: str = ""


def goals() -> Iterator[Goal | Ceiling]:
    for k, row, must in ((10, "1Mx128 k=10", (1.8, 4.0, 3.0)), (100, "1Mx128 k=100", (1.5, 2.3, 5.0))):
        work = f"SphericalKMeans 1M × 128, k = {k}, 10 iterations"
        aim = 3.5 if k == 10 else 2.5
        yield Goal(work, "scikit-learn-intelex", "kmeans", row, ("intelex",), must[0], aim)
        yield Goal(work, "scikit-learn lloyd", "kmeans", row, ("lloyd",), must[1])
        yield Goal(work, "faiss", "kmeans", row, ("faiss",), must[2])
    work, row = "SphericalKMeans 100k × 128, k = 1000", "100kx128 k=1000"
    yield Goal(work, "best of intelex, NumPy blocked", "kmeans", row, ("intelex", "numpy blocked"), 1.3, 1.7)
    yield Goal(work, "faiss", "kmeans", row, ("faiss",), 6.0)
    work, row = "farthest_first 100k × 128, 1,000 picks", "100kx128 1000 picks"
    yield Goal(work, "sgemv loop", "traversal", row, ("sgemv loop",), 12.0, 25.0)
    yield Goal(work, "best exact package", "traversal", row, EXACT_PACKAGES, 15.0)
    yield Goal(work, "scikit-activeml CoreSet", "traversal", row, ("scikit-activeml",), 100.0)
    row = "1Mx64 100 picks"
    yield Goal("farthest_first 1M × 64, 100 picks", "sgemv loop", "traversal", row, ("sgemv loop",), 6.0, 20.0)
    work, row = "farthest_first with density weights, 100k × 128, 1,000 picks", "density 100kx128 1000 picks"
    yield Goal(work, "sgemv loop (without weights)", "traversal", row, ("sgemv loop",), 5.0, 12.0)
    work, row = "`mheal.select` 100k × 128, budget 1,000", "select vs scikit-activeml"
    yield Goal(work, "scikit-activeml CoreSet", "selection", row, ("CoreSet",), 20.0, 50.0)
    yield Goal(work, "scikit-activeml TypiClust", "selection", row, ("TypiClust",), 20.0, 50.0)
    row = "select vs apricot"
    yield Goal(work, "apricot facility location", "selection", row, ("apricot",), 20.0, 50.0)
    work = "`PaperMHEAL` 1M × 128, 10 clusters, 10 starts, 1,000 picks"
    yield Goal(work, "straightforward NumPy Algorithm 2", "selection", "paper", ("numpy",), 6.0, 15.0)
    yield Goal(work, "the same, restarts in lockstep", "selection", "paper", ("numpy lockstep",), None)
    work = "extra peak memory of `select`, 1M × 128"
    path = ("extra_over_data",)
    yield Ceiling(work, "rows in memory", "memory", "in-memory", path, 0.6, 0.15, " of the data")
    yield Ceiling(work, "memmap, allocated", "memory", "memmap", ("extra", "RssAnon"), 300.0, None, " MB")
    label = "memmap, with mapped pages of the file"
    yield Ceiling(work, label, "memory", "memmap", ("extra", "VmRSS"), None, None, " MB")
    work, limited = "`mheal select`, 1M × 128 .npy (512 MB), 1,000 picks, the whole command", "--max-memory 700MB"
    yield Ceiling(work, "seconds", "command", "plain", ("seconds", "min"), None, None, " s")
    yield Ceiling(work, "peak memory, mapped file included", "command", "plain", ("peak_mb",), 1512.0, None, " MB")
    yield Ceiling(work, f"seconds with {limited}", "command", limited, ("seconds", "min"), None, None, " s")
    yield Ceiling(work, f"peak memory with {limited}", "command", limited, ("peak_mb",), 700.0, None, " MB")
    for form in (".npy", ".parquet"):
        work = f"`mheal select --max-memory 1GB`, 10M × 64 {form} (2.56 GB of numbers), 10,000 picks, cold"
        yield Ceiling(work, "peak memory", "out_of_core", form, ("peak_mb",), 1500.0, 1000.0, " MB")
        yield Ceiling(work, "seconds", "out_of_core", form, ("seconds",), None, None, " s")
        yield Ceiling(
            work, "in memory, from the .npy file", "out_of_core", form, ("in_memory", "seconds"), None, None, " s"
        )
        yield Ceiling(work, "allowed: 3 × 10 reads", "out_of_core", form, ("allowed_seconds",), None, None, " s")
    for name in ("farthest_first", "select"):
        work = "growth from 10⁴ to 10⁷ rows, exponent"
        yield Ceiling(work, name, "scaling", f"{name} rows", ("exponent",), 1.05)
    for name in ("farthest_first", "select"):
        work = "growth from 10² to 10⁴ picks, exponent"
        yield Ceiling(work, name, "scaling", f"{name} picks", ("exponent",), 1.0)


def reached(goal: Goal | Ceiling, row: dict[str, Any]) -> tuple[str, str, str]:
    """Return the number as text, whether it meets the target, and notes."""
    notes = []
    if isinstance(goal, Ceiling):
        value: Any = row
        for key in goal.path:
            value = value[key]
        met = goal.must is None or value <= goal.must
        text = f"{value:.2f}{goal.unit}" if value < 10 else f"{value:.0f}{goal.unit}"
    else:
        name, best = fastest(goal, row)
        if not best:
            why = row["contenders"].get(goal.peers[0], {}).get("status", "not run")
            return "–", "–", why
        value = best["ratio_min"]
        mine = row["contenders"]["mheal"]
        met = goal.must is None or value >= goal.must
        text = f"**{value:.1f}** ({best['ratio_median']:.1f})"
        notes.append(f"{best['min']:.3g} s / {mine['min']:.3g} s")
        if len(goal.peers) > 1:
            notes.append(name)
        if best["runs"] < 3:
            notes.append(f"peer run {best['runs']}×")
        if "vs apricot" in goal.row:
            notes.append(f"both on {row['shape'][0]:,} rows")
    if not row.get("guard", {}).get("passed", True):
        met = False
        notes.append("**correctness guard failed**")
    picks = row.get("guard", {}).get("picks", {}).get("mheal")
    if picks and not picks["identical"]:
        first, shortfall = picks["first_difference"], row["guard"]["shortfall"]["mheal"]
        notes.append(f"picks differ from the loop's from pick {first} on (shortfall {shortfall:.0e})")
    busy = [b for e in row.get("contenders", {}).values() for b in e.get("busy_elsewhere", [])]
    if max(busy, default=0.0) > 0.1:
        notes.append(f"machine up to {max(busy):.0%} busy with other work")
    verdict = "–" if goal.must is None else ("met" if met else "missed")
    return text, verdict, "; ".join(notes)


def fastest(goal: Goal, row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The fastest of the peers that ran, by name, and its times; an empty dict if none ran."""
    sides = {p: row["contenders"][p] for p in goal.peers if "ratio_min" in row["contenders"].get(p, {})}
    return min(sides.items(), key=lambda item: item[1]["ratio_min"], default=("", {}))


def headline(results: dict[str, dict]) -> str:
    """What to take from the table: the range of the ratios, and how many targets are met."""
    subjects = {
        "kmeans": "`SphericalKMeans`",
        "traversal": "`farthest_first`",
        "selection": "`mheal.select` and `PaperMHEAL`",
    }
    found = [(goal, results.get(goal.file, {}).get("rows", {}).get(goal.row)) for goal in goals()]
    parts = []
    for file, subject in subjects.items():
        bests = [fastest(goal, row)[1] for goal, row in found if isinstance(goal, Goal) and row and goal.file == file]
        ratios = [best["ratio_min"] for best in bests if best]
        if ratios:
            parts.append(f"{subject} {min(ratios):.1f} to {max(ratios):.0f} times")
    verdicts = [reached(goal, row)[1] for goal, row in found if row]
    met, missed = verdicts.count("met"), verdicts.count("missed")
    speed = f"**Speed relative to the peers: {', '.join(parts)}.** " if parts else ""
    return f"{speed}{met} of {met + missed} targets, which we set ourselves, are met.\n\n"


def table(results: dict[str, dict]) -> str:
    """A row for each goal."""
    head = ["work", "peer", "reached", "target", "stretch target", "verdict", "seconds; notes"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for goal in goals():
        row = results.get(goal.file, {}).get("rows", {}).get(goal.row)
        text, verdict, note = reached(goal, row) if row else ("–", "–", "not run")
        if row and results[goal.file]["quick"]:
            verdict, note = "–", "quick"
        sign = "≤ " if isinstance(goal, Ceiling) else ""
        bounds = ["–" if b is None else f"{sign}{b:g}" for b in (goal.must, goal.aim)]
        cells = [goal.work, goal.label, text, *bounds, verdict, note]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def clusters(folder: Path) -> str:
    """Sentences on the measurements of dask_cluster.py."""
    file = folder / "dask_cluster.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    ratios = sorted(row["ratio"] for row in rows if row["what"] == "overhead")
    sentences = []
    if ratios:
        one = next(row for row in rows if row["what"] == "overhead")
        sentences.append(
            f"A Dask cluster of {one['workers']} workers on the same cores takes {ratios[0]:.2f} to {ratios[-1]:.2f} "
            f"times as long as one process for {one['rows'] / 1e6:g}M × {one['columns']} and {one['budget']:,} picks "
            f"({len(ratios)} runs), with the same picks."
        )
    sentences += [
        f"{row['rows'] / 1e6:g}M × {row['columns']} rows streamed from Parquet shards by {row['workers']} workers, "
        f"{row['budget']:,} picks: {row['seconds']:.0f} s, at most {max(row['worker_mb']) / 1e3:.1f} GB in a worker."
        for row in rows
        if row["what"] == "parquet"
    ]
    return "\n".join(sentences) + "\n\n" if sentences else ""


def gpu(folder: Path) -> str:
    """Sentences on the measurements of gpu.py that there are."""
    file = folder / "gpu.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    rows = {row["measurement"]: row for row in lines}  # the last of each kind
    if not {"gemm", "selection, first", "selection"} <= rows.keys():
        return ""
    one, rates = rows["selection"], rows["gemm"]["tflops"]
    first = rows["selection, first"]["seconds"]
    parts = ", ".join(f"{part} {seconds:.2f}" for part, seconds in one["parts"].items())
    sentences = [
        f"On an {one['device']}, {one['budget']:,} picks of {one['rows'] / 1e6:g}M × {one['columns']} rows on the "
        f"device, with {one['clusters']:,} clusters, take {first:.1f} s in a first run and {one['seconds']:.1f} s in a "
        f"second ({parts} s)."
    ]
    streamed, memory = rows.get("selection, streamed"), rows.get("memory, streamed")
    if streamed and memory:
        sentences.append(
            f"Streamed from a memory map of {memory['pool'] / 1e9:.1f} GB through {memory['bytes'] / 1e9:.1f} GB of "
            f"the device's memory, the same pool takes {streamed['seconds']:.1f} s."
        )
    if lloyd := rows.get("k-means"):
        sentences.append(
            f"{lloyd['iterations']} iterations of k-means take {lloyd['seconds']:.2f} s, a plain torch loop in float32 "
            f"{lloyd['plain_seconds']:.2f} s: a ratio of {lloyd['ratio']:.2f}. Ours runs at {lloyd['tflops']:.0f} "
            f"TFLOP/s, {lloyd['of_gemm_rate']:.0%} of what large float32 matrix products reach on this device "
            f"({rates['float32']:.0f}; TF32 {rates['tf32']:.0f}, bfloat16 {rates['bfloat16']:.0f})."
        )
    if cpu := rows.get("selection, CPU"):
        sentences.append(
            f"The CPU of that machine takes {cpu['seconds']:.1f} s for {cpu['cpu_budget']:,} picks of "
            f"{cpu['cpu_rows'] / 1e6:g}M rows."
        )
    return "\n".join(sentences) + "\n\n"


def machine_line(results: dict[str, dict]) -> str:
    data = next(iter(results.values()))
    m, v = data["machine"], data["versions"]
    dates = sorted(row["date"] for r in results.values() for row in r["rows"].values())
    packages = ", ".join(f"{name} {number}" for name, number in v.items() if number != "not installed")
    return (
        f"Machine: {m['cpu']} (family/model {m['cpu_family_model']}), {m['cores']} cores, "
        f"{', '.join(m['simd'])}, {m['memory_gb']} GB, {m['system']}, Python {m['python']}.\n"
        f"Packages: {packages}.\nMeasured {dates[0]} to {dates[-1]}."
    )


def write(folder: Path) -> str:
    """Write README.md into this folder from the JSON files in it."""
    names = ("kmeans", "traversal", "selection", "memory", "command", "out_of_core", "scaling")
    files = {name: folder / f"{name}.json" for name in names}
    results = {name: json.loads(f.read_text()) for name, f in files.items() if f.exists()}
    if not results:
        raise SystemExit(f"no results in {folder}: run the benchmarks first")
    quick = any(data["quick"] for data in results.values())
    note = "**A `--quick` run: tiny pools, not the sizes named below. These numbers mean nothing.**\n\n"
    text = (
        f"# Speed and memory: results\n\n{note if quick else headline(results)}Written by `report.py`; [how it is "
        "measured](../README.md). A ratio is a peer's time over ours: minimum of the runs, median in brackets. The "
        "last column has the seconds, theirs / ours.\n\n"
    )
    text += f"{table(results)}\n\n{clusters(folder)}{gpu(folder)}{machine_line(results)}\n"
    (folder / "README.md").write_text(text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=RESULTS, help="where the JSON files are")
    print(write(parser.parse_args().folder))


if __name__ == "__main__":
    main()
