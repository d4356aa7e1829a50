"""Small bridges to the tools where users keep their results: one file a tool, imported by its full name."""
