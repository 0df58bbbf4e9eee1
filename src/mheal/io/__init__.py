"""Data in and out: files become pools, picks become files, labels come back, and bad input gets a clear line."""
