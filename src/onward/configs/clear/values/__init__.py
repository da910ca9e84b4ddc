"""Published values: percent, mean and deviation over five runs, as read from the paper's text."""
