"""The lines of Table 1 by name."""

METHODS = ("K-means", "GMM", "SphericalKMeans")
STARTS = (10, 1)
RAW = tuple(f"n_init={starts}" for starts in STARTS)  # variants on pixels
DEC, MOVED = "Auto+DEC", "Auto+DEC-DA"  # variants on codes: the paper's, and ours
DEEP = (DEC, MOVED)


def full(method: str, variant: str) -> str:
    """The name of a line, as the table and the rows have it."""
    return f"{method}+{variant}" if variant in DEEP else method
