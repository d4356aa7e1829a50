"""The report: one page for the browser that holds all it needs and asks nothing of the network."""

from choral.report.page import render_page, write_page

__all__ = ["render_page", "write_page"]
