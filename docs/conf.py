"""How Sphinx builds these pages: `make docs`."""

import inspect
import re
from itertools import pairwise
from typing import Any

import mheal

project = "mheal"
author = "the mheal developers"
version = release = mheal.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.mathmpl",  # formulas as pictures: a page needs nothing from the network
]
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "auto_examples/**/*.py", "auto_examples/**/*.md5"]
default_role = "py:obj"  # `select` is a link where it is the name of an object, else code

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what each parameter may be
napoleon_google_docstring = False
python_display_short_literal_types = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "subsection_order": [f"../examples/{name}" for name in ("start", "data", "models", "inside")],
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("mheal",),
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "nested_sections": False,
    "min_reported_time": 1000,  # seconds: times on the builder's machine tell a reader nothing
}
mathmpl_fontsize = 12.0
mathmpl_srcset = ["2x"]

html_theme = "pydata_sphinx_theme"
html_title = f"mheal {version}"
html_static_path = ["_static"]
html_css_files = ["mheal.css"]
html_show_sourcelink = html_copy_source = html_show_copyright = False
html_sidebars = {"index": [], "start": []}
html_theme_options = {
    "logo": {"text": "mheal"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": [],
    "footer_end": [],
    "pygments_light_style": "tango",
}

HEADINGS = {"Parameters": "param", "Attributes": "ivar"}
ENTRY = re.compile(r"(\w+(?:, \w+)*) : (.*)")


def list_fields(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Make fields of the lines `name : text`: of parameters of `obj`, of attributes, or of neither.

    It comes before napoleon, which would take the text for a type, and looks for such lines below headings only.
    """
    known = parameters(obj) if callable(obj) else set()
    kind, listed = "param", []
    for before, line in pairwise(["", *lines]):
        if line in HEADINGS:
            kind = HEADINGS[line]
        elif before not in HEADINGS:
            entry = ENTRY.match(line)
            field = entry and (f"{kind} {entry[1]}" if kind == "ivar" or entry[1] in known else entry[1])
            listed.append(f":{field}: {entry[2]}" if entry else line)
    lines[:] = listed


def parameters(obj: Any) -> set[str]:
    """The names of the parameters of a function, or of what makes a class."""
    try:
        return {*inspect.signature(obj).parameters}
    except (TypeError, ValueError):
        return set()


def setup(app: Any) -> None:
    """Let Sphinx call `list_fields` before napoleon."""
    app.connect("autodoc-process-docstring", list_fields, priority=400)
