import polars as pl
import pytest

from mheal.tables.table import Table
from mheal.tables.words import as_numbers, without_missing


def converted(words):
    return as_numbers(without_missing(pl.Series("c", words, dtype=pl.String)))


@pytest.mark.parametrize(
    ("words", "values", "written"),
    [
        (["1", " 2 ", "-3.5", ".5", "1e3"], [1, 2, -3.5, 0.5, 1000], ""),
        (["007", "12"], [7, 12], ""),
        (["12,345.00", "1,000", "7"], [12345, 1000, 7], "with thousands"),
        (["1 234", "5"], [1234, 5], "with thousands"),
        (["3,14", "2,5"], [3.14, 2.5], "with decimal commas"),
        (["1.234,5", "0,25"], [1234.5, 0.25], "with decimal commas"),
        (["0,126", "-0,345", "1,250"], [0.126, -0.345, 1.25], "with decimal commas"),  # no thousands begin with 0
        (["€5", "€ 6.50", "-€3"], [5, 6.5, -3], "with €"),
        (["5 €", "7,5 €"], [5, 7.5], "with decimal commas, with €"),
        (["$1,234.50", "$3"], [1234.5, 3], "with thousands, with $"),
        (["12.5%", "3 %"], [12.5, 3], "with %"),
        (["USD 5", "-USD 6.50", "USD -3"], [5, -6.5, -3], "with USD"),
        (["5 EUR", "1.234,50 EUR"], [5, 1234.5], "with decimal commas, with EUR"),
        (["CHF 5", "6 CHF"], [5, 6], "with CHF"),
        (["Rs. 500", "Rs. 1,200"], [500, 1200], "with thousands, with Rs."),
        (["(5)", "7", "(1,234.50)"], [-5, 7, -1234.5], "with thousands, with (5) for -5"),
        (["$5", "($6)", "$(7)"], [5, -6, -7], "with $, with (5) for -5"),
        (["USD 5", "(USD 6)", "USD (7)"], [5, -6, -7], "with USD, with (5) for -5"),
        (["5 kg", "7.5kg", "-2 kg"], [5, 7.5, -2], "with kg"),
        (["5 m²", "12 m²"], [5, 12], "with m²"),
        (["21 °C", "-3.5 °C"], [21, -3.5], "with °C"),
        (["1,200 km/h", "80 km/h"], [1200, 80], "with thousands, with km/h"),
        (["2,5 kg", "3,25 kg"], [2.5, 3.25], "with decimal commas, with kg"),
        (["5 kg", "300 g"], None, None),  # two units are no one scale
        (["5 kg", "6"], None, None),
        (["5 kg", "heavy"], None, None),
        (["USD 5", "EUR 5"], None, None),
        (["Room 5", "Room 6"], None, None),  # a name, not a quantity
        (["A1", "A2"], None, None),
        (["5-7 kg", "6-8 kg"], None, None),
        (["(555) 12", "(555) 13"], None, None),
        (["1/2", "3/4"], None, None),
        (["2 (two)", "3 (three)"], None, None),
        (["1e5", "2e5"], [1e5, 2e5], ""),
        (["yes", "No", "YES"], [1, 0, 1], "yes or no"),
        (["TRUE", "false"], [1, 0], "yes or no"),
        (["1970-01-03", "1970-02-01"], [2, 31], "dates"),
        (["1970-01-01 12:00:00", "1970-01-02 00:00:00"], [0.5, 1], "dates"),
        (["03/04/1970", "13/04/1970"], [92, 102], "dates as %d/%m/%Y"),  # the day comes first: there is no month 13
        (["4. Jan 1970"], None, None),
        (["02.01.1970", "31.12.1970"], [1, 364], "dates as %d.%m.%Y"),
        (["Jan 5, 1970"], [4], "dates as %B %d, %Y"),
        (["1970-01-02T01:00:00+01:00", "1970-01-02T12:00:00+00:00"], [1, 1.5], "dates"),
        (["12:30", "13:40"], None, None),
        (["12/31/69", "01/01/00"], [36524, 10957], "dates as %m/%d/%y"),
        (["31-Dec-99", "02-Jan-00"], [10956, 10958], "dates as %d-%B-%y"),
        (["January 2, 1970", "May 01, 1970"], [1, 120], "dates as %B %d, %Y"),
        (["01/02/1970 12:00 AM", "01/02/1970 6:00 PM"], [1, 1.75], "dates as %m/%d/%Y %I:%M %p"),
        (["1\u00a0234", "\u22125"], [1234, -5], "with thousands"),
        (["a", "b"], None, None),
        (["1", "2", "x"], None, None),
        (["NA", "?", ""], None, None),
        (["1-2", "3-4"], None, None),
    ],
)
def test_words_become_numbers(words, values, written):
    found = converted(words)
    if values is None:
        assert found is None
    else:
        assert found.values.to_list() == pytest.approx(values)
        assert (found.written, found.others) == (written, ())


@pytest.mark.parametrize("word", ["", " ", "NA", "n/a", "?", "-", "NULL", "None", "nan", "Unknown", "#N/A"])
def test_words_for_nothing_are_missing(word):
    assert converted(["1", word, "3"]).values.to_list() == [1, None, 3]
    assert converted(["yes", word, "no"]).values.to_list() == [1, None, 0]
    assert converted(["2024-01-01", word]).values.null_count() == 1


@pytest.mark.parametrize("word", ["k.A.", "keine Angabe", "unbekannt", "N.D.", "s/o", "Non renseigné", "sin datos"])
def test_words_for_nothing_in_other_languages_are_missing(word):
    assert without_missing(pl.Series([word, "Miete", "sonstige"])).to_list() == [None, "Miete", "sonstige"]


def test_few_other_words_count_as_missing_and_are_named():
    found = converted([*map(str, range(20)), "n.v.", "about 7"])
    assert found.values.null_count() == 2
    assert found.others == ("n.v.", "about 7")


def test_numbers_that_are_not_finite_are_missing():
    assert converted([*map(str, range(20)), "inf"]).values.null_count() == 1


def test_what_may_be_thousands_is_read_as_the_rest_of_the_table():
    words = {"a": ["1,234", "5,678"], "b": ["0,5", "2,25"]}
    assert Table.of(pl.DataFrame(words), "pool.csv").frame["a"].to_list() == [1.234, 5.678]
    assert Table.of(pl.DataFrame(words | {"b": ["0.5", "2.25"]}), "pool.csv").frame["a"].to_list() == [1234, 5678]
