import polars as pl
import pytest

from mheal.exceptions import UserError
from mheal.tables.names import is_answer, is_id
from mheal.tables.schema import choose
from mheal.tables.table import Table, repeating

NUMBERS = {"a": [1.0, 2.5, 3.0, 4.0], "b": [4, 9, 6, 1]}


def chosen(held, **options):
    return choose(Table.of(pl.DataFrame(held), "pool.csv"), **options)


@pytest.mark.parametrize("name", ["label", "Labels", "TARGET", "class", "class_", "y", "ground truth", "outcome"])
def test_columns_named_like_an_answer_are_left_out(name):
    schema = chosen(NUMBERS | {name: [0, 1, 0, 1]})
    assert schema.names == ["a", "b"]
    assert schema.left_out == {name: f"named like labels; --with {name} uses it"}
    assert schema.answers == (name,)
    assert name in schema.description
    assert chosen(NUMBERS | {name: [0, 1, 0, 1]}, also=[name]).names == ["a", "b", name]
    assert chosen(NUMBERS | {name: [0, 1, 0, 1]}, columns=["a", name]).names == ["a", name]


def test_y_beside_x_is_a_coordinate_if_it_has_fractions():
    x = {"x": [0.5, 1.0, 2.0, 4.0]}
    assert chosen(x | {"y": [0.0, 1.0, 0.25, None]}).names == ["x", "y"]
    assert chosen(x | {"y": [0.0, 1.0, 0.0, 1.0]}).answers == ("y",)
    assert chosen(x | {"y": [0, 1, 0, 1]}).answers == ("y",)
    assert chosen(x | {"y": [*"abab"]}).answers == ("y",)
    assert chosen({"x1": x["x"], "y": [0.0, 1.0, 0.25, 0.5]}).answers == ("y",)
    assert chosen(x | {"y": [0.0, 1.0, 0.25, 0.5]}, answers=["y"]).answers == ("y",)


def test_columns_known_to_hold_the_answer_are_left_out():
    schema = chosen(NUMBERS | {"status": ["good", "bad", "bad", "good"]}, answers=["status"])
    assert (schema.names, schema.answers) == (["a", "b"], ("status",))


@pytest.mark.parametrize("name", ["Klasse", "étiquette", "E\u0301tiquette", "Classe", "clase", "etiqueta"])
def test_labels_are_known_in_other_languages(name):
    schema = chosen(NUMBERS | {name: ["good", "bad", "bad", "good"]})
    assert (schema.names, schema.answers) == (["a", "b"], (name,))
    assert f"--with {name} uses it" in schema.description
    assert name in chosen(NUMBERS | {name: ["good", "bad", "bad", "good"]}, also=[name]).names


@pytest.mark.parametrize("name", ["category", "Kategorie", "catégorie", "Categoría"])
def test_topics_are_hidden_beside_texts_and_features_beside_numbers(name):
    topics = ["good", "bad", "bad", "good"]
    assert chosen(NUMBERS | {name: topics}).names == ["a", "b", name]
    schema = chosen({"text": [f"a long sentence about item number {i}" for i in range(40)], name: topics * 10})
    assert (schema.text_column, schema.answers) == ("text", (name,))
    assert f"{name} (named like labels; --text text --with {name} shows it)" in schema.description
    shown = chosen({"text": ["x", "y", "z", "w"], name: topics}, text_column="text", also=[name])
    assert shown.answers == ()


def test_a_column_repeats_labels_that_were_typed_in_other_letters():
    rows = pl.DataFrame({"status": ["Good", "bad"] * 6, "other": ["good", "bad", "good"] * 4})
    assert repeating(rows, [" good", "Bad"] * 6) == ["status"]


@pytest.mark.parametrize("name", ["Kunden-Nr", "Nr.", "Kundennummer", "numéro", "Número", "N° client", "customer no"])
def test_numbers_of_customers_are_ids_unless_they_repeat(name):
    schema = chosen({name: [30, 11, 72, 14]} | NUMBERS)
    assert (schema.id_column, schema.names) == (name, ["a", "b"])
    schema = chosen({name: [3, 1, 3, 1]} | NUMBERS)
    assert (schema.id_column, schema.names) == (None, [name, "a", "b"])
    assert name in chosen({name: [30, 11, 72, 14]} | NUMBERS, also=[name]).names


@pytest.mark.parametrize("name", ["label_smoothing", "classroom", "yield", "targeted", "category"])
def test_other_names_are_no_answers(name):
    assert not is_answer(name)


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "customerId", "CustomerID", "uuid", "row_id", "id_number"])
def test_columns_named_like_an_id_name_the_rows(name):
    assert is_id(name)
    schema = chosen({name: ["u", "v", "w", "x"]} | NUMBERS)
    assert (schema.id_column, schema.names) == (name, ["a", "b"])


@pytest.mark.parametrize("name", ["grid", "paid", "valid", "keyboard", "idle"])
def test_other_names_are_no_ids(name):
    assert not is_id(name)


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_an_unnamed_first_column_names_the_rows(name):
    assert chosen({name: [7, 8, 5, 3]} | NUMBERS).id_column == name


