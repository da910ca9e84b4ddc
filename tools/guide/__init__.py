"""Pages of the documentation that are written by the code itself: catalogues and docstrings."""
