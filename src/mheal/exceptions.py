"""Errors that are the user's to mend. Anything else that is raised is a fault of mheal's own."""


class UserError(ValueError):
    """A mistake in what was asked for; the message is one line that says what to do instead."""


class UserTypeError(UserError, TypeError):
    """The same, for a value of the wrong type."""


class UserFileError(UserError, FileNotFoundError):
    """The same, for a file or folder that is not there, or cannot be used."""
