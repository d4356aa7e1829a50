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

# Names of other libraries are linked to their pages. Sphinx would load their inventories from the network at each build;
# docs/inventories holds the lines that our pages need. To link another name, add its line: name, kind, page.
intersphinx_mapping = {
    library: (address, f"inventories/{library}.inv")
    for library, address in {
        "python": "https://docs.python.org/3",
        "numpy": "https://numpy.org/doc/stable",
        "scipy": "https://docs.scipy.org/doc/scipy",
        "sklearn": "https://scikit-learn.org/stable",
        "torch": "https://docs.pytorch.org/docs/stable",
        "torchmetrics": "https://lightning.ai/docs/torchmetrics/v1.4.0",
        "matplotlib": "https://matplotlib.org/stable",
        "pandas": "https://pandas.pydata.org/docs",
        "joblib": "https://joblib.readthedocs.io/en/stable",
        "dask": "https://docs.dask.org/en/stable",
        "distributed": "https://distributed.dask.org/en/stable",
    }.items()
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "choral"
