"""The tables and figures of the paper, one module or folder each; `mheal_reproduction.experiments` lists them."""
