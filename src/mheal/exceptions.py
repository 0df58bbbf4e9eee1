"""Errors that the user can fix, any other exception is a bug in mheal; and warnings about data."""


class UserError(ValueError):
    """An invalid argument or input file; the message is one line that says what to do instead."""


class UserTypeError(UserError, TypeError):
    """The same, for a value of the wrong type."""


class UserFileError(UserError, FileNotFoundError):
    """The same, for a file or folder that does not exist or cannot be used."""


class DataWarning(UserWarning):
    """What was done with columns of a table that are not plain numbers: left out, read as numbers, filled in."""
