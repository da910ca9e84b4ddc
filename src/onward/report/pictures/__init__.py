"""What a benchmark's runs are best seen in: pictures that its card asks for by name.

A picture takes the methods of one setting, the best first, and the stream's card, and returns what
it can draw of them: nothing where what it needs was not kept. To add one, write its file and its
line here; a package adds one by an entry point of ``onward.pictures``.
"""

from collections.abc import Callable, Sequence

from onward.catalogue import Catalogue
from onward.report.pictures.class_decay import class_decay_picture
from onward.report.pictures.class_precision import class_precision_picture
from onward.report.pictures.domain_matrices import domain_matrix_picture
from onward.report.pictures.drive_curves import drive_curves_picture
from onward.report.pictures.label_confusion import confusion_picture
from onward.report.pictures.next_period import next_period_picture
from onward.report.pictures.picture import Picture
from onward.report.pictures.pooled_curves import pooled_picture
from onward.report.pictures.retrieval import retrieval_picture, zero_shot_picture
from onward.report.pictures.static_tests import static_picture
from onward.report.provenance import StreamCard
from onward.report.summary import Summary

Painter = Callable[[Sequence[Summary], StreamCard | None], Sequence[Picture]]

_OWN: dict[str, Painter] = {
    "class_decay": class_decay_picture,
    "next_period": next_period_picture,
    "pooled": pooled_picture,
    "confusion": confusion_picture,
    "drive": drive_curves_picture,
    "domain_matrix": domain_matrix_picture,
    "class_precision": class_precision_picture,
    "retrieval": retrieval_picture,
    "zero_shot": zero_shot_picture,
    "static": static_picture,
}
PICTURES: Catalogue[Painter] = Catalogue("picture", _OWN, "onward.pictures")
"""By the name that `onward.types.Card.pictures` has."""
