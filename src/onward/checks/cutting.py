"""Checks of how a benchmark cuts its streams: seeds, folds, protocol, card."""

import numpy as np

from onward.budget import Budget
from onward.checks.digests import digest
from onward.checks.report import Skipped, expected
from onward.checks.stream_subject import StreamSubject
from onward.fit import ONE_CLASS
from onward.loop import run
from onward.types import Array, Folds, Released, Samples, Stream, Undivided, View


def one_seed_is_one_stream(subject: StreamSubject) -> None:
    """Cutting twice with one seed gives the same samples in the same order."""
    again = subject.benchmark.stream(subject.seed)
    for before, after in zip(_parts(subject.stream), _parts(again), strict=False):
        if before != after:
            raise expected(
                f"the same stream for seed {subject.seed}",
                "another one the second time",
                "Draw from np.random.default_rng(seed), made inside the cut",
            )
    if len(again) != len(subject.stream):
        raise expected(f"{len(subject.stream)} periods", f"{len(again)}", "Keep no state in cut")


def another_seed_is_another_split(subject: StreamSubject) -> None:
    """Another seed tests other samples, out of the same periods."""
    other = subject.benchmark.stream(subject.seed + 1)
    if {p.classes for p in subject.stream} != {p.classes for p in other}:
        raise Skipped("the seed decides which classes have come: other samples are there")
    for mine, theirs in zip(subject.stream.undelayed, other.undelayed, strict=True):
        if subject.benchmark.protocol.tests == "last":
            break  # the training samples of all periods are in one of them
        if subject.questions:
            break  # what is tested are other rows than those that are learned
        whole = [np.sort(np.concatenate([p.shown, p.test.rows])) for p in (mine, theirs)]
        if not np.array_equal(whole[0], whole[1]):
            raise expected(
                f"the same samples in period {mine.index} for every seed",
                f"{len(np.setxor1d(whole[0], whole[1]))} that differ",
                "Let the seed choose the side of a sample, not whether it is there",
            )
    if subject.split == Released(1) or isinstance(subject.split, Undivided):
        raise Skipped("there is one split: the seed changes the order alone")
    pairs = zip(subject.stream, other, strict=True)
    if all(set(a.test.rows.tolist()) == set(b.test.rows.tolist()) for a, b in pairs):
        raise expected(
            f"other test samples for seed {subject.seed + 1} than for {subject.seed}",
            "the same",
            "Give the seed to onward.data.split.held_out",
        )


def folds_hold_out_each_sample_once(subject: StreamSubject) -> str:
    """With k folds, k seeds test every sample exactly once."""
    split = subject.benchmark.protocol.split
    if not isinstance(split, Folds):
        raise Skipped("the protocol has no folds")
    times, there = np.zeros((2, len(subject.stream.table)), int)
    for stream in subject.streams:
        here = np.zeros(len(there), np.bool_)
        for period in stream:
            times[period.test.rows] += 1
            here[period.shown] = here[period.test.rows] = True
        there += here
    # Where classes arrive over time, a seed may leave samples out that another one has.
    wrong = np.flatnonzero((there == len(subject.streams)) & (times != 1))
    if len(wrong):
        raise expected(
            f"every sample tested once by seeds 0 to {split.k - 1}",
            f"row {wrong[0]} tested {times[wrong[0]]} times",
            "Give the split and the seed to onward.data.split.held_out",
        )
    return f"{split.k} folds"


def the_future_protocol_never_tests_the_past(subject: StreamSubject) -> str:
    """Where only the future is tested, no score exists for a period that has been learned."""
    benchmark = subject.benchmark
    if benchmark.protocol.tests != "future":
        raise Skipped("the protocol tests the past too")
    if ONE_CLASS in benchmark.task.lacks:
        raise Skipped("tried with a score for each class, which this kind of task does not take")
    filled = ~np.isnan(run(benchmark, _Constant, subject.seed).matrix())
    past = np.argwhere(np.tril(filled))
    if len(past):
        learned, tested = past[0].tolist()
        raise expected(
            "empty cells on and below the diagonal",
            f"a score on period {tested} after learning period {learned}",
            "Mend Protocol.tested",
        )
    return f"{int(filled.sum())} scores, all of them on the future"


def the_card_matches_the_data(subject: StreamSubject) -> str:
    """Title, terms and source are on the card, and its row counts add up to the table."""
    benchmark = subject.benchmark
    for name in ("title", "summary", "licence", "citation"):
        if not getattr(benchmark.card, name):
            raise expected(f"a {name} on the card", "none", "Write it")
    if not benchmark.raw.digest:
        raise expected("a digest of the data", "none", "Hash the content: it names the run folder")
    counts = {
        name: count
        for name, count in benchmark.card.numbers.items()
        if isinstance(count, int) and (name == "rows" or name.endswith("_rows"))
    }
    if counts and sum(counts.values()) != len(benchmark.raw):
        raise expected(
            f"{' + '.join(counts)} = {sum(counts.values())} rows as the card says",
            f"{len(benchmark.raw)}",
            "Write the card anew with the data",
        )
    return f"{len(benchmark.raw)} rows" if counts else "the card counts no rows"


def _parts(stream: Stream) -> list[str]:
    periods = [
        digest(
            *(p.name, str(p.start), str(p.end), p.classes),
            *(*_arrays(p.train), p.unlabelled, *_arrays(p.validation), *_arrays(p.test)),
        )
        for p in stream
    ]
    return periods + [digest(name, *_arrays(samples)) for name, samples in stream.static.items()]


def _arrays(samples: Samples) -> tuple[Array, Array]:
    return samples.rows, samples.labels


class _Constant:
    """Answers the first class, always."""

    def learn(self, view: View, budget: Budget) -> None:
        """Learn nothing."""

    def predict(self, view: View) -> Array:
        """Return scores, the highest for the first class."""
        return np.tile(-np.arange(len(view.classes), dtype=np.float64), (len(view), 1))
