"""Data in and out. So far: the checks at the door."""
