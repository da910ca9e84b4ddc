"""All pairs of periods that matter: each against the first, and each against the one before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from onward.drift.embedding import Embedding, own_embedding
from onward.drift.hurts import Hurt
from onward.drift.pairs import Measuring, Pair, classified, frechet_between, variation_between
from onward.drift.slices import Slice, slices
from onward.drift.tags import Tags
from onward.drift.texts import LEAST_WORDS, captions, word_tags
from onward.metrics.drift import frechet_distance, total_variation
from onward.metrics.inputs import Floats
from onward.metrics.two_samples import holm
from onward.report.numbers import finite
from onward.types import Benchmark, Rows, Stream

WIDTH, DRAWS, SAMPLES, LEVEL = 128, 39, 2000, 0.05
FEW_GROUPS = 6
"""Fewer groups of a period prove little."""
_MOST_IN_MATRIX = 24
_MOST_NAMED = 40

Embed = Callable[[Stream, Rows], Embedding]
TagTexts = Callable[[Sequence[str], Sequence[Slice], str], tuple[Tags | None, str]]


@dataclass(frozen=True, eq=False)
class Drift:
    """What was found in a stream.

    Parameters
    ----------
    benchmark, stream
        The data.
    parts
        Its periods, as they were measured.
    held
        What distances were measured with.
    kept
        The share of the spread of embeddings that distances see.
    labels, words, nouns
        What samples are tagged with; None where there is no such thing.
    pairs
        Each period against the first, and each against the one before, in the order of time.
    matrices
        Distances of all pairs of periods, by name: symmetric arrays.
    notes
        How it was measured, and what was left out and why.
    hurts
        Which part of the drift hurts given runs.
    """

    benchmark: Benchmark
    stream: Stream
    parts: Sequence[Slice]
    held: Measuring
    kept: float
    labels: Tags | None
    words: Tags | None
    nouns: Tags | None
    pairs: Sequence[Pair]
    matrices: Mapping[str, Floats]
    notes: Mapping[str, str]
    text_column: str = ""
    hurts: Sequence[Hurt] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return plain data, without the samples themselves."""
        names = [part.name for part in self.parts]
        found: dict[str, Any] = {
            "benchmark": self.benchmark.name,
            "data": self.benchmark.data,
            "digest": self.benchmark.raw.digest,
            "periods": [
                {
                    "name": part.name,
                    "start": part.start,
                    "samples": len(part.rows),
                    "embedded": len(part.drawn),
                    "groups": len(np.unique(part.groups)),
                }
                for part in self.parts
            ],
            "embedding": {
                "words": self.held.wide.words,
                "width": self.held.wide.width,
                "frechet_width": self.held.narrow.width,
                "spread_kept": self.kept,
            },
            "level": self.held.level,
            "pairs": [self._pair(pair) for pair in self.pairs],
            "matrices": {
                name: [[finite(value) for value in row] for row in values.tolist()]
                for name, values in self.matrices.items()
            },
            "notes": dict(self.notes),
        }
        for tags, word, least in ((self.labels, "classes", 1), (self.words, "words", LEAST_WORDS)):
            if tags is not None:
                found[word] = {
                    "new": {names[at]: some[:_MOST_NAMED] for at, some in tags.new(least).items()},
                    "vanished": {
                        names[at]: some[:_MOST_NAMED] for at, some in tags.vanished(least).items()
                    },
                }
        if self.hurts:
            found["hurts"] = [hurt.to_json() for hurt in self.hurts]
        return found

    def _pair(self, pair: Pair) -> dict[str, Any]:
        sides = self.parts[pair.before], self.parts[pair.after]
        told = pair.told
        found: dict[str, Any] = {
            "from": sides[0].name,
            "to": sides[1].name,
            "samples": [len(side.drawn) for side in sides],
            "frechet": pair.frechet.to_json(),
            "classifier": {"left_out": pair.why_not, "drift": False}
            if told is None
            else {
                "accuracy": told.accuracy,
                "low": told.low,
                "high": told.high,
                "auc": told.auc,
                "p": told.p,
                "p_holm": pair.adjusted,
                "groups": told.groups,
                "drift": pair.drift,
            },
        }
        for name, measured in pair.tags.items():
            found[name] = measured.to_json("total_variation")
        return found


