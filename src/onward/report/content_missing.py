"""What a report does not show because it is not there yet, in sentences."""

from collections.abc import Iterable, Sequence

from onward.report.commands import seed_range
from onward.report.summary import Summary, unfinished
from onward.results.record import RunRecord

_MOST = 12


def missing(
    records: Iterable[RunRecord], settings: Sequence[Sequence[Summary]], damage: Sequence[str]
) -> list[str]:
    """Say which runs are not finished, which seeds some methods lack, and which files are damaged.

    Parameters
    ----------
    records
        All runs of a chapter.
    settings
        What was made of the complete ones.
    damage
        What their folders should tell, but cannot be read.
    """
    pending: dict[tuple[str, str, str], list[RunRecord]] = {}
    for record in unfinished(records):
        tested = len({score.learned_upto for score in record.scores})
        protocol = str(record.spec.protocol["name"])
        progress = f"{tested} of {len(record.spec.periods)} periods are tested"
        pending.setdefault((record.spec.method, protocol, progress), []).append(record)
    found = [
        f"{method} ({protocol}), {_seeds(record.spec.seed for record in runs)}: not finished, "
        f"{progress}"
        for (method, protocol, progress), runs in pending.items()
    ]
    for group in settings:
        everyone = {seed for item in group for seed in item.seeds}
        for item in group:
            lacking = everyone - set(item.seeds)
            if lacking:
                found.append(f"{item.label} ({item.protocol}), {_seeds(lacking)}: no complete run")
    found += damage
    if len(found) > _MOST:
        return [*found[:_MOST], f"and {len(found) - _MOST} more"]
    return found


def _seeds(seeds: Iterable[int]) -> str:
    those = sorted(set(seeds))
    return f"seed{'' if len(those) == 1 else 's'} {seed_range(those)}"
