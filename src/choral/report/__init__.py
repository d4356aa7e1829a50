"""The report: one page for the browser that holds all it needs and asks nothing of the network."""

from choral.report.contents import evaluation_contents, study_contents
from choral.report.page import render_page, write_page

__all__ = ["evaluation_contents", "render_page", "study_contents", "write_page"]
