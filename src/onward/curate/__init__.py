"""Curation: from a huge timestamped pool to a small, clean, labelled stream.

One module per verb of ``onward curate``. Each verb writes a folder that the next one reads, see
`onward.curate.stage`; what lies in these folders is said in `onward.curate.records`.
"""

from onward.curate.nearest import top_k

__all__ = ["top_k"]
