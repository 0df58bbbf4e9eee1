"""The experiments of the MHEAL paper, rerun: our number beside the paper's."""

__version__ = "0.1.0"
