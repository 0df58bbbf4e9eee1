"""MHEAL on a Dask cluster: the steps of mheal.selector, with the pool on the workers."""

from dataclasses import replace
from typing import Any

from sklearn.utils import check_random_state

from ...algorithms.density import POWER
from ...algorithms.facility_location import cover
from ...io.source import Progress
from ...selection import Selection
from ...selector import MHEAL
from ...validation import as_budget, as_labeled
from .charges import find_charges
from .clusters import find_clusters
from .connect import connected
from .field import Field
from .partitions import Partitions
from .spread import spread_clusters, spread_pool, spread_quota
from .standard import measure


def select(
    X: Any, budget: int, labeled: Any = None, *, model: MHEAL | None = None, progress: Progress | None = None
) -> Selection:
    """`budget` rows of the Dask array X, best first, away from the rows `labeled` already: those picked in memory.

    The work is done by the active Dask client's cluster, or by one process for each core of this machine. Picks equal
    those of the same rows in memory, except with cluster_sample=None and init="k-means++", where the clusters are
    found in another way.

    model : what to pick by, by default MHEAL(random_state=0)
    progress : called with (done, total, what)
    """
    model = MHEAL(random_state=0) if model is None else model
    model._check()
    rng = check_random_state(model.random_state)
    rng.randint(2**31)  # in memory this seeds the reduction of sparse pools: the draws after it must be the same
    say = progress or (lambda done, total, what: None)
    with connected() as client:
        pool = Partitions(X, client)
        labeled = as_labeled(labeled, pool.shape[0])
        budget = as_budget(budget, pool.shape[0] - len(labeled))
        say(0, 0, "reading")
        metric = measure(pool, model.space)
        say(0, 0, "clustering")
        clusters = find_clusters(pool, metric, model._kmeans(pool.shape[0], rng), model.cluster_sample, rng)
        metric = replace(metric, unit=model.space == "unit")
        charges = None
        if model.charge is not None:
            say(0, 0, "measuring density")
            power = POWER if model.charge == "auto" else float(model.charge)
            charges = find_charges(pool, metric, clusters, power, model.trim)
        field = Field(pool, metric, clusters, charges)
        if model.quota and model.global_repulsion:
            picks = spread_quota(field, budget, labeled, progress)
        elif model.global_repulsion:
            lead = None
            if charges is not None and len(labeled) < model.cover:
                say(0, 0, "covering")
                lead = cover(field, min(model.cover - len(labeled), budget), labeled, rng)
            picks = spread_pool(field, budget, labeled, lead, progress)
        else:
            say(0, 0, "picking")
            picks = spread_clusters(field, budget, labeled, model, rng)
        return Selection(picks.rows, clusters.labels_of(picks.rows), picks.gain, picks.radius)
