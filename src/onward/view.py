"""What a learner may see, and until when."""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from onward.budget import Budget
from onward.errors import LookAheadError
from onward.pairs import IMAGE
from onward.table import Array, Column, Rows, Samples, Table, column_values

_NO_ROWS: Rows = np.empty(0, np.int64)
_NO_LABELS: Array = np.empty(0, np.int64)
_PART = 2**21  # numbers, 8 MB: 1,024 samples of 2,048 features


class Call:
    """One call of `learn` or `predict`: its views die with it. `predict` has no budget."""

    def __init__(self, budget: Budget | None) -> None:
        self.budget = budget
        self.over = False


class Reader:
    """Reads inputs by position, with no labels and no row numbers: what data workers hold.

    Parameters
    ----------
    column
        The inputs of all samples.
    rows
        The samples that may be read.
    call
        The call that the reader ends with.
    """

    def __init__(self, column: Column, rows: Rows, call: Call) -> None:
        self._column, self._rows, self._call = column, rows, call
        self._buffer: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a data worker is sent: the budget stays with the process that trains."""
        sent = Call(None)
        sent.over = self._call.over
        return {**vars(self), "_call": sent, "_buffer": None}

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input; of a pair of image and text, that of the image."""
        return input_shape(self._column)

    def read(self, positions: Rows | slice, *, out: Array | None = None) -> Array:
        """Return the inputs at these positions, in `out` where they lie in memory."""
        rows = self._readable()[positions]
        column = self._column
        if out is not None and len(out) >= len(rows) and isinstance(column, np.ndarray):
            # Rows come from the stream, so none is out of range; "clip" avoids a second buffer.
            return np.take(column, rows, axis=0, out=out[: len(rows)], mode="clip")
        return column[rows]

    @property
    def in_memory(self) -> bool:
        """Whether inputs are an array, so that reading them is no more than a copy."""
        return isinstance(self._column, np.ndarray)

    def read_part(self, part: slice) -> Array:
        """Return some inputs in order, read-only, valid until the next part is read.

        Rows of an array that lie one after the other are not copied.
        """
        rows, column = self._readable()[part], self._column
        if not isinstance(column, np.ndarray):
            return _read_only(column[rows])
        first, last = int(rows[0]), int(rows[-1]) + 1
        if np.array_equal(rows, np.arange(first, last)):
            return _read_only(column[first:last])
        if self._buffer is None or len(self._buffer) < len(rows):
            self._buffer = aligned((len(rows), *column.shape[1:]), column.dtype)
        return _read_only(self.read(part, out=self._buffer))

    def cacheable_rows(self, part: slice) -> tuple[Column, Rows] | None:
        """Return the column and the rows of some inputs: their names in a cache of decoded ones.

        None where they are not decoded from files, or may be learned from: those are varied, and
        counted by the budget.
        """
        decoded = getattr(self._column, "decodes_files", False)
        if not decoded or self._call.budget is not None:
            return None
        return self._column, self._readable()[part]

    def transformed(
        self, positions: Rows, transform: Callable[[Any, int], Any], *, resize: bool
    ) -> Array | None:
        """Return images made of those of files at these positions; None where there are no files.

        Parameters
        ----------
        positions
            Which samples.
        transform
            Makes an image of the input's size of a Pillow image and its place among these.
        resize
            Whether the shorter edge is resized before; otherwise `transform` is given whole images.
        """
        decode = getattr(self._column, "transformed", None)
        if decode is None:
            return None
        found: Array = decode(self._readable()[positions], transform, resize=resize)
        return found

    def _readable(self) -> Rows:
        require_open(self._call)
        return self._rows


def require_open(call: Call) -> None:
    """Raise if a call of `learn` or `predict` has returned."""
    if call.over:
        raise LookAheadError(
            "a view was read after its call had returned. Keep samples with budget.hold(rows) "
            "and read them with a later view.also(rows, labels)"
        )


def reader_of(view: "View") -> Reader:
    """Return what reads the inputs of a view and counts nothing: whoever uses them counts them."""
    return Reader(view._input, view._readable().rows, view._call)


