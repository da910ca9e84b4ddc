"""What a benchmark's runs are best seen in: pictures that its card asks for by name.

A picture takes the methods of one setting, the best first, and the stream's card, and returns what
it can draw of them: nothing where what it needs was not kept. To add one, write its file and its
line here; a package adds one by an entry point of ``onward.pictures``.
"""

from collections.abc import Callable, Sequence

from onward.catalogue import Catalogue
from onward.report.pictures.class_decay import class_decay_picture
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.summary import Summary

Painter = Callable[[Sequence[Summary], StreamCard | None], Sequence[Picture]]

PICTURES: Catalogue[Painter] = Catalogue(
    "picture", {"class_decay": class_decay_picture}, "onward.pictures"
)
"""By the name that `onward.types.Card.pictures` has."""
