"""The experiments of the MHEAL paper, rerun: our number beside the paper's."""
