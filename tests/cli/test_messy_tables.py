"""Realistic tables: columns of labels, ids, missing values, numbers as text. Every mistake gets a one-line error."""

import shlex

import numpy as np
import polars as pl
import pytest

import mheal
from mheal.cli import main

ROWS = 120


def run(line, capsys):
    status = main(shlex.split(line))
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return status, said.err


def loans(**columns):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "customer_id": [f"c{i:04d}" for i in range(ROWS)],
            "age": rng.normal(40, 9, ROWS).round(1),
            "income": [None if i % 9 == 0 else f"€{v:,.2f}" for i, v in enumerate(rng.lognormal(9, 1, ROWS))],
            "home": rng.choice(["rents", "owns", "other"], ROWS),
            "phone": rng.integers(10**10, 10**11, ROWS),
            "label": rng.choice(["good", "bad"], ROWS),
        }
    ).with_columns(**{name: pl.Series(values) for name, values in columns.items()})


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loans().write_csv("loans.csv")


def test_what_is_used_and_left_out_is_said(capsys):
    status, said = run("select loans.csv -b 10", capsys)
    assert status == 0
    assert "2 numeric columns (age, income [with thousands, with €])" in said
    assert "home: 3 values" in said
    assert "phone (a code" in said
    assert "label (named like labels; --with label uses it)" in said
    assert "(income: 14), and an indicator column for income" in said
    assert set(pl.read_csv("picks.csv")["id"]) <= set(loans()["customer_id"])


def test_with_brings_a_column_back(capsys):
    status, said = run("select loans.csv -b 10 --with label,phone", capsys)
    assert status == 0
    assert "phone" in said.partition("left out")[0]
    assert "label: 2 values" in said


@pytest.mark.parametrize("missing", ["drop", "refuse", "mean"])
def test_missing_values(missing, capsys):
    status, said = run(f"select loans.csv -b 10 --missing {missing}", capsys)
    if missing == "drop":
        assert status == 0
        assert "14 rows with missing values left out (income: 14)" in said
        picked = pl.read_csv("picks.csv")["row"].to_numpy()
        assert not (picked % 9 == 0).any()
        assert loans()["customer_id"].to_numpy()[picked].tolist() == pl.read_csv("picks.csv")["id"].to_list()
    else:
        assert status == 2
        assert ("row 0, column 'income' is empty" if missing == "refuse" else "impute, drop, refuse") in said


def test_labels_of_rows_that_were_left_out_are_ignored(capsys):
    pl.DataFrame({"customer_id": ["c0000", "c0001", "c0004"], "label": ["good", "bad", "good"]}).write_csv("l.csv")
    status, said = run("select loans.csv -b 10 --missing drop --labeled l.csv", capsys)
    assert status == 0
    assert "away from the 2 labelled rows" in said


@pytest.mark.parametrize("command", ["select loans.csv -b 10 --labeled l.csv", "plan loans.csv --labeled l.csv"])
def test_a_column_that_repeats_the_labels_is_left_out(command, capsys):
    table = loans().rename({"label": "status"})
    table.write_csv("loans.csv")
    table.select("customer_id", label="status").head(60).write_csv("l.csv")
    _, said = run(command, capsys)
    assert "status (holds labels)" in said
    assert "status: 2 values" not in said
    _, said = run(f"{command} --with status", capsys)
    assert "status: 2 values" in said


def test_a_column_that_repeats_the_target_is_left_out(capsys):
    table = loans().rename({"label": "status"})
    table.write_csv("loans.csv")
    table.select("customer_id", label="status").write_csv("l.csv")
    line = "compare loans.csv --target l.csv --budgets 10 --seeds 1 --strategies random -o"
    said = run(f"{line} out", capsys)[1]
    assert "status (holds labels)" in said
    assert "status: 2 values" in run(f"{line} with --with status", capsys)[1]
    table.drop("status").write_csv("loans.csv")
    assert run(f"{line} clean", capsys)[0] == 0
    assert pl.read_csv("out/curves.csv").drop("seconds").equals(pl.read_csv("clean/curves.csv").drop("seconds"))


def test_the_plan_does_not_read_the_answer_from_the_pool(capsys):
    loans().select("customer_id", "label").head(60).write_csv("l.csv")
    main(shlex.split("plan loans.csv --labeled l.csv --target-accuracy 0.9"))
    found = capsys.readouterr().out
    loans().drop("label").write_csv("loans.csv")
    main(shlex.split("plan loans.csv --labeled l.csv --target-accuracy 0.9"))
    assert capsys.readouterr().out == found


@pytest.mark.parametrize("command", ["select loans.csv -b 5", "plan loans.csv"])
def test_classes_are_counted_and_odd_ones_are_said(command, capsys):
    labels = ["good"] * 40 + ["bad"] * 30 + ["1"] * 8 + ["one"] * 8 + ["ugly"]
    loans().select("customer_id", label=pl.Series(labels + [None] * (ROWS - len(labels)))).write_csv("l.csv")
    said = run(f"{command} --labeled l.csv", capsys)[1]
    assert "87 labels of 5 classes: good 40, bad 30, 1 8, one 8, ugly 1" in said
    assert "rare classes: ugly 1:" in said
    assert "'1' and 'one' may be one class" in said


