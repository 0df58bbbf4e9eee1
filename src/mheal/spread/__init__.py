"""Spreading picks: over the whole pool, or cluster by cluster, and merging what the clusters give."""

from .apart import spread_clusters
from .quota import spread_quota
from .result import Spread
from .whole import spread_pool

__all__ = ["Spread", "spread_clusters", "spread_pool", "spread_quota"]
