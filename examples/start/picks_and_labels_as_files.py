"""
Picks and labels as files
=========================

Picks leave as a CSV file with an empty column ``label``. Somebody fills it in, in a spreadsheet for example, and the
file comes back as labels. Here the somebody is a few lines of polars.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars
from sklearn.datasets import load_digits

import mheal

temporary = tempfile.TemporaryDirectory()  # deleted when the script ends
folder = Path(temporary.name)


def run(command):
    """Run a command, as in a shell, and show what it prints."""
    words = [sys.executable, "-m", *command.split()]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=folder)
    print(f"$ {command}\n{done.stdout}{done.stderr}")


run("mheal demo --files")
run("mheal select digits.csv --budget 40")

# %%
# ``picks.csv`` has the picks, best first: why each was picked, its own cells, and the empty column.

picks = polars.read_csv(folder / "picks.csv")
print(picks.select("rank", "row", "id", "reason", "label").head(5))

# %%
# Fill it in, and give it back for the next round. Labelled rows are not picked again.

truth = load_digits().target
picks.with_columns(label=truth[picks["row"].to_numpy()]).write_csv(folder / "picks.csv")
run("mheal select digits.csv --budget 40 --labeled picks.csv --out next.csv")

# %%
# Both files can be read back in Python.

X = np.load(folder / "digits.npy")
first, second = mheal.Selection.load(folder / "picks.csv"), mheal.Selection.load(folder / "next.csv")
figure, axes = plt.subplots(2, 20, figsize=(11, 1.6), layout="constrained")
for name, row_of_axes, round_ in (("first", axes[0], first), ("next", axes[1], second)):
    row_of_axes[0].set_title(f"{name} round", loc="left", fontsize=10)
    for axis, row in zip(row_of_axes, round_, strict=False):
        axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
        axis.axis("off")
plt.show()
