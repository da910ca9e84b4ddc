"""Did a run keep to the rules? What its spec allows, and what it says that it spent."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from onward.budget import COMPUTE, LIMITS
from onward.results.record import RunRecord
from onward.results.schema import RunSpec
from onward.types import Protocol

Rules = Mapping[tuple[str, str], Protocol]
"""The protocols by the names of benchmark and protocol."""
_SAME = ("tests", "labelled", "pooled", "complete", "exempt")
# Of sums of floats, beyond which nobody has spent more.
_ROUNDING = 1 + 1e-9


def broken_rules(record: RunRecord, rules: Rules) -> Iterator[str]:
    """Yield where a run is not by the rules of its protocol, or spent more than its limits.

    Parameters
    ----------
    record
        The run.
    rules
        What protocols say; of one that is not among them, the spec's own word is taken.
    """
    spec = record.spec
    protocol = rules.get((spec.benchmark, spec.protocol["name"]))
    if protocol is not None:
        yield from _another_protocol(spec, protocol)
    yield from _no_limits(spec)
    yield from _raised(spec, protocol)
    yield from _spent(record)


def _another_protocol(spec: RunSpec, protocol: Protocol) -> Iterator[str]:
    unsaid = {field.name: field.default for field in fields(Protocol)}
    # How finely an online stream is shown may be asked for, but where batches have rules.
    fixed = not protocol.limits.keys().isdisjoint({"batch_size", "new_in_batch"})
    for name in (*_SAME, *(["batch"] if fixed else [])):
        expected, found = getattr(protocol, name), spec.protocol.get(name, unsaid[name])
        found = tuple(found) if isinstance(found, list) else found
        if found != expected:
            yield (
                f"its protocol {protocol.name} says {name} = {found!r}, that of {spec.benchmark} "
                f"says {expected!r}"
            )


def _no_limits(spec: RunSpec) -> Iterator[str]:
    """Yield what stands among the limits and limits nothing."""
    for name, limit in spec.limits.items():
        if name not in LIMITS:
            yield f"expected limits among {', '.join(LIMITS)}, found {name!r}"
        elif not math.isfinite(limit) or limit < 0:
            yield f"expected a number of 0 or more as the limit of {name}, found {limit}"


def _raised(spec: RunSpec, protocol: Protocol | None) -> Iterator[str]:
    """Yield the limits that are above the protocol's."""
    told = _numbers(spec.protocol.get("limits"))
    allowed = told if protocol is None else {**told, **_lower(protocol.limits, told)}
    exempt = spec.protocol.get("exempt", ()) if protocol is None else protocol.exempt
    free = COMPUTE if spec.method in exempt else ()
    for name, limit in allowed.items():
        found = spec.limits.get(name)
        if name in free or (found is not None and found <= limit):
            continue
        allows = "do not limit it" if found is None else f"allow {found:.15g}"
        yield (
            f"the protocol's rule is {name} = {limit:.15g} ({LIMITS.get(name, 'unknown')}), its "
            f"limits {allows}: a run with another limit is not by the rules"
        )


def _lower(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {name: min(limit, other.get(name, limit)) for name, limit in one.items()}


def _numbers(found: Any) -> dict[str, float]:
    given = found if isinstance(found, dict) else {}
    return {name: float(value) for name, value in given.items() if isinstance(value, int | float)}


def _spent(record: RunRecord) -> Iterator[str]:
    """Yield what was spent beyond the limits, as far as a folder tells.

    Bounds hold at any moment. An allowance is one of each call of learn; how many there are, only a
    protocol tells that shows whole periods.
    """
    spec, cost = record.spec, record.cost
    if cost is None:
        return
    once = dict.fromkeys(("stored_samples", "stored_bytes", "parameters"), 1)
    if spec.protocol.get("batch") is None:
        calls = 1 if spec.protocol["tests"] == "last" else len(spec.periods)
        once |= dict.fromkeys(COMPUTE, calls)
    for name, times in once.items():
        limit, found = spec.limits.get(name), getattr(cost, name)
        if limit is not None and found is not None and found > limit * times * _ROUNDING:
            often = "" if times == 1 else f" in each of {times} calls of learn"
            yield (
                f"its limits allow {name} = {limit:.15g}{often}, cost.json says that {found:,} "
                "were used"
            )
