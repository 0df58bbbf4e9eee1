"""Errors for mistakes of the user. Any other exception that mheal raises is a bug."""


class UserError(ValueError):
    """A mistake of the user. The message is one line that says what to do instead."""


class UserTypeError(UserError, TypeError):
    """The same, for a value of the wrong type."""


class UserFileError(UserError, FileNotFoundError):
    """The same, for a file or folder that does not exist, or cannot be read or written."""
