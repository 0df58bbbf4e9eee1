"""Text files as tables: encodings, separators, headers and the lines that are wrong."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

from mheal.exceptions import UserError
from mheal.io.read import read_pool


def write(tmp_path, text, name="pool.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def test_csv_without_header_keeps_its_first_row(tmp_path):
    X = load_wine().data
    np.savetxt(tmp_path / "pool.csv", X, delimiter=",")
    np.testing.assert_allclose(read_pool(tmp_path / "pool.csv").X, X, rtol=1e-6)
    numbered = write(tmp_path, "0,1\n5,6\n7,8\n")
    assert len(read_pool(numbered).X) == 2


def test_csv_from_other_programs(tmp_path):
    file = tmp_path / "pool.csv"
    file.write_bytes('\ufeff"name","a"\r\n"é","1"\r\n"ü","2.5"\r\n\r\n\r\n'.encode())
    source = read_pool(file, columns=["name", "a"])
    np.testing.assert_array_equal(source.X, [[1, 1, 0], [2.5, 0, 1]])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_encodings_and_separators_are_found_out(tmp_path, encoding, separator):
    rows = ["größe,farbe,preis"] + [f"{i % 7}.5,{'rötlich' if i % 2 else 'grün'},{i * i % 11}" for i in range(30)]
    (tmp_path / "pool.csv").write_bytes("\n".join(rows).replace(",", separator).encode(encoding))
    source = read_pool(tmp_path / "pool.csv")
    assert source.features == "2 numeric columns (größe, preis) + 1 one-hot encoded (farbe: 2 values)"
    np.testing.assert_array_equal(source.X[:2], [[0.5, 0, 1, 0], [1.5, 1, 0, 1]])


def test_decimal_commas(tmp_path):
    source = read_pool(write(tmp_path, "a;b\n1,5;2\n-0,25;3\n"))
    np.testing.assert_array_equal(source.X, [[1.5, 2], [-0.25, 3]])
    assert "a [with decimal commas]" in source.features


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"e": [1, 2]}', '{"e": [1, 2, 3]}'], "row 1, column 'e' has 3 numbers, but the first has 2"),
        (['{"e": [1, 2]}', '{"e": [1, null]}'], "row 1, column 'e' holds a missing or infinite number"),
        (['{"e": []}', '{"e": [1]}'], "column 'e' begins with an empty list"),
        (['{"e": [1], "f": [2]}'], r"several columns of embeddings \(e, f\): choose columns"),
        (['{"a": 1}', '{"a": '], r"cannot read pool.jsonl: line 2 is not JSON"),
        (['{"a": 1}', "", "[1, 2]"], r"cannot read pool.jsonl: line 3 is not a JSON object"),
        ([""], "cannot read pool.jsonl: it is empty"),
    ],
)
def test_bad_jsonl(tmp_path, lines, message):
    with pytest.raises(ValueError, match=message):
        read_pool(write(tmp_path, "\n".join(lines) + "\n", "pool.jsonl"))


def test_a_byte_order_mark_and_blank_first_lines_are_passed_over(tmp_path):
    (tmp_path / "pool.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n')
    np.testing.assert_array_equal(read_pool(tmp_path / "pool.jsonl").X, [[1], [2]])
    np.testing.assert_array_equal(read_pool(write(tmp_path, "\n\na;b\n1;2\n3;4\n")).X, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"a": 1}, "b.jsonl has no column 'b', which a.jsonl has"),
        ({"a": 1, "b": 2, "c": 3}, "b.jsonl has a column 'c', which a.jsonl does not have"),
        ({"a": 1, "b": "x"}, "column 'b' holds text in b.jsonl, but numbers in a.jsonl"),
    ],
)
def test_shards_with_other_columns(tmp_path, other, message):
    write(tmp_path, json.dumps({"a": 1, "b": 2}), "a.jsonl")
    write(tmp_path, json.dumps(other), "b.jsonl")
    with pytest.raises(ValueError, match=message):
        read_pool(tmp_path / "*.jsonl")


def test_a_first_line_of_data_is_no_header(tmp_path):
    (tmp_path / "iris.csv").write_text("5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n")
    assert read_pool(tmp_path / "iris.csv").X.shape == (3, 4)
    (tmp_path / "shares.csv").write_text("name,0.25,0.5\na,1.5,3.5\nb,4.9,3.0\n")
    assert read_pool(tmp_path / "shares.csv").X.shape == (2, 4)


def test_space_around_names_is_no_part_of_them(tmp_path):
    (tmp_path / "pool.csv").write_text("a, b, label\n1,2,x\n3,5,y\n")
    assert read_pool(tmp_path / "pool.csv", columns=["b"]).X.tolist() == [[2], [5]]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n" + "1.5,2.5\n" * 9,
        "1.5\t2.5\n" * 9,
        "x y\n" + "1 2\n" * 9,
        "5.1,3.5,1.4,Iris-setosa\n" * 9,
        "height\n" + "1.85\n" * 9,
    ],
)
def test_a_table_in_a_text_file_is_refused(tmp_path, text):
    (tmp_path / "pool.txt").write_text(text)
    with pytest.raises(UserError, match=r"holds numbers, not texts: .*\.csv"):
        read_pool(tmp_path / "pool.txt")


@pytest.mark.parametrize("line", ["10 apples and 3 pears", "2024-01-05 paid", "3 x M4 screws", "7"])
def test_texts_with_numbers_are_texts(tmp_path, line):
    (tmp_path / "pool.txt").write_text("\n".join([line, *(f"word {i} and more" for i in range(9))]))
    assert len(read_pool(tmp_path / "pool.txt").X) == 10


def test_lines_may_end_as_on_old_computers(tmp_path):
    (tmp_path / "pool.csv").write_bytes(b"a,b\r1,2\r3,4\r")
    assert read_pool(tmp_path / "pool.csv").X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_a_first_line_that_names_the_separator_for_excel_is_no_line_of_the_table(tmp_path, encoding):
    (tmp_path / "pool.csv").write_bytes("sep=;\r\na;b\r\n1;2,5\r\n4;9\r\n".encode(encoding))
    np.testing.assert_array_equal(read_pool(tmp_path / "pool.csv").X, [[1, 2.5], [4, 9]])


@pytest.mark.parametrize("name", ["pool.csv", "pool.txt"])
def test_what_is_no_text_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"a,b\n1,2\n\0,3\n" * 9)
    with pytest.raises(UserError, match=f"{name}: line 3 holds a zero byte, so it is not text: save it as"):
        read_pool(tmp_path / name)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_line_of_too_many_cells_is_named_though_lines_are_few(tmp_path, separator):
    text = "a,b\n1,2\n1,2,3\n".replace(",", separator)
    with pytest.raises(UserError, match="line 3 has 3 cells, but the first line has 2"):
        read_pool(write(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "separator", "said"),
    [
        ("pool.csv", ",", []),
        ("pool.tsv", "\t", []),
        ("pool.csv", "|", ["cells are separated by |"]),
        ("pool.csv", ";", ["cells are separated by semicolons"]),
        ("pool.tsv", ",", ["cells are separated by commas"]),
    ],
)
def test_a_separator_that_the_name_does_not_say_is_said(tmp_path, name, separator, said):
    text = "a,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(30))
    assert read_pool(write(tmp_path, text.replace(",", separator), name)).notes == said
