"""Data in and out: checks at the door."""
