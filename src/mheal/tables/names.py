"""Recognise columns of labels, ids and codes by their names and the form of their values."""

import re
from unicodedata import normalize

import polars as pl

ANSWERS = (
    *("label", "labels", "target", "targets", "class", "classes", "y", "y_true", "answer", "answers", "truth"),
    *("ground_truth", "groundtruth", "gold", "gold_label", "annotation", "annotations", "true_label", "outcome"),
    *("klasse", "klassen", "zielvariable", "classe", "etiquette", "etiquettes", "cible", "clase", "clases"),
    *("etiqueta", "etiquetas", "objetivo"),
)
TOPICS = {*("category", "categories", "kategorie", "kategorien", "categorie", "categoria"), "sentiment"}
INDEXES = ("", "Unnamed: 0", "__index_level_0__", "index")  # names under which pandas writes its index
ID = re.compile(r"(^|[^a-z])(id|ids|uuid|guid|uid|key|pk)$|^(id|uuid|guid)[^a-z]|[a-z](Id|ID|Uuid|UUID)$")
NUMBERED = re.compile(r"(^|[^a-z])(nr|no|numero|nummer|identifiant|identificador)\.?$|nummer$|^(n[°o]|nr)\.?[ _]")
CODE = re.compile(
    r"(^|[^a-z])(zip|zipcode|zip_?code|postal|postcode|post_?code|postal_?code|plz|phone|phones|phone_?(number|no)|tel"
    r"|telephone|mobile|fax|ssn|isbn|iban|ean|upc|sku|account_?(number|no)|barcode|imei|serial(_?(number|no))?)($|[^a-z])"
)
TIME = re.compile(r"time|date|stamp|(^|_)(ts|at|epoch)$")
LONG = 10**9  # whole numbers of this size or larger that hardly repeat are ids or phone numbers
RARE = 0.95  # share of different values from which values hardly repeat
IDS = "ids"
UUID = r"^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$"


def is_answer(name: str) -> bool:
    """Whether a column of this name holds labels."""
    return re.sub(r"[^a-z]+", "_", plain(name)).strip("_") in ANSWERS


def plain(name: str) -> str:
    """A name in small letters without accents."""
    return "".join(c for c in normalize("NFKD", name.strip().lower()) if not "\u0300" <= c <= "\u036f")


def is_id(name: str) -> bool:
    """Whether a column of this name holds ids of rows."""
    return bool(ID.search(name) or ID.search(name.lower()))


def code(name: str, values: pl.Series) -> str | None:
    """Why a column of numbers or words is a code rather than a measurement; None if it may be a measurement."""
    if CODE.search(name.lower()):
        return "a code, such as a postal code or a phone number"
    present = values.drop_nulls()
    named = NUMBERED.search(plain(name)) and (present.dtype.is_integer() or present.dtype == pl.String)
    if named and present.n_unique() >= RARE * len(present):  # else it may be a count
        return IDS
    if present.dtype == pl.String:
        return IDS if present.head(100).str.contains(UUID).any() else None
    if not present.dtype.is_integer() or len(present) < 3:
        return None
    step = present.cast(pl.Int64, strict=False).diff().drop_nulls()
    if len(present) >= 20 and len(step) and (step == 1).all():
        return "counts the rows"
    long = bool((present.cast(pl.Float64).abs() >= LONG).all())
    if long and present.n_unique() >= RARE * len(present) and not TIME.search(name.lower()):
        return "long numbers, such as ids"
    return None
