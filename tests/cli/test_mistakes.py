"""Users' mistakes: each gets a one-line message with the remedy, never a traceback, and none is ignored silently."""

import shlex
from itertools import cycle, islice

import numpy as np
import polars as pl
import pytest

from mheal.cli import main

ROWS = 40


def column(*values):
    return list(islice(cycle(values), ROWS))


def table(**columns):
    rng = np.random.default_rng(0)
    numbers = {"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS)}
    return pl.DataFrame(numbers | columns).write_csv()


def changed(text, line, new):
    lines = text.splitlines()
    lines[line] = new
    return "\n".join(lines)


def texts(n=ROWS):
    return [f"a longer text about matter number {i}" for i in range(n)]


LABELS = "row,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(24))
IDS = [f"c{i}" for i in range(ROWS)]
POOL = {"pool.csv": table()}
LABELLED = {"pool.csv": table(kind=column("x", "y"))}
S, P = "select pool.csv -b 5", "plan pool.csv"
L = f"{S} --labeled l.csv"
C = "compare pool.csv --budgets 5 --seeds 1"
# What was done: the files, the command, and words of the answer, the last of which are of its remedy.
CASES = {
    # the pool
    "a typing error in the file": (POOL, "select pol.csv -b 5", ["pol.csv", "did you mean 'pool.csv'"]),
    "a file of another kind": ({"pool.docx": "x"}, "select pool.docx -b 5", ["pool.docx", "a pool is a"]),
    "no pool": ({}, "select", ["give a pool and a budget"]),
    "no budget": (POOL, "select pool.csv", ["--budget"]),
    "a folder without images": ({"data/pool.csv": table()}, "select data -b 5", ["no image", "data/*.csv"]),
    "a pattern that the shell expands": (
        POOL, "select " + " ".join(f"image{at}.png" for at in range(99)), ["image1.png", "…", "quote a pattern"],
    ),
    "one image": ({"cat.png": "x"}, "select cat.png -b 1", ["one image", "give the folder"]),
    "a table under another name": ({"p.xlsx": table()}, "select p.xlsx -b 5", ["p.xlsx", "what its name says"]),
    "an archive called a table": ({"pool.csv": "PK\3\4\0\0"}, S, ["not text", "save it as CSV"]),
    "an empty file": ({"pool.csv": ""}, S, ["pool.csv", "empty"]),
    "a line of names only": ({"pool.csv": "a,b\n"}, S, ["pool.csv has no rows"]),
    "a title above the table": ({"pool.csv": "Report\n" + table()}, S, ["line 2 has 2 cells", "delete lines above"]),
    "a cell with a comma": ({"pool.csv": changed(table(), 3, "1,2,3")}, S, ["line 4 has 3 cells", "quote cells"]),
    "two columns of one name": ({"pool.csv": "a,a\n1,2\n3,5\n"}, S, ["two columns are called 'a'", "rename"]),
    "a matrix in a text file": (
        {"pool.txt": "1 2 3\n4 5 6\n" * 9}, "select pool.txt -b 5", ["numbers", "save", ".csv"],
    ),
    "a table in a text file": ({"pool.txt": table()}, "select pool.txt -b 5", ["numbers", "save", ".csv"]),
    "a table with spaces": ({"pool.csv": table().replace(",", " ")}, S, ["numbers", "separated by commas"]),
    "an empty text file": ({"pool.txt": "\n\n"}, "select pool.txt -b 5", ["empty", "one text in each line"]),
    "JSON in one list": ({"pool.jsonl": '[{"a": 1}]'}, "select pool.jsonl -b 1", ["line 1", "write {…} on each line"]),
    "shards with other columns": (
        {"s1.csv": "a,b\n1,2\n", "s2.csv": "a,c\n1,2\n"}, "select 's*.csv' -b 1", ["s2.csv has no column 'b'"],
    ),
    # columns
    "nothing but labels": (
        {"pool.csv": table(label=column("x", "y"))}, f"{S} --without a,b", ["label", "--columns, --with"],
    ),
    "nothing but ids": ({"pool.csv": table(customer_id=IDS)}, f"{S} --without a,b", ["only ids", "--columns, --with"]),
    "two columns of texts": (
        {"pool.csv": table(title=texts(), body=texts()[::-1])}, f"{S} --without a,b", ["title", "body", "--text"],
    ),
    "nothing but short texts": (
        {"pool.csv": table(name=IDS, town=IDS)}, f"{S} --without a,b", ["40 different texts", "--text"],
    ),
    "a column that is not there": (POOL, f"{S} --columns a,q", ["no column 'q'", "it has a, b"]),
    "another that is not there": (POOL, f"{S} --with q", ["no column 'q'", "it has a, b"]),
    "a text column that is not there": (POOL, f"{S} --text q", ["no column 'q'", "it has a, b"]),
    "an id that is not there": (POOL, f"{S} --id q", ["no column 'q'", "it has a, b"]),
    "a column in and out": (POOL, f"{S} --columns a --without a", ["'a' is kept out", "name it once"]),
    "no column is left": (POOL, f"{S} --without a,b", ["all are left out", "--columns, --with"]),
    "columns and a text": (POOL, f"{S} --columns a --text b", ["either the text column or the columns"]),
    "no columns": (POOL, f"{S} --columns ''", ["one or more different columns"]),
    "texts as a feature": ({"pool.csv": table(t=texts())}, f"{S} --columns a,t", ["'t'", "name it as the text column"]),
    "numbers as texts": (POOL, f"{S} --text a", ["holds numbers, not texts", "save"]),
    "columns of an array": (
        {"pool.npy": None}, "select pool.npy -b 5 --columns a", ["not a table", "leave out columns"],
    ),
    "one value everywhere": ({"pool.csv": "a,b\n" + "1,2\n" * 9}, S, ["equal"]),
    "few different rows": (
        {"pool.csv": table(c=column(1, 2, 3))}, "select pool.csv -b 9 --columns c",
        ["after 3 picks", "give a budget of at most 3"],
    ),
    "infinity": ({"pool.csv": changed(table(), 3, "inf,1")}, S, ["row 2, column 'a' is infinite", "drop their rows"]),
    "missing values refused": (
        {"pool.csv": changed(table(), 3, ",1")}, f"{S} --missing refuse",
        ["row 2, column 'a'", "(a: 1)", "fill them in"],
    ),
    "a gap in every row": (
        {"pool.csv": "a,b\n" + "1,\n,2\n" * 9}, f"{S} --missing drop", ["every row", "a: 9, b: 9", "fill them in"],
    ),
    "another treatment of gaps": (POOL, f"{S} --missing mean", ["impute, drop, refuse"]),
    # ids
    "an id twice": (
        {"pool.csv": table(id=["c1", *IDS[1:]])}, S, ["'c1'", "rows 0 and 1", "make ids unique", "--without"],
    ),
    "an empty id": ({"pool.csv": table(id=[None, *IDS[1:]])}, S, ["row 0 has no id", "fill it in"]),
    "a customer twice": (
        {"pool.csv": table(customer_id=["c1", *IDS[1:]])}, S, ["'c1' in column 'customer_id'", "make ids unique"],
    ),
    "an id that repeats, by name": (
        {"pool.csv": table(kind=column("x", "y"))}, f"{S} --id kind", ["'x'", "make ids unique"],
    ),
    # labels
    "labels that are not there": (POOL, f"{S} --labeled labels.csv", ["no file 'labels.csv'"]),
    "labels of no row": (POOL | {"l.csv": "name,label\nx,1\n"}, L, ["no column 'row'", "it has name", "add one"]),
    "labels in the pool": ({"pool.csv": table(label=column("x"))}, f"{S} --labeled pool.csv", ["'row'", "add one"]),
    "a row that is not there": (POOL | {"l.csv": "row,label\n40,x\n"}, L, ["row 40", "0 to 39"]),
    "a row that is no number": (POOL | {"l.csv": "row,label\nx,y\n"}, L, ["'x' is not a row number"]),
    "two labels of a row": (POOL | {"l.csv": "row,label\n3,x\n3,y\n"}, L, ["'x' and 'y'", "keep one"]),
    "an id that is not in the pool": (
        {"pool.csv": table(id=IDS), "l.csv": "id,label\nzz,x\n"}, L, ["no row", "the id 'zz'"],
    ),
    "ids for a pool without": (
        POOL | {"l.csv": "id,label\nc1,x\n"}, L, ["'id'", "name the pool's id column"],
    ),
    "all is labelled": (
        POOL | {"l.csv": "row,label\n" + "".join(f"{i},x\n" for i in range(ROWS))}, L,
        ["every row is labelled"],
    ),
    "an export that is none": (POOL | {"l.json": '{"a": 1}'}, f"{S} --labeled l.json", ["list of tasks"]),
    # options
    "more than there is": (POOL, "select pool.csv -b 99", ["exceeds the 40", "at most 40"]),
    "a budget of nothing": (POOL, "select pool.csv -b 0", ["at least 1"]),
    "an unknown strategy": (POOL, f"{S} --strategy bets", ["'bets'", "choose from"]),
    "a model without labels": (POOL, f"{S} --estimator forest", ["no labels"]),
    "a strategy that needs labels": (POOL, f"{S} --strategy margin", ["margin needs a model", "give"]),
    "an unknown model": (POOL | {"l.csv": LABELS}, f"{S} --labeled l.csv --estimator tree", ["'tree'", "choose from"]),
    "an unknown scaling": (POOL, f"{S} --scaling minmax", ["minmax", "choose from"]),
    "an unknown option": (POOL, f"{S} --buget 3", ["--buget"]),
    "a picture in a table": (POOL, f"{S} --plot picks.csv", ["cannot draw picks.csv", ".png"]),
    "picks instead of their record": (POOL, "select --rerun pool.csv", ["not a record", ".mheal.json"]),
    "an unknown format": (POOL, f"{S} -o picks.doc", ["picks.doc", "end it in"]),
    "a folder that is not there": (POOL, f"{S} -o out/picks.csv", ["no folder 'out'"]),
    "pictures of a table": (POOL, f"{S} --embed pixels", ["pixels"]),
    "a size that is none": (POOL, f"{S} --max-memory much", ["'much'", "4GB"]),
    "probabilities of other rows": (
        POOL | {"p.csv": "x,y\n0.5,0.5\n"}, f"{S} --proba p.csv --strategy margin", ["40 rows"],
    ),
    # the pool again
    "an address": ({}, "select https://example.org/pool.csv -b 5", ["no file", "a pool is a"]),
    "a pipe": ({}, "select - -b 5", ["no file", "a pool is a"]),
    "a compressed table": ({"pool.csv.gz": "x"}, "select pool.csv.gz -b 5", ["pool.csv.gz", "a pool is a"]),
    "a pickle": ({"pool.pkl": "x"}, "select pool.pkl -b 5", ["pool.pkl", "a pool is a"]),
    "JSON as a pool": ({"pool.json": '[{"a": 1}]'}, "select pool.json -b 5", ["pool.json", ".jsonl"]),
    "two pools": (POOL | {"b.csv": table()}, "select pool.csv b.csv -b 5", ["unexpected", "b.csv", "quote a pattern"]),
    "an empty folder": ({"data/.hidden": "x"}, "select data -b 5", ["no image", "a pool is a"]),
    "a pattern without matches": ({}, "select 'im*.png' -b 5", ["no file matches", "check the path"]),
    "zero bytes in a table": ({"pool.csv": changed(table(), 3, "1,\0")}, S, ["line 4", "zero byte", "save it as CSV"]),
    "zero bytes in texts": ({"p.txt": "a b\n\0\n"}, "select p.txt -b 1", ["line 2", "not text", "save it"]),
    "a long line between semicolons": ({"pool.csv": "a;b\n1;2\n1;2;3\n"}, S, ["line 3 has 3 cells", "quote cells"]),
    "an open quote": ({"pool.csv": table() + '"1,2\n'}, S, ["cannot read pool.csv", "is it complete"]),
    "an array by another name": ({"p.npy": table()}, "select p.npy -b 5", ["cannot read p.npy", "is it complete"]),
    "a text file as Parquet": ({"p.parquet": table()}, "select p.parquet -b 5", ["p.parquet", "is it complete"]),
    "texts that are equal": ({"p.txt": "hello you\n" * 9}, "select p.txt -b 5", ["all 9 rows", "equal"]),
    # more options
    "a budget in words": (POOL, "select pool.csv -b ten", ["'ten'", "such as 10%"]),
    "a budget below nothing": (POOL, "select pool.csv -b -3", ["at least 1"]),
    "a budget of 150%": (POOL, "select pool.csv -b 150%", ["'150%'", "such as 10%"]),
    "a budget with a comma": (POOL, "select pool.csv -b 1,000", ["'1,000'", "such as 10%"]),
    "a seed below nothing": (POOL, f"{S} --seed -1", ["--seed", "greater than or equal to 0"]),
    "two strategies": (POOL, f"{S} --strategy mheal,random", ["'mheal,random'", "did you mean random"]),
    "a strategy by its class": (POOL, f"{S} --strategy CoreSet", ["'CoreSet'", "did you mean coreset"]),
    "a column of another case": (POOL, f"{S} --columns A", ["no column 'A'", "it has a, b"]),
    "clusters without any": (POOL, f"{S} --strategy random --clusters 4", ["random has no clusters", "leave out"]),
    "more clusters than rows": (POOL, f"{S} --strategy mheal-paper --clusters 400", ["400", "at most 40"]),
    "a method of images": (POOL, f"{S} --embed word2vec", ["'word2vec'", "use none, pca"]),
    "an output that is the pool": (POOL, f"{S} -o ./pool.csv --force", ["an input", "another name"]),
    "an output that is a folder": (POOL | {"d.csv/x": "x"}, f"{S} -o d.csv", ["a folder", "another name"]),
    "a spreadsheet to write": (POOL, f"{S} -o picks.xlsx", ["picks.xlsx", "end it in"]),
    "hardly any memory": (POOL, f"{S} --max-memory 1KB", ["raise --max-memory"]),
    "a device that is not there": (POOL, f"{S} --device gpu9", ["gpu9", "leave"]),
    "a cluster for a CSV file": (POOL, f"{S} --scheduler nowhere:1", ["reads .parquet files", "write the pool"]),
    # more labels
    "labels in a text file": (POOL | {"l.txt": "x"}, f"{S} --labeled l.txt", ["l.txt", "use .csv"]),
    "no label yet": (POOL | {"l.csv": "row,label\n1,\n"}, L, ["no label yet", "fill in its column label"]),
    "rows from 1": (POOL | {"l.csv": "row,label\n1,x\n40,x\n"}, L, ["no row 40", "from 0 to 39"]),
    "half a row": (POOL | {"l.csv": "row,label\n1.5,x\n"}, L, ["1.5 is not a row number"]),
    "an empty file of labels": (POOL | {"l.csv": ""}, L, ["l.csv", "empty"]),
    "a group as a label": (
        POOL | {"l.jsonl": '{"row": 1, "label": {"a": 1}}'}, f"{S} --labeled l.jsonl", ["entry 1", "give one word"],
    ),
    "labels as picks to keep": (POOL | {"l.csv": LABELS}, f"{S} --keep l.csv", ["l.csv", "saved by mheal"]),
    "a model that is not there": (POOL | {"l.csv": LABELS}, f"{L} --estimator no.such:x", ["no.such:x", "give"]),
    "a model of measurements": (
        POOL | {"l.csv": LABELS}, f"{L} --estimator sklearn.linear_model:LinearRegression", ["no classifier", "give"],
    ),
    # compare and plan
    "no target": (POOL, "compare pool.csv", ["--target"]),
    "a target that is not there": (LABELLED, f"{C} -t kid", ["'kid'", "did you mean 'kind'"]),
    "a target of measurements": (POOL, f"{C} -t a", ["measurements", "bin them"]),
    "a target of ids": ({"pool.csv": table(name=IDS)}, f"{C} -t name", ["not classes", "name another target"]),
    "a target of one class": (
        {"pool.csv": table(kind=column("x"))}, f"{C} -t kind", ["one class", "name another target"],
    ),
    "a class with one row": (
        {"pool.csv": table(kind=["z", *column("x", "y")[1:]])}, f"{C} -t kind", ["'z' has 1 row", "merge"],
    ),
    "a target that is a feature": (LABELLED, f"{C} -t kind --with kind", ["'kind' is the target"]),
    "classes with one row": (
        {"pool.csv": table(kind=["z", "q", *column("x", "y")[2:]])}, f"{C} -t kind", ["q, z each have 1 row", "merge"],
    ),
    "an unknown metric": (LABELLED, f"{C} -t kind --metric acuracy", ["acuracy"]),
    "budgets that are words": (LABELLED, "compare pool.csv -t kind --budgets few", ["whole numbers"]),
    "a target above one": (POOL | {"l.csv": LABELS}, f"{P} --labeled l.csv --target-accuracy 90", ["0.9"]),
    "few labels": (POOL | {"l.csv": "row,label\n1,x\n2,y\n"}, f"{P} --labeled l.csv", ["at least 20"]),
    "labels of one class": (
        POOL | {"l.csv": LABELS.replace("y", "x")}, f"{P} --labeled l.csv", ["one class"],
    ),
    "a target without labels": (
        {"pool.csv": table(kind=column(""))}, f"{C} -t kind", ["no label at all", "name another target"],
    ),
    "a target of dates": (
        {"pool.csv": table(kind=[f"2020-01-{i % 28 + 1:02d}" for i in range(ROWS)])}, f"{C} -t kind",
        ["28 different values", "name another target"],
    ),
    "more labels than rows": (LABELLED, "compare pool.csv -t kind --budgets 500 --seeds 1", ["500", "at most 28"]),
    "no splits": (LABELLED, "compare pool.csv -t kind --budgets 5 --seeds 0", ["--seeds", "than or equal to 1"]),
    "a folder that is the pool": (LABELLED, f"{C} -t kind -o pool.csv", ["'pool.csv' is a file, not a folder"]),
    "a percentage as a target": (POOL, f"{P} --target-accuracy 90", ["--target-accuracy", "write 0.9 for 90 %"]),
    "a word as a target": (POOL, f"{P} --target-accuracy high", ["--target-accuracy", "a share such as 0.9 or 90%"]),
    "an output without a name": (POOL, f"{S} -o ''", ["--out is empty", "leave --out away"]),
    "vectors without a name": (POOL, "embed pool.csv -o ''", ["cannot write ''", ".npy"]),
    "rows beside other ids": (
        {"pool.csv": table(id=IDS), "l.csv": "row,id,label\n0,c0,x\n2,c1,y\n"}, L, ["row 2 has the id 'c1'", "delete"],
    ),
    "a picture of a plan in a table": (POOL, f"{P} --plot x.csv", ["cannot draw x.csv", ".png"]),
    # other commands
    "vectors over the pool": ({"pool.npy": None}, "embed pool.npy --out pool.npy", ["an input", "another name"]),
    "a page of a pool that is not there": (POOL, "label pol.csv --classes a,b", ["pol.csv", "did you mean 'pool.csv'"]),
    "a dataset that is not there": ({}, "datasets get nope", ["'nope'", "choose from mnist"]),
    "a demo over a file": ({"f": "x"}, "demo --out f", ["'f' is a file, not a folder"]),
    "an empty record": ({"r.mheal.json": "{}"}, "select --rerun r.mheal.json", ["not a record", "beside the picks"]),
    "a strategy to list": ({}, "strategies nope", ["unexpected", "nope"]),
    "an unknown command": ({}, "selct pool.csv", ["selct"]),
    "vectors to a table": (POOL, "embed pool.csv --out v.csv", [".npy"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_answered_in_one_line_with_the_remedy(case, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    files, line, words = CASES[case]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        if text is None:
            np.save(name, np.random.default_rng(0).normal(size=(ROWS, 3)))
        else:
            (tmp_path / name).write_text(text)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main(shlex.split(line)) == 2
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err
    errors = [text for text in err.splitlines() if text.startswith("mheal: ")]
    assert len(errors) == 1
    assert err.splitlines()[-1] == errors[0]
    assert not [word for word in words if word not in errors[0]]
    assert len(errors[0]) <= 400
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_there_are_sixty():
    assert len(CASES) >= 60
