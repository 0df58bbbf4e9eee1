"""How much memory reading a pool takes, estimated from headers, footers, directories and first rows."""

from typing import TYPE_CHECKING

from ..exceptions import UserError
from ..runtime.files import reading
from ..runtime.memory import unpacked
from .locate import Located

if TYPE_CHECKING:
    import polars as pl

READER = 60_000_000  # bytes that Polars itself takes
READING = 4  # peak of reading Parquet files, as a multiple of the bytes of their columns
COPIES, CELL = 2, 16  # of a text file and of its columns in memory, and bytes for each number in X; both measured
WORDS, EMBEDDED = 16, 1_200  # TF-IDF takes this multiple of the bytes of the texts, and this many bytes a text
IMAGE, PIXEL = 50_000, 8  # bytes of an image at its common size, and of a pixel that is decoded
SHEET = 8  # peak of reading a workbook, as a multiple of its XML
FIRST = 1 << 18  # bytes of the first rows


def bytes_to_read(found: Located, first: int = FIRST) -> int:
    """At most about how many bytes reading a pool takes; 0 for a single .npy file, which is mapped.

    first : bytes of the first rows, from which text files are judged
    """
    total = sum(file.stat().st_size for file in found.files)
    if found.form == ".npy":
        return 0 if len(found.files) == 1 else 2 * total
    if found.form in (".npz", ".xlsx"):
        factor = 2 if found.form == ".npz" else SHEET
        with reading(found.files[0]):
            return factor * sum(map(unpacked, found.files))
    if found.form == "images":
        from ..embed.images import in_chunks, opened

        seen = in_chunks(lambda file: opened(file, lambda image: image.width * image.height), found.files, "", None)
        most = max((pixels for pixels in seen if not isinstance(pixels, str)), default=0)
        return IMAGE * len(found.files) + PIXEL * most
    if found.form == ".parquet":
        from .shards import expected_shape

        rows, columns = expected_shape(found.files)
        return READER + READING * 8 * rows * columns
    share = total / max(1, min(first, found.files[0].stat().st_size))
    if found.form == ".txt":
        with reading(found.files[0]), found.files[0].open("rb") as content:
            return READER + WORDS * total + int(EMBEDDED * share * (1 + content.read(first).count(b"\n")))
    from .tables import read_frame

    try:
        frame = read_frame(found.files[0], most=first)
    except UserError:  # the last of the first rows is cut; other errors come when all are read
        return READER + WORDS * total
    return READER + int(COPIES * total + share * _of_rows(frame))


def _of_rows(frame: "pl.DataFrame") -> int:
    """Bytes that rows of a text file become."""
    import polars as pl

    from ..tables.schema import MAX_CATEGORIES

    different = [column.n_unique() for column in frame if column.dtype == pl.String]
    width = frame.width - len(different) + sum(count for count in different if count <= MAX_CATEGORIES)
    lists = sum(int(column.list.len().sum()) for column in frame if column.dtype == pl.List)
    words = 0 if width else WORDS * frame.estimated_size() + EMBEDDED * len(frame)
    return int(COPIES * frame.estimated_size() + CELL * (len(frame) * width + lists) + words)
