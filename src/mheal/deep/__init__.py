"""Networks (extra `mheal[deep]`, torch). So far: the paper's autoencoder, as an embedding."""
