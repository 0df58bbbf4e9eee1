"""Table 1 and Figure 9: clustering accuracy."""
