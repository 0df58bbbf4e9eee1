"""Figures 6, 7 and 8: hypotheses that IWAL and MHEAL prune."""
