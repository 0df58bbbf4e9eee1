"""The words of the arena's page."""

HEAD = ""
ROUNDS_HEAD = ""
TAIL = ""
