"""Table 2 and Figure 10: how well subsets match the whole pool."""
