"""Checks that inputs are prepared from the past alone."""

import numpy as np

from onward.checks.noise import rows_after, rows_of
from onward.checks.report import expected
from onward.checks.stream_subject import WHAT, StreamSubject


def preparation_sees_only_the_past(subject: StreamSubject) -> str:
    """Noise in place of all later samples changes no input, label, class or row of a period."""
    clean, noised, where = subject.facts
    for upto, found in enumerate(noised):
        for period in range(upto + 1):
            differ = [
                what
                for what, before, after in zip(WHAT, clean[period], found[period], strict=True)
                if before != after
            ]
            if differ:
                raise expected(
                    f"period {period} as it was with noise after period {upto}",
                    f"other {' and '.join(differ)}",
                    "Fit what prepares inputs on the unlabelled past only, and derive the "
                    "classes of a period from that period and those before",
                )
    return f"{len(noised)} futures, {where}"


def inputs_come_from_the_table(subject: StreamSubject) -> None:
    """Noise in the raw samples reaches their inputs: no cache gives the real ones back."""
    clean, noised, _ = subject.facts
    for upto, found in enumerate(noised):
        for period in range(upto + 1, len(clean)):
            replaced = np.isin(
                rows_of(subject.stream[period : period + 1], 0), rows_after(subject.stream, upto)
            )
            # All samples of a period may have come before, with other labels.
            if replaced.any() and clean[period][-1] == found[period][-1]:
                raise expected(
                    f"other inputs in period {period} with noise in their place",
                    "the very same",
                    "Key every cache by the content it was computed from, such as table.digest",
                )
