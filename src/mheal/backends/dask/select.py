"""MHEAL on a Dask cluster: the steps of mheal.selector, with the pool on the workers."""

from dataclasses import replace
from typing import Any

from ...algorithms.density import POWER
from ...algorithms.facility_location import cover
from ...cluster import SphericalKMeans
from ...cluster.sampled import SAMPLE, auto_clusters
from ...exceptions import UserError
from ...paper import PaperMHEAL
from ...selection import Selection
from ...strategy import Pool
from .charges import find_charges
from .clusters import find_clusters
from .connect import connected
from .field import Field
from .partitions import Partitions
from .spread import spread_clusters, spread_pool, spread_quota
from .standard import measure


def select(chosen: Pool, n: int, model: Any) -> Selection:
    """n rows of a Dask array, best first, as MHEAL or PaperMHEAL picks them in memory."""
    rng, labeled, say = chosen.random_state, chosen.labeled, chosen.checkpoint.report
    published = isinstance(model, PaperMHEAL)
    across = not published and model.across_clusters
    with connected() as client:
        pool = Partitions(chosen.X, client)
        say(0, 0, "reading")
        metric = measure(pool, chosen.scaling)
        say(0, 0, "clustering")
        rows = pool.shape[0]
        k = auto_clusters(rows) if model.n_clusters == "auto" else model.n_clusters
        if k > rows:
            raise UserError(f"n_clusters is {k}, but X has only {rows} rows: ask for at most {rows}")
        how = (
            {"init": model.init, "max_iter": model.max_iter, "tol": model.tol}
            if published
            else {"max_iter": 10, "tol": 1e-3}
        )
        kmeans = SphericalKMeans(k, **how, random_state=rng.randint(2**31))
        clusters = find_clusters(pool, metric, kmeans, None if published else SAMPLE, rng)
        metric = replace(metric, unit=chosen.scaling == "unit")
        charges = None
        if not published and model.density_power is not None:
            say(0, 0, "measuring density")
            power = POWER if model.density_power == "auto" else float(model.density_power)
            charges = find_charges(pool, metric, clusters, power, model.outlier_fraction)
        field = Field(pool, metric, clusters, charges)
        if across and model.balance_clusters:
            picks = spread_quota(field, n, labeled, say)
        elif across:
            lead = None
            if charges is not None and len(labeled) < model.n_representatives:
                say(0, 0, "covering")
                lead = cover(field, min(model.n_representatives - len(labeled), n), labeled, rng)
            picks = spread_pool(field, n, labeled, lead, say)
        else:
            say(0, 0, "picking")
            ways = (
                {"n_starts": model.n_starts, "start_length": model.start_length, "direction": model.direction}
                if published
                else {"n_starts": 10, "start_length": 10, "direction": "tangent"}
            )
            picks = spread_clusters(field, n, labeled, published or model.balance_clusters, ways, rng)
        return Selection(picks.rows, clusters.labels_of(picks.rows), picks.gain, picks.radius)
