"""How Sphinx builds the site: ``make docs`` writes it to docs/_build/html."""

import choral

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
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "auto_examples/**/*.md5"]

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,  # also where torch, transformers or dask are missing: the error names the package
    "subsection_order": ["../examples/judge", "../examples/decide", "../examples/learn", "../examples/frameworks"],
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"choral\.displays|matplotlib",
    "image_scrapers": ("matplotlib",),
    "image_srcset": ["2x"],
    "reset_modules": ("matplotlib",),
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1,
    "doc_module": ("choral",),
    "backreferences_dir": "api/generated/backreferences",
}

html_theme = "pydata_sphinx_theme"
html_title = "choral"
