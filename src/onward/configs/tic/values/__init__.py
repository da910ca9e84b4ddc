"""Published values: percent, as read from the paper's text; compute in percent of the budget."""
