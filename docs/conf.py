"""How Sphinx builds the site: ``make docs`` writes it to docs/_build/html."""

import sys
from pathlib import Path

import choral

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "choral"
author = "The choral developers"
copyright = "The choral developers"  # the name that Sphinx reads
version = release = choral.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "numpydoc",
    "own_members",
    "measure_pictures",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "auto_examples/**/*.md5"]

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"  # docstrings say the types
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "choral"
