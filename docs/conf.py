"""How Sphinx builds these pages: `make docs`."""

import inspect
import re
import shutil
from itertools import pairwise
from pathlib import Path
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
    "myst_parser",
    "matplotlib.sphinxext.mathmpl",  # formulas as pictures: a page needs nothing from the network
]
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "auto_examples/**/*.py", "auto_examples/**/*.md5"]
suppress_warnings = ["myst.xref_missing"]  # pages of results also link to files of the repository
default_role = "py:obj"  # `select` is a link where it is the name of an object, else code

autodoc_mock_imports = ["baal"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what each parameter may be
napoleon_google_docstring = False
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"

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

HERE = Path(__file__).parent
HEADINGS = {"Parameters": "param", "Attributes": "ivar"}
ENTRY = re.compile(r"(\w+(?:, \w+)*) : (.*)")


def list_fields(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Make fields of the lines `name : text`: of parameters of `obj`, of attributes, or of neither.

    It comes before napoleon, which would take the text for a type, and looks for such lines below headings only.
    """
    known = parameters(obj) if callable(obj) else set()
    kind, listed, others = "param", [], []  # others: the further names of an entry
    for before, line in pairwise(["", *lines, ""]):
        if not line.startswith(" "):
            listed, others = listed + others, []
        if line in HEADINGS:
            kind = HEADINGS[line]
        elif before not in HEADINGS:
            if entry := ENTRY.match(line):
                names = entry[1].split(", ")
                if kind == "ivar" or known.issuperset(names):
                    names = [re.sub("_$", r"\_", name) for name in names]  # `labels_` would be a link
                    others = [f":{kind} {name}: see `{names[0]}`" for name in names[1:]]
                    line = f":{kind} {names[0]}: {entry[2]}"
                else:
                    line = f":{entry[1]}: {entry[2]}"
            listed.append(line)
    lines[:] = listed


def parameters(obj: Any) -> set[str]:
    """The names of the parameters of a function, or of what makes a class."""
    try:
        return {*inspect.signature(obj).parameters}
    except (TypeError, ValueError):
        return set()


def copy_results() -> None:
    """Copy the pages of the benchmarks and of the reproduction with their pictures, so that they are pages here too."""
    for folder in ("benchmarks", "reproduction/results"):
        for file in sorted((HERE.parent / folder).rglob("*")):
            if file.suffix in (".md", ".png", ".svg"):
                copy = HERE / "results" / file.relative_to(HERE.parent)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, copy)  # with its time: what has not changed is not built again


def setup(app: Any) -> None:
    """Copy the results, and let Sphinx call `list_fields` before napoleon."""
    copy_results()
    app.connect("autodoc-process-docstring", list_fields, priority=400)
