"""Picks recorded with version 0.1: every strategy and every mode of MHEAL still picks the same rows."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import mheal
from mheal import strategies
from mheal.validation import as_array
from pools import FEW_PICKS, N_PICKS, POOLS

RECORDED = json.loads((Path(__file__).parent / "picks.json").read_text(encoding="utf-8"))
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
# Recorded anew, with the reason.
CHANGED = {
    "sparse, wide | MHEAL with labels": "a wide sparse matrix is reduced once, so the model and the distances see the "
    "same columns; before, each had a reduction of its own",
}
PARAMETERS = {"vaal": {"iterations": 20}, "cdal-rl": {"epochs": 2}}


@pytest.fixture(scope="module")
def cluster():
    """Tasks in threads: these pools are small."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
        yield client


def dense(X):
    if type(X).__module__.startswith("torch"):
        return X.numpy()
    return X.compute() if type(X).__module__.startswith("dask") else as_array(X)


@pytest.mark.parametrize("pool", POOLS)
def test_picks_are_those_of_before(pool, request):
    X, rows, y = POOLS[pool]()
    if pool == "Dask array":
        request.getfixturevalue("cluster")
    A = dense(X)
    n = FEW_PICKS if len(A) < 250 else N_PICKS
    model = LogisticRegression(max_iter=200).fit(A[rows], y) if len(rows) else None
    changed = {}
    for key, expected in RECORDED.items():
        name, _, way = key.partition(" | ")
        if name != pool:
            continue
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
        if picks.indices.tolist() != expected:
            changed[way] = (expected, picks.indices.tolist())
    assert not changed


def test_every_strategy_is_recorded():
    ways = {key.partition(" | ")[2] for key in RECORDED}
    assert ways >= {*strategies.names()} - {"mheal", "mheal-paper"}
    assert ways >= {*MODES}
    assert {*CHANGED} <= {*RECORDED}
    assert np.unique([key.partition(" | ")[0] for key in RECORDED]).size == len(POOLS) >= 30