def measure_drift(
    benchmark: Benchmark,
    *,
    embed: Embed | None = None,
    nouns: TagTexts | None = None,
    text_column: str | None = None,
    samples: int = SAMPLES,
    width: int = WIDTH,
    draws: int = DRAWS,
    level: float = LEVEL,
    by_sample: bool = False,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Drift:
    """Measure how the periods of a stream differ.

    Parameters
    ----------
    benchmark
        What `onward.load` returned.
    embed
        Makes numbers of samples; by default what learners see of them, see
        `onward.drift.embedding.own_embedding`.
    nouns
        Tags texts of a column with nouns, and says how, see `onward.drift.nouns.nearest_nouns`; by
        default none.
    text_column
        Which column has texts; by default the one that is called so.
    samples
        How many of each period are embedded, at most.
    width
        How many principal components the Fréchet distance sees, at most.
    draws
        How many deals by chance the bands are made of.
    level
        How often a classifier may raise a false alarm, over all pairs.
    by_sample
        Whether every sample counts as a group of its own. What a drive or a person has in common
        then counts as drift, where few of them make a period.
    seed
        Of the stream's split, of what is drawn and of all deals.
    progress
        Called with 1 after each pair.
    """
    stream = benchmark.stream(seed)
    parts, labels = slices(benchmark, stream, samples, seed, by_sample=by_sample)
    rows = np.unique(np.concatenate([part.embedded for part in parts]))
    wide = (embed or _own)(stream, rows)
    narrow, kept = wide.narrowed(width)
    held = Measuring(wide, narrow, draws, level, seed)
    notes = _notes(held, kept, parts, samples)
    if by_sample:
        notes["groups"] = "left aside: every sample counts as a thing of its own"
    elif (least := min(len(np.unique(part.groups)) for part in parts)) < FEW_GROUPS:
        notes["groups"] = (
            f"a period has {least} only, and what so few have in common may be theirs and not the "
            "period's; --by-sample leaves groups aside"
        )
    texts, column = captions(benchmark, stream.table, text_column)
    words = word_tags(texts, parts) if texts else None
    named = None
    if nouns is not None and texts:
        named, notes["nouns"] = nouns(texts, parts, column)
    tags = {one.what: one for one in (labels, named) if one is not None and len(one.names) > 1}
    pairs = []
    for before, after in pairs_of(len(parts)):
        pairs.append(_compared(before, after, parts, tags, held))
        progress(1)
    adjusted = iter(holm([pair.told.p for pair in pairs if pair.told is not None]))
    pairs = [replace(p, adjusted=next(adjusted)) if p.told is not None else p for p in pairs]
    return Drift(
        benchmark=benchmark,
        stream=stream,
        parts=parts,
        held=held,
        kept=kept,
        labels=labels,
        words=words,
        nouns=named,
        pairs=pairs,
        matrices=_matrices(parts, tags, held),
        notes=notes,
        text_column=column,
    )


def pairs_of(periods: int) -> list[tuple[int, int]]:
    """Return each period against the first, and each against the one before, each pair once.

    Examples
    --------
    >>> pairs_of(4)
    [(0, 1), (0, 2), (1, 2), (0, 3), (2, 3)]
    """
    found = [(0, after) for after in range(1, periods)]
    found += [(after - 1, after) for after in range(2, periods)]
    return sorted(found, key=lambda pair: (pair[1], pair[0]))


def _own(stream: Stream, rows: Rows) -> Embedding:
    return own_embedding(stream.table, rows)


def _compared(
    before: int, after: int, parts: Sequence[Slice], tags: Mapping[str, Tags], held: Measuring
) -> Pair:
    one, other = parts[before], parts[after]
    measured = {
        name: variation_between(some, before, after, (one, other), held)
        for name, some in tags.items()
    }
    told, why_not = classified(one, other, held)
    return Pair(
        before,
        after,
        frechet_between(one, other, held),
        {name: found for name, found in measured.items() if found is not None},
        told,
        why_not,
        1.0 if told is None else told.p,
        held.level,
    )


def _matrices(
    parts: Sequence[Slice], tags: Mapping[str, Tags], held: Measuring
) -> dict[str, Floats]:
    if len(parts) > _MOST_IN_MATRIX:
        return {}
    found = {"frechet": np.zeros((len(parts), len(parts)))}
    found |= {name: np.zeros((len(parts), len(parts))) for name in tags}
    values = [held.narrow.of(part.embedded) for part in parts]
    for one in range(len(parts)):
        for other in range(one):
            found["frechet"][one, other] = frechet_distance(values[one], values[other])
            for name, some in tags.items():
                p, q = some.counts[one], some.counts[other]
                far = total_variation(p, q) if p.sum() and q.sum() else np.nan
                found[name][one, other] = far
    return {name: matrix + matrix.T for name, matrix in found.items()}


def _notes(held: Measuring, kept: float, parts: Sequence[Slice], samples: int) -> dict[str, str]:
    found = {"embedding": f"{held.wide.words}, {held.wide.width:,} numbers a sample"}
    if held.narrow.width < held.wide.width:
        found["distances"] = (
            f"of the {held.narrow.width} leading principal components of all samples together, "
            f"which keep {100 * kept:.0f} % of their spread; the classifier sees all numbers"
        )
    if any(len(part.drawn) < len(part.rows) for part in parts):
        found["samples"] = f"{samples:,} of a period at most, drawn at random; labels of all"
    return found
