"""IIRC's periods for labels of your own, under any hierarchy of two levels."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from onward.benchmarks.iirc_stream import Plan, cut_iirc, require_known
from onward.data.iirc_hierarchy import Hierarchy, as_hierarchy, columns_by_class, periods_of
from onward.data.iirc_split import CIFAR, Shares
from onward.errors import OnwardError
from onward.protocols import COMPLETE, INCOMPLETE
from onward.types import Array, Column, Stream, Table


def split(
    labels: Sequence[str] | Array,
    hierarchy: Mapping[str, Sequence[str]] | Hierarchy,
    *,
    seed: int = 0,
    test: Array | None = None,
    inputs: Column | None = None,
    first: int | None = None,
    each: int | None = None,
    shares: Shares = CIFAR,
    complete: bool = False,
    subclasses_only: bool = False,
) -> Stream:
    """Cut labelled samples of your own into IIRC's periods, by the released rule.

    The first period has superclasses only, and every superclass comes before its subclasses. Rows
    of the stream are positions in `labels`.

    Parameters
    ----------
    labels
        The finest label of every sample. A label under no superclass is a class of its own.
    hierarchy
        The subclasses of every superclass; or all that a hierarchy file may hold, ``periods`` too.
    seed
        Draws the order of classes, where the hierarchy has no periods.
    test
        Whether each sample is for testing; by default, those that the rule holds back for after a
        period are tested.
    inputs
        The samples themselves, in the same order, for a stream that is to be learned.
    first, each
        How many superclasses come first, and how many classes later, see `draw_order`.
    shares
        Which shares of a class go where.
    complete
        Whether labels of earlier periods are shown again.
    subclasses_only
        Whether superclasses never come.

    Examples
    --------
    >>> labels = ["polar bear"] * 20 + ["brown bear"] * 20 + ["bee"] * 20
    >>> stream = split(labels, {"bear": ["polar bear", "brown bear"]}, seed=0)
    >>> [period.classes for period in stream]
    [('bear',), ('bear', 'polar bear', 'brown bear', 'bee')]
    >>> [len(period.train) for period in stream]
    [12, 40]
    >>> stream[0].train.rows.tolist()
    [4, 5, 6, 7, 8, 9, 24, 25, 26, 27, 28, 29]
    >>> stream[0].train.labels[0].tolist(), stream[0].test.labels[0].tolist()
    ([0, -1], [0, 1])
    """
    if type(seed) is not int or seed < 0:
        raise OnwardError(f"expected a seed of 0 or more, found {seed!r}")
    names, codes = _names_of(labels)
    known, order = as_hierarchy(hierarchy), periods_of(hierarchy)
    if not known.others:
        under = {*known.parent, *known.superclasses}
        known = Hierarchy(known.superclasses, tuple(name for name in names if name not in under))
    held = np.zeros(len(codes), np.bool_) if test is None else np.asarray(test)
    if held.dtype != np.bool_ or held.shape != codes.shape:
        raise OnwardError(
            f"expected test as {len(codes)} yes or no, found {held.dtype} of shape {held.shape}"
        )
    wide = {}
    if inputs is not None:
        found = getattr(inputs, "shape", None)
        if not found or found[0] != len(codes):
            raise OnwardError(
                f"expected an array with one of {len(codes)} inputs in each row, found "
                f"{type(inputs).__name__ if found is None else found}"
            )
        wide["input"] = inputs
    columns = columns_by_class(names, codes, held)
    digest = hashlib.sha256(repr(names).encode() + codes.tobytes() + held.tobytes()).hexdigest()
    table = Table(columns, wide, digest, shown=())
    require_known(table, known)
    plan = Plan(
        known,
        shares,
        () if order is None else (order,),
        first=first,
        each=each,
        subclasses_only=subclasses_only,
        judge="validation" if test is None else "test",
    )
    return cut_iirc(table, COMPLETE if complete else INCOMPLETE, seed, plan=plan)


def _names_of(labels: Sequence[str] | Array) -> tuple[list[str], NDArray[np.int64]]:
    given = [] if labels is None else list(labels)
    strange = [label for label in given if not isinstance(label, str) or not label]
    if strange or not given:
        found = repr(strange[0]) if strange else "no labels"
        raise OnwardError(f"expected the name of a class for every sample, found {found}")
    names, codes = np.unique(np.array(given, str), return_inverse=True)
    return [str(name) for name in names], codes.astype(np.int64)
