"""Reports: from run folders to numbers, tables, figures and one self-contained page."""
