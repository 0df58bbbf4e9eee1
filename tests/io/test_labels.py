"""Labels come back as tables, picks or Label Studio exports."""

import json

import numpy as np
import polars as pl
import pytest

from mheal import Selection
from mheal.exceptions import UserError
from mheal.io.labels import read_labels

IDS = [f"{i:03d}" for i in range(10)]
WRITERS = {
    ".csv": pl.DataFrame.write_csv,
    ".tsv": lambda frame, file: frame.write_csv(file, separator="\t"),
    ".parquet": pl.DataFrame.write_parquet,
    ".jsonl": pl.DataFrame.write_ndjson,
}


def write(tmp_path, content, name):
    (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return tmp_path / name


def check(labels, rows, values):
    assert labels.rows.dtype == np.int64
    assert labels.rows.tolist() == rows
    assert (labels.values if labels.values is None else labels.values.tolist()) == values


@pytest.mark.parametrize("suffix", WRITERS)
def test_rows_with_labels(tmp_path, suffix):
    frame = pl.DataFrame({"row": [7, 2, 5, 2], "label": ["cat", "dog", None, "dog"]})
    WRITERS[suffix](frame, tmp_path / f"labels{suffix}")
    check(read_labels(tmp_path / f"labels{suffix}", None, 10), [7, 2], ["cat", "dog"])


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(("column", "option"), [("id", None), ("sku", "sku"), ("id", "sku")])
def test_ids_with_labels(tmp_path, suffix, column, option):
    frame = pl.DataFrame({column: ["007", "002"], "label": [1, 0]})
    WRITERS[suffix](frame, tmp_path / f"labels{suffix}")
    check(read_labels(tmp_path / f"labels{suffix}", IDS, 10, id_column=option), [7, 2], [1, 0])


def test_ids_are_compared_as_text(tmp_path):
    check(read_labels(write(tmp_path, '{"id": "12"}\n{"id": "11"}', "l.jsonl"), [11, 12], 2), [1, 0], None)
    check(read_labels(write(tmp_path, "id\n12\n", "l.csv"), [11, 12], 2), [1], None)
    pl.DataFrame({"id": [12]}).write_parquet(tmp_path / "l.parquet")
    check(read_labels(tmp_path / "l.parquet", ["11", "12"], 2), [1], None)


def test_ids_come_before_rows_which_move_when_a_pool_grows(tmp_path):
    file = write(tmp_path, "row,cluster,gain,radius,sku,id\n0,1,2,3,007,001\n", "picks.csv")  # of the smaller pool
    check(read_labels(file, IDS, 10, id_column="sku"), [1], None)  # the column id of picks holds their ids
    check(read_labels(file, IDS, 10), [1], None)
    check(read_labels(file, None, 10), [0], None)
    file = write(tmp_path, "row,sku,id\n7,007,001\n", "l.csv")
    check(read_labels(file, IDS, 10, id_column="sku"), [7], None)
    check(read_labels(file, IDS, 10, id_column="key"), [7], None)


def test_a_column_of_the_pool_may_be_called_row(tmp_path):
    check(read_labels(write(tmp_path, "row,id,label\nA,001,a\nB,002,b\n", "l.csv"), IDS, 10), [1, 2], ["a", "b"])


@pytest.mark.parametrize("kind", ["our own table", "picks"])
def test_rows_and_ids_that_disagree_are_refused(tmp_path, kind):
    """As in a spreadsheet in which one column was sorted alone."""
    more = {"cluster": 0, "gain": 1.0, "radius": 1.0} if kind == "picks" else {}
    frame = pl.DataFrame({"row": [1, 2, 5], "id": ["001", "005", "002"], "label": ["a", "b", "c"]})
    frame.with_columns(**{name: pl.lit(value) for name, value in more.items()}).write_csv(tmp_path / "l.csv")
    with pytest.raises(UserError, match=r"l\.csv: row 2 has the id '005', which is that of row 5: correct the file"):
        read_labels(tmp_path / "l.csv", IDS, 10)
    frame.filter(pl.col("row") == 1).write_csv(tmp_path / "l.csv")
    check(read_labels(tmp_path / "l.csv", IDS, 10), [1], ["a"])


def test_a_wrong_row_beside_an_id_is_refused_in_a_table_that_is_not_picks(tmp_path):
    with pytest.raises(UserError, match="row 2 has the id '001', which is that of row 1"):
        read_labels(write(tmp_path, "row,id,label\n2,001,a\n", "l.csv"), IDS, 10)


@pytest.mark.parametrize("name", ["picks.csv", "picks.parquet", "picks.jsonl"])
def test_picks_count_as_labelled(tmp_path, name):
    Selection([7, 3, 9], [1, 0, 1], [np.inf, 2.5, 1.25], [2.5, 1.25, 0.5]).save(tmp_path / name)
    check(read_labels(tmp_path / name, None, 10), [7, 3, 9], None)


def test_numbers_and_blank_cells(tmp_path):
    check(read_labels(write(tmp_path, "row,label\n1.0,0.5\n2,\n3,1\n", "l.csv"), None, 10), [1, 3], [0.5, 1.0])
    check(read_labels(write(tmp_path, 'row,label\n1,a\n2," "\n', "l.csv"), None, 10), [1], ["a"])
    check(read_labels(write(tmp_path, "row,label\n", "l.csv"), None, 10), [], [])
    check(read_labels(write(tmp_path, "row,label\n,\n4,a\n", "l.csv"), None, 10), [4], ["a"])


def note(*values, **more):
    return {"id": 1, "was_cancelled": False, "result": [{"type": "t", "value": value} for value in values], **more}


def task(data, *notes):
    return {"id": 501, "data": data, "annotations": list(notes), "predictions": [{"result": [{"value": {}}]}]}


def test_label_studio_tasks(tmp_path):
    export = [
        task({"row": 3, "pick_rank": 1}, note({"choices": ["cat"]})),
        task({"row": 4}, note({"start": 0, "end": 3, "text": "Bob", "labels": ["PER"]})),
        task({"row": 5}, note({"text": ["free words"]})),
        task({"row": 6}),
        task({"row": 7}, note({"choices": ["dog"]}, was_cancelled=True)),
        task({"row": 8}, note({"choices": ["dog"]}, was_cancelled=True), note({"choices": ["cat"]})),
        task({"row": "9"}, note({"choices": ["cat"]}), note({"choices": ["cat"]})),
        task({"row": 1}, note({"choices": ["cat", "dog"]})),
        task({"row": 2}, note({"x": 1, "rectanglelabels": ["car"]}, {"x": 2, "rectanglelabels": ["car"]})),
        task({"row": 0}, note()),
    ]
    labels = read_labels(write(tmp_path, export, "export.json"), None, 10)
    check(labels, [3, 4, 5, 8, 9, 1, 2], ["cat", "PER", "free words", "cat", "cat", "cat|dog", "car"])


def test_annotators_who_differ_are_outvoted_or_listed(tmp_path):
    export = [
        task({"row": 3, "id": "003"}, *(note({"choices": [one]}) for one in ("dog", "cat", "cat"))),
        task({"row": 4, "id": "004"}, *(note({"choices": [one]}) for one in ("dog", "cat"))),
        task({"row": 5, "id": "005"}, note({"choices": ["cat", "dog"]}), note({"choices": ["dog", "cat"]})),
        task(
            {"row": 6, "id": "006"}, note({"choices": ["cat"]}), note(), note({"choices": ["dog"]}, was_cancelled=True)
        ),
        task({"row": 7, "id": "007"}, *(note({"choices": [one]}) for one in ("a", "b", "c", "b", "a"))),
    ]
    labels = read_labels(write(tmp_path, export, "export.json"), IDS, 10)
    check(labels, [3, 5, 6], ["cat", "cat|dog", "cat"])
    outvoted, ties = labels.notes
    assert "1 item:" in outvoted
    assert "2 items" in ties
    assert "004 (dog or cat), 007 (a or b or c)" in ties
    flat = [{"row": t["data"]["row"], "annotation_id": 1, "label": n["result"] and n["result"][0]["value"]}
            for t in export for n in t["annotations"] if not n["was_cancelled"]]  # fmt: skip
    again = read_labels(write(tmp_path, flat, "flat.json"), None, 10)
    check(again, [3, 5, 6], ["cat", "cat|dog", "cat"])
    assert len(again.notes) == 2


def test_labels_of_a_table_are_as_they_are(tmp_path):
    pl.DataFrame({"row": [1, 2], "label": [["a", "b"], ["c"]]}).write_parquet(tmp_path / "l.parquet")
    with pytest.raises(UserError, match=r"l.parquet: the label of entry 1 is \['a', 'b'\]: give one word or number"):
        read_labels(tmp_path / "l.parquet", None, 10)
    check(read_labels(write(tmp_path, [{"row": 1, "label": "[2]"}], "l.json"), None, 10), [1], ["[2]"])


def test_two_tasks_of_one_item_are_two_votes(tmp_path):
    twice = [task({"row": 3}, note({"choices": ["cat"]})), task({"row": 3}, note({"choices": ["dog"]}))]
    labels = read_labels(write(tmp_path, twice, "export.json"), None, 10)
    check(labels, [], [])
    assert len(labels.notes) == 1


def test_what_else_is_in_an_annotation_is_not_its_label(tmp_path):
    ours = {"from_name": "label", "type": "choices", "value": {"choices": ["cat"]}}
    note_too = {"from_name": "remark", "type": "textarea", "value": {"text": ["blurred"]}}
    relation = {"type": "relation", "from_id": "a", "to_id": "b"}
    export = [
        {"data": {"row": 1}, "annotations": [{"result": [note_too, ours]}]},
        {"data": {"row": 2}, "annotations": [{"result": [note_too, relation]}], "predictions": [{"result": [ours]}]},
        {"data": {"row": 3}, "annotations": [], "predictions": [{"result": [ours]}]},
        {"data": {"row": 4}, "annotations": None},
        task({"row": 5}, note({"taxonomy": [["animal", "cat"]]})),
    ]
    check(read_labels(write(tmp_path, export, "e.json"), None, 10), [1, 2, 5], ["cat", "blurred", "animal/cat"])


def test_several_labels_in_a_cell_of_a_flat_export(tmp_path):
    cells = ['{""choices"":[""dog"",""cat""]}', "cat", "", "[not json"]
    text = "annotation_id,row,label\n" + "".join(f'{at},{at},"{cell}"\n' for at, cell in enumerate(cells))
    check(read_labels(write(tmp_path, text, "e.csv"), None, 10), [0, 1, 3], ["cat|dog", "cat", "[not json"])
    nested = "[" * 100_000
    check(read_labels(write(tmp_path, f"annotation_id,row,label\n1,2,{nested}\n", "e.csv"), None, 10), [2], [nested])
    plain = text.replace("annotation_id", "number")  # a user's own table is read as it is
    assert read_labels(write(tmp_path, plain, "e.csv"), None, 10).values[0] == '{"choices":["dog","cat"]}'


@pytest.mark.parametrize("id_column", [None, "sku"])
def test_flat_exports_of_our_tasks_name_items_by_their_ids(tmp_path, id_column):
    """The pool has grown since, so row numbers are wrong; and the column `id` is Label Studio's own."""
    flat = [{"id": 1, "mheal_id": "007", "row": 2, "label": "cat", "annotation_id": 4}]
    check(read_labels(write(tmp_path, flat, "e.json"), IDS, 10, id_column=id_column), [7], ["cat"])
    check(read_labels(write(tmp_path, flat, "e.json"), None, 10), [2], ["cat"])
    cells = write(tmp_path, "id,mheal_id,row,label,annotation_id\n1,007,2,cat,4\n", "e.csv")
    check(read_labels(cells, IDS, 10, id_column=id_column), [7], ["cat"])


@pytest.mark.parametrize("key", ["rating", "number"])
def test_label_studio_numbers(tmp_path, key):
    export = [task({"row": row}, note({key: row % 3})) for row in (5, 3)]
    check(read_labels(write(tmp_path, export, "export.json"), None, 10), [5, 3], [2, 0])


def test_label_studio_ids_are_those_in_the_data(tmp_path):
    export = [task({"id": "002", "row": 9}, note({"choices": ["cat"]}))]  # the task's own id is 501
    check(read_labels(write(tmp_path, export, "export.json"), IDS, 10), [2], ["cat"])
    check(read_labels(write(tmp_path, [], "export.json"), IDS, 10), [], [])


@pytest.mark.parametrize("name", ["label", "choice", "sentiment"])
def test_label_studio_flat_exports_use_row_since_their_id_is_the_tasks(tmp_path, name):
    flat = {"annotator": 1, "annotation_id": 9, "created_at": "2024-01-01", "lead_time": 2.5}
    export = [
        {"row": 3, "id": 1, name: "cat", **flat},
        {"row": 4, "id": 2, name: {"choices": ["cat", "dog"]}, **flat},
        {"row": 5, "id": 3, name: [{"start": 0, "end": 3, "labels": ["PER"]}], **flat},
        {"row": 6, "id": 4, **flat},
    ]
    file = write(tmp_path, export, "export.json")
    check(read_labels(file, range(10), 10), [3, 4, 5], ["cat", "cat|dog", "PER"])
    file = write(tmp_path, f"annotation_id,id,row,{name}\n9,1,3,cat\n10,2,4,\n", "export.csv")
    check(read_labels(file, range(10), 10), [3], ["cat"])


def test_a_plain_list_of_records(tmp_path):
    file = write(tmp_path, [{"id": "004", "label": "a"}, {"id": "005", "label": None}], "l.json")
    check(read_labels(file, IDS, 10), [4], ["a"])


BAD = {
    "a row outside": (
        "l.csv",
        "row,label\n10,a\n",
        None,
        r"l.csv: there is no row 10: rows of the pool go from 0 to 9",
    ),
    "a negative row": ("l.csv", "row\n-1\n", None, r"l.csv: there is no row -1"),
    "row inf": ("l.csv", "row,label\ninf,x\n", None, r"l.csv: inf is not a row number"),
    "row Infinity": ("l.json", '[{"row": Infinity, "label": "x"}]', None, r"l.json: inf is not a row number"),
    "half a row": ("l.csv", "row\n1.5\n", None, r"l.csv: 1.5 is not a row number"),
    "no number": ("l.csv", "row\n1\nx\n", None, r"l.csv: 'x' is not a row number"),
    "an unknown id": (
        "l.csv",
        "id,label\n77,a\n",
        IDS,
        r"l.csv: no row of the pool has the id '77': the pool's first id is '000'",
    ),
    "two labels": ("l.csv", "row,label\n3,a\n4,a\n3,b\n", None, r"l.csv: row 3 is labelled 'a' and 'b': keep one"),
    "no key": ("l.csv", "row,label\n1,a\n,b\n", None, r"l.csv: entry 2 has no 'row': fill it in"),
    "no column": ("l.csv", "name,label\nx,a\n", None, r"l.csv has no column 'row': it has name, label; .*from 0$"),
    "no column, ids": ("l.csv", "name,label\nx,a\n", IDS, r"l.csv has no column 'row' or 'id': it has name, label; "),
    "no ids": ("l.csv", "id,label\nx,a\n", None, r"l.csv names items by 'id', but the pool was read without ids"),
    "nothing": ("l.csv", "", None, r"cannot read l.csv: it is empty"),
    "no format": (
        "l.doc",
        "",
        None,
        r"cannot read labels from l.doc: use .csv, .tsv, .xlsx, .parquet, .jsonl or Label St",
    ),
    "no json": ("l.json", "[\n{]", None, r"cannot read l.json: line 2 is not JSON"),
    "no tasks": ("l.json", {"row": 1}, None, r"l.json is not a Label Studio export: it should be a list of tasks"),
    "another tag": ("l.json", [task({"row": 1}, note({"x": 1, "y": 2}))], None, r"an annotation holds x, y but no cho"),
    "another name": (
        "l.json",
        [{"row": 1, "annotation_id": 2, "z": 1}],
        None,
        r"the label is in none of label, choice",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_labels(tmp_path, case):
    name, content, ids, message = BAD[case]
    with pytest.raises(ValueError, match=message) as raised:
        read_labels(write(tmp_path, content, name), ids, 10)
    assert "\n" not in str(raised.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file '.*l.csv' to read labels from"):
        read_labels(tmp_path / "l.csv", None, 10)


@pytest.mark.parametrize("ids", [IDS, [*range(10)]], ids=["words", "numbers"])
def test_ids_with_labels_from_excel(tmp_path, ids):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in (("id", "label"), (ids[7], "cat"), (ids[2], None), (ids[5], "dog")):
        book.active.append(line)
    book.save(tmp_path / "l.xlsx")
    check(read_labels(tmp_path / "l.xlsx", ids, 10), [7, 5], ["cat", "dog"])
    check(read_labels(tmp_path / "l.xlsx", ids, 10, id_column="sku"), [7, 5], ["cat", "dog"])


@pytest.mark.parametrize("name", ["Label", "LABEL", " label"])
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_column_of_labels_may_be_written_in_capitals(tmp_path, suffix, name):
    frame = pl.DataFrame({"row": [7, 2], name: ["cat", None]})
    WRITERS[suffix](frame, tmp_path / f"labels{suffix}")
    check(read_labels(tmp_path / f"labels{suffix}", None, 10), [7], ["cat"])
    WRITERS[suffix](frame.with_columns(label=pl.lit("dog")), tmp_path / f"labels{suffix}")
    if name.strip() != "label":
        check(read_labels(tmp_path / f"labels{suffix}", None, 10), [7, 2], ["dog", "dog"])


def test_ids_that_a_spreadsheet_has_saved_without_their_zeros(tmp_path):
    check(read_labels(write(tmp_path, "id,label\n7,cat\n002,dog\n", "l.csv"), IDS, 10), [7, 2], ["cat", "dog"])
    ids = ["7", *IDS[1:]]
    check(read_labels(write(tmp_path, "id,label\n7,cat\n007,dog\n", "l.csv"), ids, 10), [0, 7], ["cat", "dog"])


@pytest.mark.parametrize(("name", "ids"), [("Row", None), ("ROW ", None), ("Id", IDS), ("ID", IDS)])
def test_the_column_that_names_items_may_be_written_in_capitals(tmp_path, name, ids):
    check(read_labels(write(tmp_path, f"{name},Label\n007,cat\n", "l.csv"), ids, 10), [7], ["cat"])


def test_a_last_line_that_was_cut_has_no_label(tmp_path):
    labels = read_labels(write(tmp_path, "row,label\n1,x\n6,", "l.csv"), None, 10)
    assert labels.rows.tolist() == [1]
    assert labels.values.tolist() == ["x"]
