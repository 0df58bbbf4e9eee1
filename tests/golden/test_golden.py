"""Recorded picks: every strategy and every mode of MHEAL picks the rows of version 0.1.0, except those in CHANGED.

Near ties and a model's probabilities depend on the last bits of matrix products, which differ between the kernels that
OpenBLAS chooses for a type of CPU. So picks are recorded and tested with its kernels for Haswell, which run on any x86
CPU of the last ten years: `make test` sets OPENBLAS_CORETYPE. `python tests/golden/test_golden.py` records picks again.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

import mheal
from mheal import strategies
from mheal.validation import as_array
from pools import FEW_PICKS, N_PICKS, POOLS

FILE = Path(__file__).parent / "picks.json"
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
KERNELS = {library.get("architecture") for library in threadpool_info()} - {None}
MODES = {
    "MHEAL": (mheal.MHEAL(), False),
    "MHEAL away from labels": (mheal.MHEAL(), True),
    "MHEAL spreading": (mheal.MHEAL(n_representatives=3), False),
    "MHEAL in clusters": (mheal.MHEAL(4, across_clusters=False), True),
    "MHEAL balanced": (mheal.MHEAL(4, balance_clusters=True), True),
    "MHEAL without density": (mheal.MHEAL(density_power=None), True),
    "MHEAL raw": (mheal.MHEAL(scaling="raw"), False),
    "MHEAL unit": (mheal.MHEAL(scaling="unit"), False),
    "MHEAL without duplicates": (mheal.MHEAL(deduplicate=True), True),
    "PaperMHEAL": (mheal.PaperMHEAL(4), False),
    "PaperMHEAL away from labels": (mheal.PaperMHEAL(4), True),
}
# Picks that differ from those of 0.1.0, with the reason.
CHANGED = {
    "sparse, wide | MHEAL with labels": "a wide sparse matrix is reduced once, so the model and the distances see the "
    "same columns; before, each had a reduction of its own",
    "torch tensor | PaperMHEAL": "a tensor on the CPU gives the picks of its array: it is worked on by numba",
}
# Of all pools: facility location compares rows by ranks of distances, not by distances.
REPRESENTING = {
    "MHEAL", "MHEAL away from labels", "MHEAL spreading", "MHEAL raw", "MHEAL unit", "MHEAL without duplicates",
    "MHEAL with probabilities", "MHEAL with labels",
}  # fmt: skip
PARAMETERS = {"vaal": {"iterations": 20}, "cdal-rl": {"epochs": 2}}


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster with threads instead of processes, since these pools are small."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
        yield client


def dense(X):
    if type(X).__module__.startswith("torch"):
        return X.numpy()
    return X.compute() if type(X).__module__.startswith("dask") else as_array(X)


def picked(pool, ways):
    """The rows that each way picks in the pool."""
    X, rows, y = POOLS[pool]()
    A = dense(X)
    n = FEW_PICKS if len(A) < 250 else N_PICKS
    model = LogisticRegression(max_iter=200).fit(A[rows], y) if len(rows) else None
    found = {}
    for way in ways:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too few labels for a model
            if way in MODES:
                strategy, away = MODES[way]
                picks = mheal.select(X, n, strategy=strategy, labeled=rows if away else None)
            elif way == "MHEAL with probabilities":
                picks = mheal.select(X, n, labeled=rows, proba=model.predict_proba(A))
            elif way == "MHEAL with labels":
                picks = mheal.select(X, n, labeled=rows, y=y)
            else:
                strategy = strategies.get(way)(**PARAMETERS.get(way, {}))
                learns = strategy.kind == "adaptive" and len(rows)
                more = {"y": y, "estimator": model} if learns else {}
                picks = mheal.select(A, n, strategy=strategy, labeled=rows, **more)
        found[way] = picks.indices.tolist()
    return found


def recorded(pool):
    """The rows that each way picked in the pool when they were recorded."""
    return {key.partition(" | ")[2]: rows for key, rows in RECORDED.items() if key.partition(" | ")[0] == pool}


@pytest.mark.skipif({"Haswell"} != KERNELS, reason="recorded with OPENBLAS_CORETYPE=Haswell")
@pytest.mark.parametrize("pool", POOLS)
def test_picks_are_those_of_before(pool, request):
    if pool == "Dask array":
        request.getfixturevalue("cluster")
    before = recorded(pool)
    now = picked(pool, before)
    assert {way: now[way] for way in before if now[way] != before[way]} == {}


def test_every_strategy_is_recorded():
    ways = {key.partition(" | ")[2] for key in RECORDED}
    assert ways >= {*strategies.names()} - {"mheal", "mheal-paper"}
    assert ways >= {*MODES}
    assert {*CHANGED} <= {*RECORDED}
    assert ways >= REPRESENTING
    assert np.unique([key.partition(" | ")[0] for key in RECORDED]).size == len(POOLS) >= 30


if __name__ == "__main__":
    from distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"):
        again = {f"{pool} | {way}": rows for pool in POOLS for way, rows in picked(pool, recorded(pool)).items()}
    changed = [key for key, rows in again.items() if rows != RECORDED[key]]
    lines = (f"{json.dumps(key)}: {json.dumps(rows)}" for key, rows in again.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(changed)} of {len(again)} differ with {KERNELS}:", *changed, sep="\n")
