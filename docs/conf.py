"""How Sphinx builds these pages: `make docs`."""

import re
from typing import Any

import mheal

project = "mheal"
version = release = mheal.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
autodoc_mock_imports = ["baal"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False
html_theme = "alabaster"
html_theme_options = {"description": "Which of your unlabelled items should you label?"}


def list_fields(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Make a list of `name : text` lines that stand outside a section."""
    lines[:] = [re.sub(r"^(\w+(?:, \w+)*) : ", r":\1: ", line) for line in lines]


def setup(app: Any) -> None:
    """Let Sphinx call `list_fields` after napoleon."""
    app.connect("autodoc-process-docstring", list_fields, priority=600)
