"""Read numbers from text columns: "12,345.00", "€5", "(5)", "5 kg", "3,14", dates, yes and no."""

import re
from itertools import product
from typing import NamedTuple

import polars as pl

MISSING = (
    *("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "?", "-", "--", ".", "missing", "unknown", "n.a."),
    *("k.a.", "k. a.", "keine angabe", "keine angaben", "fehlt", "unbekannt", "n.d.", "n.c.", "s/o"),
    *("non disponible", "non renseigné", "inconnu", "sin datos", "s/d", "ns/nc", "no disponible", "desconocido"),
)
MOSTLY = 0.9  # if at least this share of a column are numbers, its other words count as missing
FEWEST = 10  # but only if it has at least this many numbers
LONGEST = 100  # bytes of a cell; a column that mostly has longer ones holds text
BOOLEANS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"on", "off"})
TRUE = ("true", "yes", "y", "t", "on")
MONEY = "€$£¥₹"
CODES = (  # of currencies, before or after the number
    *("USD", "US$", "EUR", "GBP", "CHF", "JPY", "CNY", "RMB", "INR", "Rs", "Rs.", "CAD", "AUD", "NZD", "SEK", "NOK"),
    *("DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "ZAR", "KRW", "SGD", "HKD", "TRY", "RUB", "ILS", "THB"),
)
BRACKETED = r"^([^\d()]*)\(([^()+-]*\d[^()+-]*)\)([^\d()]*)$"  # how accountants write a negative number
NUMBER = r"\d[\d\s.,'_]*|\.\d+"
UNIT = r"^[\p{L}°µ][^\d\s]{0,11}$"
COMMAS = "decimal commas"
FORMS = {  # how numbers are written
    "": r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?",
    "thousands": r"[+-]?([1-9]\d{0,2}([,\s'_]\d{3})+|\d+)(\.\d+)?",
    COMMAS: r"[+-]?([1-9]\d{0,2}([.\s'_]\d{3})+|\d+)(,\d+)?",
}
DAYS = ("%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d-%m-%y", "%d %B %y", "%d-%B-%y", "%B %d, %y")
DATES = ("%Y-%m-%d", "%Y/%m/%d", *(form for day in DAYS for form in (day, day.replace("%y", "%Y"))), "%Y%m%d")
CLOCK = ("%H:%M:%S%.f", "%H:%M:%S%.fZ", "%H:%M:%S%.f%z")
TIMES = ("", " %H:%M", " %I:%M %p", " %I:%M:%S %p", *(sep + clock for sep in " T" for clock in CLOCK))
SAID = {pl.Duration: "durations", pl.Time: "times of day"}
DATE = re.compile(r"^\d{1,4}[-/. ]\w{1,9}[-/. ,]+\d{1,4}|^[A-Z][a-z]{2,8} \d{1,2}, \d{2,4}|^(19|20)\d{6}$")
DAY = 86_400_000_000  # microseconds


class Converted(NamedTuple):
    """Numbers read from text (null if a cell holds none), how they were written, and the words that are no numbers."""

    values: pl.Series
    written: str
    others: tuple[str, ...] = ()


def without_missing(column: pl.Series) -> pl.Series:
    """A text column, stripped, with "NA", "?" and similar words as null, and a leading "−" as "-"."""
    text = column.str.strip_chars().str.replace(r"^\u2212", "-")
    return text.set(text.str.to_lowercase().is_in(MISSING), None)


def as_numbers(column: pl.Series, commas: bool = False) -> Converted | None:
    """The numbers in a column of dates or of text (from `without_missing`); None if the column holds text.

    commas : read "1,234" as 1.234 rather than 1234, since other columns of the table have decimal commas
    """
    if column.dtype.is_temporal():
        return Converted(days(column), SAID.get(column.dtype.base_type(), "dates"))
    words = column.drop_nulls()
    if words.is_empty() or 2 * (words.str.len_bytes() > LONGEST).sum() > len(words):
        return None
    lower = set(words.str.to_lowercase().unique().head(3))
    if any(lower <= pair for pair in BOOLEANS):
        return Converted(column.str.to_lowercase().is_in(TRUE).cast(pl.Float64), "yes or no")
    return _dates(column, words) or _written(column, words, ("", COMMAS, "thousands") if commas else tuple(FORMS))


def _written(column: pl.Series, words: pl.Series, forms: tuple[str, ...]) -> Converted | None:
    bare, marks = _bare(column)
    found = {form: bare.drop_nulls().str.contains(f"^({FORMS[form]})$") for form in forms}
    form = max(found, key=lambda name: int(found[name].sum()))  # on a tie the first
    numbers_there = int(found[form].sum())
    if numbers_there < MOSTLY * len(words) or (numbers_there < FEWEST and numbers_there < len(words)):
        return None
    values = bare.str.replace_all(r"[\s'_]", "")
    if form == "thousands":
        values = values.str.replace_all(",", "", literal=True)
    elif form:
        values = values.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    numbers, whole = (values.cast(dtype, strict=False) for dtype in (pl.Float64, pl.Int64))
    others = tuple(words.filter(~found[form]).unique(maintain_order=True))
    written = ", ".join(filter(None, (form and f"with {form}", marks)))
    numbers = numbers.set(~numbers.is_finite(), None)
    return Converted(whole if whole.null_count() == numbers.null_count() else numbers, written, others)


def _bare(column: pl.Series) -> tuple[pl.Series, str]:
    """Words reduced to their numbers, and a description of what was removed.

    Brackets become a minus. Currency and percent signs are removed if nearly all words have one, and a unit if all
    words have the same.
    """
    words = column.str.replace(BRACKETED, "-$1$2$3")
    brackets = "" if words.equals(column, null_equal=True) else "with (5) for -5"
    present = words.drop_nulls()
    signs = present.str.extract(f"([%{MONEY}])")
    if unit := _unit(present):
        behind = pl.escape_regex(unit)
        words = words.str.replace(rf"\s*{behind}$", "")
        if unit in CODES:
            words = words.str.replace(rf"^([+-]?)\s*{behind}\s*", "$1")
        mark = f"with {unit}"
    elif signs.null_count() <= (1 - MOSTLY) * len(present):
        words = words.str.replace(rf"^([+-]?)\s*[{MONEY}]\s*", "$1").str.replace(rf"\s*[%{MONEY}]$", "")
        mark = f"with {' and '.join(signs.drop_nulls().unique().sort())}"
    else:
        mark = ""
    return words, ", ".join(filter(None, (mark, brackets)))


def _unit(words: pl.Series) -> str:
    """The unit or currency code that all words have next to a single number; "" if there is none."""
    units = words.str.replace(NUMBER, "").str.strip_chars(" +-").unique()
    unit = str(units[0]) if len(units) == 1 else ""
    known = unit in CODES or (units.str.contains(UNIT)[0] and words.str.ends_with(unit).all())
    return unit if unit and known else ""


def _dates(column: pl.Series, words: pl.Series) -> Converted | None:
    """Days since 1970, if all words are dates of one form. The description names a form that may be ambiguous."""
    if not DATE.match(words[0]):
        return None
    for form in map("".join, product(DATES, TIMES)):
        if words.head(1).str.to_datetime(form, strict=False).null_count():
            continue
        if not words.str.to_datetime(form, strict=False, time_unit="us").null_count():
            written = "dates" if form.startswith("%Y") else f"dates as {form}"
            return Converted(days(column.str.to_datetime(form, strict=False, time_unit="us")), written)
    return None


def days(moments: pl.Series) -> pl.Series:
    """Dates, times or durations as days."""
    dtype = moments.dtype
    if dtype == pl.Date:
        moments = moments.cast(pl.Datetime("us"))
    elif dtype == pl.Time:
        return moments.cast(pl.Int64).cast(pl.Float64) / (DAY * 1000)
    unit = {"ms": 1000, "us": 1, "ns": 0.001}[getattr(moments.dtype, "time_unit", None) or "us"]
    return moments.cast(pl.Int64).cast(pl.Float64) * unit / DAY
