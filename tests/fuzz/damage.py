"""Functions that damage files as disks, transfers, editors and attackers do."""

import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any

WORDS = (
    b"inf", b"-inf", b"nan", b"", b"-1", b"0", b"1e999", b"1e-999", b"9223372036854775808", b"18446744073709551616",
    b"6,", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b'""', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n\r\n",
    b"null", b"true", b"{}", b"[]", b"=1+1", b"\x1b[31m", "é".encode("latin-1"), "數據".encode(), b"2024-01-01",
    b"12,345.00", b"1_000", b"0x10", b"\xed\xa0\x80", b"A" * 5000, b"," * 300, b"[" * 3000, b'{"a":' * 3000, b"-0.0",
    b"row", b"id",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 3, 1.5, 1e308, 2**63, 2**64, 10**30, "", "x", "inf", "\ud800", [], {}, [[]], [None], {"a": 1},
    [1, "a"], {"choices": []}, {"choices": [[]]}, {"choices": None}, {"choices": {"a": []}}, [1.5, [2]],
)  # fmt: skip
NUMBERS = (b"-1", b"0", b"7", b"2**40", b"99999999999", b"4611686018427387904", b"9" * 30, b"1.5", b"None", b"'x'")
TYPES = (
    b"<f8",
    b"|O",
    b"<U9",
    b"<c16",
    b"|V4",
    b"<M8[s]",
    b"|S0",
    b"<f3",
    b"junk",
    b"<i8",
    b"|b1",
    b">f4",
    b"<U9999999",
)


def flip(data: bytes, rng: random.Random) -> bytes:
    """Flip a few bits."""
    if not data:  # an empty file in an archive
        return insert(data, rng)
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 40))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def overwrite(data: bytes, rng: random.Random) -> bytes:
    """Overwrite some bytes by other bytes or zeros."""
    if not data:
        return insert(data, rng)
    out = bytearray(data)
    start, length = rng.randrange(len(out)), rng.choice((1, 2, 4, 8, 64))
    new = rng.choice((b"\0", b"\xff", rng.randbytes(1))) * length
    out[start : start + length] = new[: len(out) - start]
    return bytes(out)


def cut(data: bytes, rng: random.Random) -> bytes:
    """Remove the beginning, the end, or all but a part in the middle."""
    at, then = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return rng.choice((data[:then], data[at:], data[:at] + data[then:], data[:at]))


def insert(data: bytes, rng: random.Random) -> bytes:
    """Insert a word that readers may misinterpret, anywhere or between two delimiters."""
    places = [0, len(data), *(match.end() for match in re.finditer(rb'[,;\t\n:"\[{]', data))]
    at = rng.choice(places) if rng.random() < 0.7 else rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(WORDS) + data[at:]


def replace_cell(data: bytes, rng: random.Random) -> bytes:
    """Replace the content between two delimiters."""
    cells = list(re.finditer(rb'[^,;\t\r\n:"\[\]{}]+', data))
    if not cells:
        return insert(data, rng)
    cell = rng.choice(cells)
    return data[: cell.start()] + rng.choice(WORDS) + data[cell.end() :]


def repeat(data: bytes, rng: random.Random) -> bytes:
    """Repeat a part of the file."""
    at, then = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return data[:then] + data[at:then] * rng.choice((1, 1, 20)) + data[then:]


def header(data: bytes, rng: random.Random) -> bytes:
    """Change the shape, type or order in the header of a .npy file, also inside an archive."""
    found = re.search(rb"\{'descr': '([^']*)', 'fortran_order': (\w+), 'shape': \(([^)]*)\), \}", data)
    if found is None:
        return flip(data, rng)
    part = rng.randint(1, 3)
    shape = b", ".join(rng.choice(NUMBERS) for _ in range(rng.randint(0, 4))) + rng.choice((b"", b","))
    new = {1: rng.choice(TYPES), 2: rng.choice((b"True", b"0", b"x")), 3: shape}[part]
    return data[: found.start(part)] + new + data[found.end(part) :]


def member(data: bytes, rng: random.Random) -> bytes:
    """Damage a file in an archive, and correct its checksum."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return flip(data, rng)
    if not parts:
        return flip(data, rng)
    name = rng.choice([*parts])
    parts[name] = rng.choice((flip, header, header, cut, insert, overwrite, replace_cell))(parts[name], rng)
    if rng.random() < 0.1:
        parts[rng.choice(("../x", "X", "y.npy", name + "x"))] = parts.pop(name)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for key, content in parts.items():
            archive.writestr(key, content)
    return out.getvalue()


def value(data: bytes, rng: random.Random) -> bytes:
    """Replace a value in JSON by one of another type, or by a deeply nested one."""
    text = data.decode(errors="ignore")
    lines = text.splitlines() if text.startswith("{") else [text]
    at = rng.randrange(len(lines)) if lines else 0
    try:
        tree = json.loads(lines[at])
    except (ValueError, IndexError, RecursionError):
        return replace_cell(data, rng)
    lines[at] = json.dumps(_changed(tree, rng))
    return "\n".join(lines).encode()


def column(data: bytes, rng: random.Random) -> bytes:
    """Replace a field of all JSON objects by values of another type."""
    text = data.decode(errors="ignore")
    try:
        tree = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
        name, some = rng.choice([*tree[0]]), rng.choices(VALUES, k=rng.choice((1, 1, 2)))
        rows = [json.dumps({**row, name: rng.choice(some)}) for row in tree]
    except (ValueError, LookupError, TypeError, RecursionError):
        return replace_cell(data, rng)
    return (f"[{','.join(rows)}]" if text.startswith("[") else "\n".join(rows)).encode()


def _changed(tree: Any, rng: random.Random) -> Any:
    inside = [*tree] if isinstance(tree, dict) else [*range(len(tree))] if isinstance(tree, list) else []
    if not inside or rng.random() < 0.15:
        new = rng.choice(VALUES)
        for _ in range(rng.choice((0, 0, 0, 60))):
            new = [new]
        return new
    key = rng.choice(inside)
    if isinstance(tree, dict) and rng.random() < 0.15:
        return {rng.choice(("", "id", "data", "x")) if name == key else name: one for name, one in tree.items()}
    both = tree.items() if isinstance(tree, dict) else enumerate(tree)
    new = {name: _changed(one, rng) if name == key else one for name, one in both}
    return new if isinstance(tree, dict) else list(new.values())


Mutation = Callable[[bytes, random.Random], bytes]
ANY: tuple[Mutation, ...] = (flip, overwrite, cut, insert, repeat)
BY_SUFFIX: dict[str, tuple[Mutation, ...]] = {
    ".npy": (header, header, *ANY),
    ".npz": (member, member, header, *ANY),
    ".xlsx": (member, member, member, *ANY),
    ".json": (value, value, value, column, replace_cell, *ANY),
    ".jsonl": (value, value, column, column, replace_cell, *ANY),
    ".csv": (replace_cell, replace_cell, replace_cell, *ANY),
    ".tsv": (replace_cell, replace_cell, *ANY),
    ".txt": (replace_cell, *ANY),
    ".parquet": (flip, overwrite, *ANY),
}


def damaged(data: bytes, suffix: str, rng: random.Random) -> bytes:
    """The content of a file after one or several kinds of damage."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if data:
            data = rng.choice(BY_SUFFIX.get(suffix, ANY))(data, rng)
    return data
