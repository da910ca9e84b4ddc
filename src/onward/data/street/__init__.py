"""Emoji Street: a miniature of driving, rendered into SODA10M's own layout."""
