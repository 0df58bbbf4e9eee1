"""Reading requests: sizes and types are checked here, and what is wrong is answered in a sentence."""

import json
import sys
import traceback
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ..exceptions import UserError
from .project import MOST_ROWS, Held
from .store import LONGEST, NotSaved

LARGEST = 2_000_000  # bytes of a request in JSON


async def explained(request: Request, error: Exception) -> Response:
    """Answer a mistake with a sentence."""
    status = 409 if isinstance(error, Held) else 507 if isinstance(error, NotSaved) else 400
    return refused(status, str(error), "held" if status == 409 else "refused")


async def bug(request: Request, error: Exception) -> Response:
    """Answer a bug, and print it where the server runs."""
    traceback.print_exception(error, file=sys.stderr)
    return refused(500, f"this is a bug in mheal: {type(error).__name__}: {error}")


def refused(status: int, why: str, code: str = "refused") -> Response:
    """An answer that refuses."""
    return JSONResponse({"error": why, "code": code}, status)


async def content_of(request: Request, most: int) -> bytes:
    """The body of a request, at most `most` bytes."""
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > most:
            raise UserError(f"more than {most // 1_000_000} MB at once: send less")
    return bytes(content)


async def asked_of(request: Request) -> dict[str, Any]:
    """The body of a request as a JSON object."""
    content = await content_of(request, LARGEST)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UserError("a request is a JSON object")
    return found


def rows_in(given: Any) -> list[int]:
    """Row numbers, each once."""
    if not isinstance(given, list) or len(given) > MOST_ROWS or not all(type(row) is int and row >= 0 for row in given):
        raise UserError(f"rows are a list of at most {MOST_ROWS:,} row numbers")
    return [*dict.fromkeys(given)]


def word_in(given: Any, name: str, least: int = 1) -> str:
    """A short printable text, which is called `name`."""
    if not isinstance(given, str) or not least <= len(given) <= LONGEST or not (given.isprintable() or not given):
        raise UserError(f"{name} is a word of {least} to {LONGEST} printable characters")
    return given


def number_in(given: Any, most: int, least: int = 0) -> int:
    """A whole number from `least` to `most`."""
    if type(given) is not int or not least <= given <= most:
        raise UserError(f"give a number from {least} to {most:,}")
    return given
