"""The torch backend on a GPU: a selection and its parts, k-means beside a plain torch loop, streaming, and the CPU.

    python benchmarks/speed/gpu.py [--rows N --columns D --clusters K --budget B] [--out FILE]

The script writes one JSON line as each measurement ends. Without a GPU it runs on CPU tensors, for tiny sizes.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import mheal
from mheal.backends.torch import Points
from mheal.cluster.spherical import lloyd
from mheal.runtime.checkpoint import NullCheckpoint
from pools import mixture

ITERATIONS = 10
WARM_UP = 320  # picks, enough that some come after the representatives
CHUNK = 1 << 16  # rows that the plain loop scores at a time


class Report:
    """Print one JSON line per measurement, and append it to a file if there is one."""

    def __init__(self, args: argparse.Namespace, device: torch.device) -> None:
        self.out = args.out
        self.common = {"rows": args.rows, "columns": args.columns, "clusters": args.clusters, "budget": args.budget}
        self.common |= {"device": device_name(device), "torch": torch.__version__, "mheal": mheal.__version__}
        self.common |= {"cores": os.cpu_count()}

    def add(self, measurement: str, **values: Any) -> None:
        """Print and append one measurement."""
        line = json.dumps({"measurement": measurement} | self.common | values)
        print(line, flush=True)
        if self.out:
            with self.out.open("a") as file:
                file.write(line + "\n")


def device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU {platform.machine()}"


def settled() -> float:
    """The time, once the device has finished all its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def seconds(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The shortest time of some runs, and the result of the last one."""
    times = []
    for _ in range(repeats):
        begin = settled()
        result = work()
        times.append(settled() - begin)
    return min(times), result


class Timed(NullCheckpoint):
    """A checkpoint that stores nothing and measures how long each stage of a selection takes."""

    def __init__(self) -> None:
        super().__init__()
        self.took: dict[str, float] = {}

    def stage(self, name: str, compute: Callable[[], Any], rng: Any = None) -> Any:
        """Compute the stage, and add its seconds to those of its name."""
        spent, result = seconds(compute)
        self.took[name] = self.took.get(name, 0.0) + spent
        return result


def blobs(n: int, d: int, device: torch.device, components: int = 50, seed: int = 0) -> torch.Tensor:
    """Float32 rows of an overlapping Gaussian mixture, as pools.mixture, made on the device."""
    generator = torch.Generator(device).manual_seed(seed)
    centres = 6.0 / (2 * d) ** 0.5 * torch.randn((components, d), generator=generator, device=device)
    scales = torch.exp(0.5 * torch.randn((components, d), generator=generator, device=device))
    X = torch.empty((n, d), device=device)
    for part in X.split(1 << 20):
        member = torch.randint(components, (len(part),), generator=generator, device=device)
        part.normal_(generator=generator).mul_(scales[member]).add_(centres[member])
    return X


def gemm_rates(device: torch.device) -> dict[str, float]:
    """TFLOP/s of large square matrix products, as an upper limit of the device."""
    size = 8192 if device.type == "cuda" else 512
    rates = {}
    before = torch.get_float32_matmul_precision()
    kinds = {"float32": ("highest", torch.float32)}
    if device.type == "cuda":
        kinds |= {"tf32": ("high", torch.float32), "bfloat16": ("highest", torch.bfloat16)}
    for name, (precision, dtype) in kinds.items():
        torch.set_float32_matmul_precision(precision)
        A, B = (torch.randn((size, size), device=device).to(dtype) for _ in range(2))
        C = A @ B
        spent, _ = seconds(lambda A=A, B=B, C=C: [torch.mm(A, B, out=C) for _ in range(5)], repeats=3)
        rates[name] = 5 * 2 * size**3 / spent / 1e12
    torch.set_float32_matmul_precision(before)
    return rates


def plain_lloyd(X: torch.Tensor, centers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Spherical k-means as one writes it in torch: normalised rows, a product and an argmax per chunk, float32 sums."""
    U = torch.nn.functional.normalize(X)
    C = centers
    for iteration in range(ITERATIONS + 1):
        labels = torch.cat([(part @ C.T).argmax(1) for part in U.split(CHUNK)])
        if iteration < ITERATIONS:
            C = torch.nn.functional.normalize(torch.zeros_like(C).index_add_(0, labels, U))
    return C, labels


def objective(points: Points, C: Any) -> float:
    """Mean cosine with the nearest centre."""
    fitting = points.fitting(len(C))
    fitting.assign(np.asarray(C))
    return float(np.vdot(fitting.sums, np.asarray(C, np.float64)) / fitting.mass.sum())


def kmeans(report: Report, X: torch.Tensor, k: int, rate: float) -> None:
    """Time our Lloyd iterations and those of the plain loop, from the same centres."""
    points = Points.raw(X)
    generator = np.random.default_rng(0)
    start = points.directions(np.sort(generator.choice(len(X), k, replace=False)))
    passes = ITERATIONS + 1
    flops = 2 * len(X) * X.shape[1] * k
    entry: dict[str, Any] = {"iterations": ITERATIONS}
    once = Points.raw(X[: min(len(X), 1 << 18)])
    seconds(lambda: lloyd(once, start, max_iter=1, tol=0.0))
    spent, ours = seconds(lambda: lloyd(points, start, max_iter=ITERATIONS, tol=0.0))
    fitting = points.fitting(k)
    one_pass, _ = seconds(lambda: fitting.assign(start), repeats=3)
    plain, (C, labels) = seconds(lambda: plain_lloyd(X, torch.tensor(start, device=X.device)))
    entry |= {"seconds": spent, "seconds_per_pass": spent / passes, "seconds_per_bare_pass": one_pass}
    entry |= {"plain_seconds": plain, "plain_seconds_per_pass": plain / passes, "ratio": plain / spent}
    entry |= {"tflops": flops * passes / spent / 1e12, "of_gemm_rate": flops * passes / spent / 1e12 / rate}
    entry |= {"bare_tflops": flops / one_pass / 1e12, "plain_tflops": flops * passes / plain / 1e12}
    entry |= {"cosine": objective(points, ours.centers), "plain_cosine": objective(points, C.cpu())}
    entry["labels_in_common"] = float(np.mean(ours.labels == labels.cpu().numpy()))
    report.add("k-means", **entry)


def selection(report: Report, name: str, model: mheal.MHEAL, X: Any, budget: int, **more: Any) -> float:
    """Time one whole selection and its parts."""
    timed = Timed()
    spent, picks = seconds(lambda: mheal.select(X, budget, strategy=model, checkpoint=timed))
    parts = {part: round(t, 4) for part, t in timed.took.items()}
    parts["other"] = round(spent - sum(timed.took.values()), 4)
    unique = len(np.unique(picks.indices)) == budget
    report.add(name, seconds=spent, parts=parts, radius=float(picks.radius[-1]), all_different=unique, **more)
    return spent


def streamed(report: Report, X: torch.Tensor, k: int, budget: int, share: float) -> None:
    """Time a selection from a memory map, on a device that is filled until the pool no longer fits."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.npy"
        pool = np.lib.format.open_memmap(path, "w+", np.float32, tuple(X.shape))
        for lo in range(0, len(X), 1 << 20):
            pool[lo : lo + (1 << 20)] = X[lo : lo + (1 << 20)].cpu().numpy()
        pool.flush()
        pool = np.load(path, mmap_mode="r")
        device, size = X.device, X.numel() * X.element_size()
        del X
        torch.cuda.empty_cache()
        free = torch.cuda.mem_get_info(device)[0]
        other = torch.empty(max(0, int(free - share * size)), dtype=torch.uint8, device=device)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        model = mheal.MHEAL(k, device=str(device), random_state=0)
        selection(report, "selection, streamed", model, pool, budget, limit=share * size)
        report.add("memory, streamed", bytes=torch.cuda.max_memory_allocated() - before, pool=pool.nbytes)
        del other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=128)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--budget", type=int, default=10_000)
    parser.add_argument("--cpu-rows", type=int, default=1_000_000, help="rows of the CPU's own run; 0: none")
    parser.add_argument(
        "--limit", type=float, default=1.0, help="streamed: free memory of the device, as a share of the pool"
    )
    parser.add_argument("--only", nargs="*", choices=["selection", "kmeans", "cpu", "streamed"], help="by default all")
    parser.add_argument("--out", type=Path, help="file to write the lines to, too")
    args = parser.parse_args()
    wanted = args.only or ["selection", "kmeans", "cpu", "streamed"]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    report = Report(args, device)

    rates = gemm_rates(device)
    report.add("gemm", tflops=rates)
    X = blobs(args.rows, args.columns, device)
    model = mheal.MHEAL(args.clusters, random_state=0)
    few = max(args.clusters, 2048)
    mheal.select(X[: 2 * few], WARM_UP, strategy=model)  # libraries load, kernels compile
    spent = None
    if "selection" in wanted:
        selection(report, "selection, first", model, X, args.budget)
        spent = selection(report, "selection", model, X, args.budget)
    if "kmeans" in wanted:
        kmeans(report, X, args.clusters, rates["float32"])
    if "streamed" in wanted and X.is_cuda:
        streamed(report, X, args.clusters, args.budget, args.limit)
    if "cpu" in wanted and args.cpu_rows:
        del X
        rows, budget = args.cpu_rows, min(args.budget, args.cpu_rows // 2)
        pool = mixture(rows, args.columns)
        mheal.select(pool[: 2 * few], WARM_UP, strategy=model)
        slow = selection(report, "selection, CPU", model, pool, budget, cpu_rows=rows, cpu_budget=budget)
        if spent is not None:
            report.add("CPU against device, per row", ratio=(slow / rows) / (spent / args.rows), cpu_rows=rows)


if __name__ == "__main__":
    sys.exit(main())
