"""Static tests: a task's folder as a bag of images and texts, with what it is scored by.

What a folder holds (CLIP_benchmark's and DataComp's layout, read shard by shard):

================  ================================================================================
classification    ``jpg``, ``png`` or ``webp``, and ``cls``, the number of its class; beside the
                  shards ``classnames.txt`` and ``zeroshot_classification_templates.txt``. Where
                  groups are compared (FMoW, GeoDE, Dollar Street), ``npy``: an array whose first
                  number is the region or the income
retrieval         an image and ``txt``, one caption a line; ``dataset_type.txt`` says retrieval
association       ``0.jpg``, ``1.jpg``, … and ``json`` with ``cue`` and ``associations``, the
                  numbers of the images that belong to it; ``dataset_type.txt`` says association.
                  DataComp reads WinoGAViL from another library's cache; this layout is ours
================  ================================================================================
"""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image

from onward.binary_files import NPY_ERRORS
from onward.data.bags import right_answers
from onward.data.folder_images import opened_image
from onward.data.pair_column import captions_of
from onward.data.prompts import read_prompts
from onward.data.read_files import read_text
from onward.data.tar_index import IMAGES
from onward.data.task_folder import Member, Sample, read_shards
from onward.errors import OnwardError
from onward.pairs import HAS_IMAGE, IMAGE, made_pairs, pair_type
from onward.tasks.image_text import KEPT
from onward.types import Array, Rows, Samples, Table

CLASSIFICATION, RETRIEVAL, ASSOCIATION = "classification", "retrieval", "association"
# What no text tower reads to its end: the usual 77 tokens are some 300 letters.
_LONGEST = 2000


@dataclass(frozen=True)
class Fitting:
    """How a model wants its images: their side, and what makes bytes (side, side, 3) of one."""

    side: tuple[int, int]
    fit: Callable[[Image.Image], Array]


@dataclass(frozen=True, eq=False)
class StaticTest:
    """A task's samples, images first, then texts; ``bags`` are those that are compared.

    ``classes`` are the names of the texts, where they are classes; ``groups`` has a number for each
    image, where groups are compared.
    """

    kind: str
    table: Table
    bags: tuple[Samples, ...]
    classes: tuple[str, ...] = ()
    groups: Array | None = None


@dataclass(frozen=True, eq=False)
class ShardPairs:
    """A wide column of images that stay in their shards, and of texts behind them."""

    images: Sequence[Member]
    texts: Sequence[str]
    fitting: Fitting

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows."""
        return (len(self.images) + len(self.texts),)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of a pair."""
        longest = max((len(text.encode()) for text in self.texts), default=1)
        return pair_type((*self.fitting.side, 3), max(longest, 1))

    def __getitem__(self, rows: Rows) -> Array:
        """Return images or texts as pairs that lack the other half."""
        pairs, kind = np.zeros(len(rows), self.dtype), self.dtype
        for place, row in enumerate(rows.tolist()):
            if row < len(self.images):
                pairs[place][IMAGE] = self._decoded(self.images[row])
                pairs[place][HAS_IMAGE] = 1
            else:
                pairs[place] = made_pairs(kind, None, [self.texts[row - len(self.images)]])[0]
        return pairs

    def _decoded(self, member: Member) -> Array:
        with opened_image(
            member.read(), lambda: f"{member.shard} at byte {member.offset}"
        ) as image:
            image.load()
            return self.fitting.fit(image)


def read_static_test(
    folder: Path, fitting: Fitting, *, grouped: bool, uncounted: Sequence[int]
) -> StaticTest:
    """Read what a task's folder holds; images are decoded when they are asked for.

    Where it is `grouped`, groups are compared, without those that are `uncounted`.
    """
    samples = read_shards(folder)
    if not samples:
        raise OnwardError(f"expected samples in the shards of {folder}, found none")
    kind = _kind(folder)
    if kind == RETRIEVAL:
        return _retrieval(samples, fitting)
    if kind == ASSOCIATION:
        return _association(samples, fitting)
    groups = _groups(folder, samples, uncounted) if grouped else None
    return _classification(folder, samples, fitting, groups)


def _kind(folder: Path) -> str:
    said = folder / "dataset_type.txt"
    found = read_text(said, "a kind of task in").strip() if said.is_file() else CLASSIFICATION
    if found not in (CLASSIFICATION, RETRIEVAL, ASSOCIATION):
        raise OnwardError(
            f"expected {CLASSIFICATION}, {RETRIEVAL} or {ASSOCIATION} in {said}, found {found!r}"
        )
    return found


