"""Published values: percent, mean and deviation over orders of classes, from appendix H."""
