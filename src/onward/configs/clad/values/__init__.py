"""Published values: percent, as read from the paper's text."""
