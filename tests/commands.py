"""Helpers that run commands as typed, and read the picks they write."""

import shlex

import polars as pl

from mheal.cli import main


def run(line):
    return main(shlex.split(line))


def rows(file="picks.csv"):
    return pl.read_csv(file)["row"].to_numpy()
