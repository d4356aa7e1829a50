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
    "numpydoc",
    "own_members",
    "measure_pictures",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "landing_chart",
    "mathml",
    "pictures",
]
exclude_patterns = ["_build", "**sg_execution_times.rst", "auto_examples/**/*.ipynb", "auto_examples/**/*.md5"]

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

templates_path = ["_templates"]
# Named one by one: True takes the pages of the build before, and a new page would have no stubs.
autosummary_generate = sorted(f"api/{page.name}" for page in Path(__file__).parent.glob("api/*.md"))
autodoc_preserve_defaults = True  # as the code has them: values may hold paths of this machine
autodoc_typehints = "none"  # docstrings say the types
numpydoc_show_class_members = False

# Names of other libraries are linked to their pages. Sphinx would load their inventories from the network at each
# build; docs/inventories holds the lines that our pages need. To link another name, add its line: name, kind, page.
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
    "write_computation_times": False,  # its page loads scripts from elsewhere
    "min_reported_time": 1,
    "doc_module": ("choral",),
    "backreferences_dir": "api/generated/backreferences",
}

default_role = "py:obj"  # names in single backticks, as docstrings have them, are links where they are known

toc_object_entries_show_parents = "hide"  # long names are cut in the margin

# What is copied runs where it is put.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "choral"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["choral.css"]
html_additional_pages = {"404": "404.html"}
html_context = {"default_mode": "auto"}  # light or dark as the reader's system has it
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "changelog": [], "citing": []}
html_theme_options = {
    "logo": {"text": "choral", "alt_text": "choral: start page"},
    "header_links_before_dropdown": 5,
    "navbar_end": ["theme-switcher"],
    "navigation_depth": 3,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