def test_an_id_that_repeats_is_no_feature():
    schema = chosen({"customer_id": [1, 1, 2, 3]} | NUMBERS)
    assert (schema.id_column, schema.names, schema.left_out) == (None, ["a", "b"], {"customer_id": "an id"})


@pytest.mark.parametrize(
    ("ids", "message"),
    [([1, 2, 2, 3], "rows 1 and 2 have the same id 2 in column 'id'"), ([1, None, 2, 3], "row 1 has no id")],
)
def test_a_column_called_id_must_name_each_row(ids, message):
    with pytest.raises(UserError, match=message):
        chosen({"id": ids} | NUMBERS)
    assert chosen({"id": ids} | NUMBERS, without=["id"]).id_column is None


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("zip", [10115, 20095, 80331, 10115], "a code, such as a postal code or a phone number"),
        ("postal_code", [10115, 20095, 80331, 10115], "a code, such as a postal code or a phone number"),
        ("phone", [491701234567, 491701234568, 491701234569, 5], "a code, such as a postal code or a phone number"),
        ("reference", [4000000001, 4000000007, 4000000003, 4000000009], "long numbers, such as ids"),
    ],
)
def test_codes_are_features_only_where_they_are_chosen(name, values, reason):
    schema = chosen(NUMBERS | {name: values})
    assert (schema.names, schema.left_out) == (["a", "b"], {name: reason})
    assert name in chosen(NUMBERS | {name: values}, also=[name]).names


def test_a_counter_is_no_feature():
    rows = pl.DataFrame({"z": range(1, 31), "a": [i * i % 7 for i in range(30)]})
    assert choose(Table.of(rows, "pool.csv")).left_out == {"z": "counts the rows"}


@pytest.mark.parametrize(
    "columns",
    [
        {"label": [0, 1, 0, 1]},
        {"id": [3, 1, 2, 4]},
        {"id": [3, 1, 2, 4], "target": ["a", "b", "a", "b"]},
        {"user_id": [1, 1, 2, 2]},
    ],
)
def test_a_table_of_nothing_but_ids_and_answers_is_refused(columns):
    with pytest.raises(UserError, match=r"no column that separates its rows.*--columns"):
        chosen(columns)


def test_long_numbers_and_counters_that_are_written_as_text_are_no_features():
    phones, a = [f"0{1_700_000_000 + 977 * i * i}" for i in range(40)], [i * i % 41 for i in range(40)]
    schema = chosen({"call": [None, *phones[1:]], "n": [f"{i:03d}" for i in range(40)], "a": a})
    assert (schema.names, [*schema.left_out]) == (["a"], ["call", "n"])


def test_words_that_are_numbers_are_said():
    schema = chosen(NUMBERS | {"price": ["€5", "€1,000", "€7", "€8"]})
    assert "price [with thousands, with €]" in schema.description


def test_every_number_is_named_up_to_ten():
    schema = chosen({f"c{i}": [1.5, 2, 0, i] for i in range(13)})
    assert "13 numeric columns (c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, … (13 in all))" in schema.description


def test_columns_read_as_numbers_are_named_before_others():
    schema = chosen({f"c{i}": [1.0, 2.5, 3.0, 4.0] for i in range(12)} | {"rate": ["1%", "5%", "2%", "9%"]})
    assert "(rate [with %], c0, " in schema.description
    assert schema.names[-1] == "rate"


def test_texts_beside_labels_are_read():
    texts = [f"a longer text about matter number {i}" for i in range(40)]
    schema = chosen({"text": texts, "category": [f"kind {i % 25}" for i in range(40)]})
    assert schema.text_column == "text"
    assert "category" in schema.left_out


@pytest.mark.parametrize("beside", [["news", "sport"] * 20, [1, 2, 3, 4, 5] * 8, ["yes", "no"] * 20])
def test_a_column_that_tells_few_rows_apart_is_no_feature_beside_texts(beside):
    texts = [f"a longer text about matter number {i}" for i in range(40)]
    schema = chosen({"text": texts, "topic": beside})
    assert (schema.text_column, schema.names, schema.left_out) == ("text", [], {"topic": "not the text"})
    assert chosen({"text": texts, "topic": beside}, also=["topic"]).names == ["topic"]
    assert chosen({"text": texts, "size": [i * i % 41 for i in range(40)]}).names == ["size"]


def test_two_columns_of_texts_are_refused():
    texts = [f"a longer text about matter number {i}" for i in range(40)]
    with pytest.raises(UserError, match=r"title.*--text"):
        chosen({"title": texts, "body": texts[::-1], "topic": ["news", "sport"] * 20})


@pytest.mark.parametrize("odd", [None, "c0"])
def test_a_column_that_names_nearly_all_rows_must_name_each(odd):
    ids = [f"c{i}" for i in range(39)] + [odd]
    with pytest.raises(UserError, match="39.*customer_id.*--without" if odd is None else "0 and 39.*--without"):
        chosen({"customer_id": ids, "a": [i * i % 41 for i in range(40)]})


def test_columns_of_uuids_name_the_rows_whatever_their_name():
    ids = [f"{i:08x}-0000-4000-8000-000000000000" for i in (7, 3, 9, 1)]
    schema = chosen(NUMBERS | {"ref": ids})
    assert (schema.id_column, schema.names) == ("ref", ["a", "b"])
    assert schema.description.endswith("ids: ref")
