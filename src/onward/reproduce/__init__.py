"""Published tables by command: run every row, set ours beside theirs, check what was claimed.

`onward.configs` says what is in each table; here is how any of them is run. A table is data
(`onward.reproduce.table`), its claims are pairs of cells (`onward.reproduce.claims`).
"""
