"""The summary of all results, made from the rows: claims of the paper, verdicts and numbers."""