class View:
    """The samples that a learner may see at one moment, with the labels that it may see.

    Reading a view after its call has returned raises. What should outlive the call is held
    through the budget, and read back through a later view's `also`.

    Parameters
    ----------
    table
        Where the samples are. The view keeps its inputs and, for learning, the columns that
        learners may read; never its other columns, labels among them.
    samples
        Rows and labels. The view of `predict` keeps no label.
    classes
        The names of the classes known so far.
    call
        The call that the view ends with.
    unlabelled
        Rows that come with the samples and have no label.
    validation
        Samples to validate on while the others are learned.
    complete
        All labels known so far of every row that this call may learn from, sorted by row, where
        the protocol shows all of them; None where a sample keeps the labels it was shown with.
    """

    def __init__(
        self,
        table: Table,
        samples: Samples,
        classes: tuple[str, ...],
        call: Call,
        unlabelled: Rows | None = None,
        validation: Samples | None = None,
        complete: Samples | None = None,
    ) -> None:
        learns = call.budget is not None
        self.classes = classes
        self._input = table.wide["input"]
        there = table.columns.column_names
        self._columns = table.columns.select([n for n in table.shown if learns and n in there])
        # Not an empty slice: its base would be the labels.
        labels = samples.labels if learns else _NO_LABELS
        self._samples = Samples(_read_only(samples.rows), _read_only(labels))
        self._call = call
        self._unlabelled = _NO_ROWS if unlabelled is None else unlabelled
        self._validation = Samples(_NO_ROWS, _NO_LABELS) if validation is None else validation
        self._complete = complete

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input; of a pair of image and text, that of the image."""
        return input_shape(self._input)

    @property
    def rows(self) -> Rows:
        """The rows of these samples: their names in memories. A test view has none."""
        return self._for_learning("rows").rows

    @property
    def labels(self) -> Array:
        """The labels that may be seen now, as indices into `classes`. A test view has none."""
        samples = self._for_learning("labels")
        if len(samples.labels) != len(samples):
            raise LookAheadError(
                "these samples came without labels: use their inputs, or give them labels of your "
                "own with view.of(rows, labels)"
            )
        return samples.labels

    @property
    def newest(self) -> Array:
        """The label of each sample; of many labels the one that was introduced last."""
        return Samples(self.rows, self.labels).newest

    @property
    def unlabelled(self) -> "View":
        """The samples that came with these ones and show no label, where the protocol has any."""
        self._for_learning("samples")
        nothing = np.empty(0, np.int64)
        return self._derived(Samples(self._unlabelled, nothing))

    @property
    def validation(self) -> "View":
        """The samples to judge on while these are learned, where the benchmark has any."""
        self._for_learning("samples")
        return self._derived(self._validation)

    def inputs(self, positions: Rows | slice = slice(None), *, out: Array | None = None) -> Array:
        """Return the inputs of the samples at these positions, by default of all.

        Where the inputs lie in memory, `out` is filled and returned instead of a new array: a
        fresh one of some megabytes for every batch costs more than the copy.
        """
        self.count(positions)
        return reader_of(self).read(positions, out=out)

    def count(self, positions: Rows | slice) -> Rows:
        """Return rows whose inputs are read, counted: `inputs` does it, or one who shares them."""
        rows = self._readable().rows[positions]
        if self._call.budget is not None:
            self._call.budget.read(rows)
        return rows

    def parts(self, size: int | None = None, *, within: slice = slice(None)) -> Iterator[Array]:
        """Yield all inputs in order, this many at a time, each part only until the next.

        However many there are, they take no more memory than one part. By default that is so large
        that it stays in the processor's cache; rows that lie one after the other are not even
        copied. Read-only. `within` are the positions to begin and to end at.
        """
        reader = reader_of(self)
        for part in self.part_slices(size, within=within):
            self.count(part)
            yield reader.read_part(part)

    def part_slices(self, size: int | None = None, *, within: slice = slice(None)) -> list[slice]:
        """Return the positions of the parts that `parts` yields."""
        size = size or max(32, min(_PART // max(math.prod(self.input_shape), 1), 4096))
        begin, end, _ = within.indices(len(self))
        return [slice(start, min(start + size, end)) for start in range(begin, end, size)]

    def shuffled(self, count: int, rng: np.random.Generator) -> Rows:
        """Return the positions of the first samples in a random order.

        Where inputs are read from files larger than memory, it is one in which they are cheap to
        read.
        """
        order = getattr(self._input, "shuffled", None)
        if order is None:
            return rng.permutation(count)
        found: Rows = order(self._readable().rows[:count], rng)
        return found

    def shows_what(self, other: "View") -> bool:
        """Whether another view shows the same samples in the same order, with the same labels."""
        mine, others = self._readable(), other._readable()
        return (
            self._input is other._input
            and np.array_equal(mine.rows, others.rows)
            and np.array_equal(mine.labels, others.labels)
        )

    def column(self, name: str) -> Array:
        """Return a narrow column that the table shows to learners. A test view has none."""
        rows = self._for_learning("columns").rows
        shown = self._columns.column_names
        if name not in shown:
            raise LookAheadError(
                f"column {name!r} is not shown to learners, since columns such as a name may give "
                f"the label away; shown are: {', '.join(shown)}. Labels: view.labels"
            )
        return column_values(self._columns, name)[rows]

    def of(self, rows: Rows, labels: Array) -> "View":
        """Return a view of these samples, shown by this call or held since before.

        The labels are those to learn from: a memory's are the ones that its samples were held with.
        Where the protocol gives complete information, they are all those that are known by now.
        """
        self._for_learning("samples")
        if self._call.budget is not None:
            self._call.budget.require(rows, "to read")
        if self._complete is not None:
            labels = self._complete.labels_of(rows)
        derived = self._derived(Samples(rows, labels))
        derived._complete = self._complete
        return derived

    def also(self, rows: Rows, labels: Array) -> "View":
        """Return this view with held samples behind it.

        With complete information a sample has the same labels whenever it was shown, so those that
        are held twice, or are shown again, are there once.
        """
        mine = self._for_learning("samples")
        if self._complete is not None:
            places = np.sort(np.unique(rows, return_index=True)[1])
            places = places[~np.isin(rows[places], mine.rows)]
            rows, labels = rows[places], labels[places]
        both = Samples.join([mine, Samples(rows, labels)])
        return self.of(both.rows, both.labels)

    def _derived(self, samples: Samples) -> "View":
        """Return a view of other samples that ends with the same call."""
        derived = copy.copy(self)
        derived._samples = Samples(_read_only(samples.rows), _read_only(samples.labels))
        derived._unlabelled, derived._validation = _NO_ROWS, Samples(_NO_ROWS, _NO_LABELS)
        derived._complete = None
        return derived

    def _for_learning(self, what: str) -> Samples:
        if self._call.budget is None:
            raise LookAheadError(
                f"{what} are shown by learn(view, budget) only; found a learner that asks for them "
                "in predict(view). Predict from view.inputs()"
            )
        return self._readable()

    def _readable(self) -> Samples:
        require_open(self._call)
        return self._samples


def input_shape(column: Column) -> tuple[int, ...]:
    """Return the shape of one value of a wide column; of a pair, that of its image."""
    kind: np.dtype[Any] | None = getattr(column, "dtype", None)
    return column.shape[1:] if kind is None or kind.names is None else kind[IMAGE].shape


def aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an empty array that begins where a cache line does.

    A matrix product of a batch that lies across them takes a third longer.
    """
    line = 64
    space = np.empty(math.prod(shape) * dtype.itemsize + line, np.uint8)
    start = -space.ctypes.data % line
    return space[start : start + space.size - line].view(dtype).reshape(shape)


def complete_labels(labels: Array, rows: Rows, classes: int) -> Samples:
    """Return all labels known so far of these rows, sorted by row: `complete` of a `View`.

    Parameters
    ----------
    labels
        All labels that each row of the table will ever have.
    rows
        The rows that a call may learn from.
    classes
        How many classes are known so far.
    """
    seen = np.unique(rows)
    return Samples(seen, known_labels(labels[seen], classes))


def known_labels(labels: Array, classes: int) -> Array:
    """Return rows of labels without those of classes that are still to come.

    Examples
    --------
    >>> known_labels(np.array([[0, 7], [1, -1]]), 5).tolist()
    [[0, -1], [1, -1]]
    """
    return np.where(labels < classes, labels, -1)


def _read_only(array: Array) -> Array:
    """Return the same numbers in a form that a learner cannot change by accident."""
    shown = array.view()
    shown.flags.writeable = False
    return shown


def rows_shown(view: View) -> Rows:
    """Return the rows of any view: for those who watch a learner, not for learners."""
    return view._samples.rows
