"""Errors that the user can fix, and warnings about data. Any other exception is a bug in mheal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LONGEST = 300  # characters of a message
LISTED = 20  # names or rows that a message lists


class UserError(ValueError):
    """An invalid argument or input file; the message is one line that says what to do instead."""

    def __str__(self) -> str:
        """The message in one line, shortened in the middle if it is long. Unprintable characters are escaped."""
        words = " ".join(super().__str__().split())
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 101]}…{text[-100:]}"


class UserTypeError(UserError, TypeError):
    """A UserError for a value of the wrong type."""


class UserFileError(UserError, FileNotFoundError):
    """A UserError for a file or folder that does not exist or cannot be used."""


class DataWarning(UserWarning):
    """Reports how columns of a table were handled: left out, parsed as numbers, or imputed."""


def how_many(n: int, one: str, more: str = "") -> str:
    """A number of things: "1 row", "2 rows"; `more` is the plural, if it is not formed by an s."""
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def shortened(names: Any, n: int = LISTED) -> str:
    """The first n of some names or row numbers for a message and, if there are more, their total number."""
    return ", ".join(map(str, names[:n])) + (f", … ({len(names):,} in all)" if len(names) > n else "")


@contextmanager
def user_code(failure: str, remedy: str) -> Iterator[None]:
    """Turn errors of the user's own code into a UserError: one line with the failure, the error and the remedy."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{failure} ({type(error).__name__}: {reason}): {remedy}") from error
