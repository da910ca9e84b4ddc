"""``onward curate``: from a huge timestamped pool to a small, clean, labelled stream."""
