"""Networks (extra `mheal[deep]`, torch): embeddings, deep clustering, and classifiers trained many at a time."""