def _classification(
    folder: Path, samples: list[Sample], fitting: Fitting, groups: Array | None
) -> StaticTest:
    classes, texts = read_prompts(folder)
    labels = [_label(sample, len(classes)) for sample in samples]
    answers = np.array([*labels, *[-1] * len(classes)])[:, None]
    bag = Samples(np.arange(len(answers)), answers)
    images = [sample.one(*IMAGES) for sample in samples]
    table = _table(images, texts, fitting)
    return StaticTest(CLASSIFICATION, table, (bag,), classes, groups)


def _label(sample: Sample, classes: int) -> int:
    text = sample.text("cls").strip()
    if not text.isdecimal() or int(text) >= classes:
        raise OnwardError(
            f"expected a class from 0 to {classes - 1} as cls of {sample}, found {text[:40]!r}"
        )
    return int(text)


def _groups(folder: Path, samples: list[Sample], uncounted: Sequence[int]) -> Array:
    groups = np.array([_group(sample) for sample in samples])
    if np.isin(groups, uncounted).all():
        raise OnwardError(
            f"expected samples of groups that count in {folder}, found none but of "
            f"{', '.join(map(str, uncounted))}, which is left out. Fetch the whole test again"
        )
    return groups


def _group(sample: Sample) -> int:
    try:
        found = np.load(io.BytesIO(sample.one("npy").read()), allow_pickle=False)
        return int(found.ravel()[0])
    except (*NPY_ERRORS, IndexError) as error:
        raise OnwardError(
            f"expected numbers, the group first, as npy of {sample}, found something else ({error})"
        ) from error


def _retrieval(samples: list[Sample], fitting: Fitting) -> StaticTest:
    texts: list[str] = []
    owners: list[int] = []
    for number, sample in enumerate(samples):
        captions = captions_of(sample.text("txt"))
        if not captions:
            raise OnwardError(f"expected a caption as txt of {sample}, found none")
        texts += [caption[:_LONGEST] for caption in captions]
        owners += [number] * len(captions)
    answers = right_answers(np.array(owners), len(samples))
    table = _table([sample.one(*IMAGES) for sample in samples], texts, fitting)
    return StaticTest(RETRIEVAL, table, (Samples(np.arange(len(answers)), answers),))


def _association(samples: list[Sample], fitting: Fitting) -> StaticTest:
    """Make a bag of each cue with its images, since it is compared with no others."""
    asked = [_cue(sample) for sample in samples]
    images = [image for _, candidates, _ in asked for image in candidates]
    most = max(len(right) for _, _, right in asked)
    bags, start = [], 0
    for number, (_, candidates, right) in enumerate(asked):
        rows = [*range(start, start + len(candidates)), len(images) + number]
        answers = np.full((len(rows), most), -1)
        answers[-1, : len(right)] = right
        bags.append(Samples(np.array(rows), answers))
        start += len(candidates)
    table = _table(images, [prompt for prompt, _, _ in asked], fitting)
    return StaticTest(ASSOCIATION, table, tuple(bags))


def _cue(sample: Sample) -> tuple[str, list[Member], list[int]]:
    """Return the prompt of a cue as DataComp words it, its images and the right ones."""
    candidates: list[Member] = []
    while found := [k for end in IMAGES if (k := f"{len(candidates)}.{end}") in sample.members]:
        candidates.append(sample.one(*found))
    try:
        said = json.loads(sample.text("json"))
        cue, right = str(said["cue"]).strip().lower(), [int(i) for i in said["associations"]]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise OnwardError(
            f"expected a cue and the numbers of its associations as json of {sample}, found "
            f"something else ({error})"
        ) from error
    there, chosen = {*range(len(candidates))}, {*right}
    if not cue or not right or len(chosen) < len(right) or not chosen < there:
        raise OnwardError(
            f"expected a cue and some of {len(candidates)} images as its associations for "
            f"{sample}, found {cue!r} and {right}"
        )
    if len(right) > KEPT:
        raise OnwardError(
            f"expected at most {KEPT} right images of a cue, as many as are looked at, for "
            f"{sample}, found {len(right)}. Ask for fewer of them"
        )
    return f"{'An' if cue[0] in 'aeiou' else 'A'} {cue}"[:_LONGEST], candidates, right


def _table(images: Sequence[Member], texts: Sequence[str], fitting: Fitting) -> Table:
    names = [f"image {i}" for i in range(len(images))] + [f"text {i}" for i in range(len(texts))]
    column = ShardPairs(images, texts, fitting)
    return Table(pa.table({"id": pa.array(names)}), {"input": column}, digest="", shown=())
