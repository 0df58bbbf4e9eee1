"""How Sphinx builds these pages: `make docs`."""

import mheal

project = "mheal"
version = release = mheal.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False
html_theme = "alabaster"
html_theme_options = {"description": "Which of your unlabelled items should you label?"}
