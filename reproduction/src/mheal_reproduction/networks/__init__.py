"""Networks, which need `mheal[deep]`: autoencoder embeddings, deep clustering, classifiers trained many at a time."""