@pytest.mark.parametrize("name", ["class", "kind"])
def test_labels_under_another_name_are_not_lost_in_silence(name, capsys):
    loans().select("customer_id", pl.col("label").alias(name)).head(60).write_csv("l.csv")
    assert "l.csv has no column 'label'" in run("select loans.csv -b 5 --labeled l.csv", capsys)[1]


def test_the_classes_of_a_target_are_counted(capsys):
    labels = ["Good", "good", "bad"] * (ROWS // 3)
    labels[3] = labels[4] = "rare"
    loans(label=labels).write_csv("loans.csv")
    said = run("compare loans.csv -t label --budgets 10 --seeds 1 --strategies random", capsys)[1]
    assert "120 labels of 4 classes: bad 40, Good 39, good 39, rare 2" in said
    assert "rare classes: rare 2:" in said
    assert "'Good' and 'good' may be one class" in said


def test_picks_through_python_are_those_of_the_command_line(capsys):
    assert run("select loans.csv -b 20", capsys)[0] == 0
    with pytest.warns(mheal.exceptions.DataWarning):
        picks = mheal.select(pl.read_csv("loans.csv"), 20)
    assert picks.indices.tolist() == pl.read_csv("picks.csv")["row"].to_list()


def few(n):
    return "\n".join(["a,b", *(f"{i % n},{i % n}" for i in range(50))])


MISTAKES = {
    "only labels": ("pool.csv", "id,label\n1,a\n2,b\n3,a\n", "", "no column that separates its rows"),
    "few different rows": ("pool.csv", few(4), "", "give a budget of at most 4"),
    "texts that are numbers": ("pool.txt", "1.5\n2.5\n3\n" * 9, "", "holds numbers, not texts"),
    "a matrix as texts": ("pool.txt", "1 2 3\n4 5 6\n" * 9, "", "holds numbers, not texts"),
    "a text column of numbers": ("pool.csv", "a,b\n1,x\n2,y\n3,z\n", "--text a", "holds numbers, not texts"),
    "no text": ("pool.txt", "\n\n \n", "", "is empty: write one text in each line"),
    "an id twice": ("pool.csv", "id,a\n7,1\n8,2\n7,3\n", "", "rows 0 and 2 have the same id 7 in column 'id'"),
    "an empty id": ("pool.csv", "id,a\nx,1\n,2\nz,3\n", "", "row 1 has no id in column 'id'"),
    "a ragged line": ("pool.csv", "a,b\n1,2\n3,4,5\n", "", "line 3 has 3 cells, but the first line has 2"),
    "binary": ("pool.csv", "\0\1\2\3" * 40, "", "cannot read pool.csv"),
    "an unknown column": ("pool.csv", "a,b\n1,2\n3,4\n", "--with c", "has no column 'c': it has a, b"),
    "a column of lists and none": (
        "pool.jsonl",
        '{"e": [1, 2]}\n{"e": [1]}\n',
        "",
        "has 1 numbers, but the first has 2",
    ),
    "every row incomplete": ("pool.csv", "a,b\n1,\n,2\n3,\n", "--missing drop", "every row has a missing value"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_get_one_line_with_the_remedy(case, capsys, tmp_path):
    name, text, options, message = MISTAKES[case]
    (tmp_path / name).write_text(text)
    status, said = run(f"select {name} -b 10 {options}", capsys)
    assert status == 2
    errors = [line for line in said.splitlines() if line.startswith("mheal: ")]
    assert len(errors) == 1
    assert message in errors[0]
    assert len(errors[0]) <= 300
    assert not (tmp_path / "picks.csv").exists()


def test_empty_texts_are_left_out_and_rows_keep_their_numbers(capsys, tmp_path):
    texts = [f"a text about {['cats', 'dogs', 'birds', 'fish'][i % 4]} and number {i}" for i in range(40)]
    texts[3] = texts[17] = "  "
    (tmp_path / "pool.txt").write_text("\n".join(texts) + "\n")
    status, said = run("select pool.txt -b 38", capsys)
    assert status == 0
    assert "2 empty texts left out: row 3, 17" in said
    picks = pl.read_csv("picks.csv")
    assert sorted(picks["row"]) == sorted({*range(40)} - {3, 17})
    assert [texts[row] for row in picks["row"]] == picks["text"].to_list()


def test_probabilities_of_all_rows_go_with_the_rows_that_are_left(capsys):
    share = np.linspace(0.01, 0.99, ROWS)
    np.save("proba.npy", np.column_stack([share, 1 - share]))
    labelled = loans().select("customer_id", "label").head(80)
    labelled.write_csv("l.csv")
    assert run("select loans.csv -b 10 --missing drop --labeled l.csv --proba proba.npy", capsys)[0] == 0
    first = pl.read_csv("picks.csv")["id"].to_list()
    ids = loans().select("customer_id").with_columns(good=pl.Series(share), bad=pl.Series(1 - share))
    ids.sort("good", descending=True).write_csv("proba.csv")
    assert (
        run("select loans.csv -b 10 --missing drop --labeled l.csv --proba proba.csv --out other.csv", capsys)[0] == 0
    )
    assert pl.read_csv("other.csv")["id"].to_list() == first
