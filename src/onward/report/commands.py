"""Commands that make runs again, read out of their specs."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from onward.results.schema import RunSpec

_FOLDER = "DATA"
# What `--data` calls data that comes with Onward; all other data lies in somebody's folder.
_EMBEDDED = ("emoji", "street")


def command(spec: RunSpec, seeds: Sequence[int]) -> str:
    """Return the command that runs a method again under some seeds.

    Data that does not come with Onward lies where only its owner knows: it is called ``DATA``.

    Examples
    --------
    >>> spec = RunSpec(
    ...     benchmark="clear", data="emoji", data_digest="d", task="one_label",
    ...     protocol={"name": "iid"}, recipe_name="cpu", recipe={"model": "linear"}, method="er",
    ...     method_options={"memory": 100}, limits={"iterations": 50}, seed=0, periods=["2017"],
    ... )
    >>> command(spec, [0, 1, 2, 5])
    'onward run clear --data emoji --protocol iid --recipe cpu --model linear --method er \
--option memory=100 --budget iterations=50 --seeds 0-2,5'
    """
    given: list[tuple[str, Any]] = [
        ("data", spec.data if spec.data in _EMBEDDED else _FOLDER),
        ("protocol", spec.protocol["name"]),
        ("recipe", spec.recipe_name),
        ("model", spec.recipe.get("model")),
        *spec.benchmark_options.items(),
        *(("training", f"{key}={_plain(value)}") for key, value in spec.recipe_changes.items()),
        ("method", spec.method),
        *(("option", f"{key}={_plain(value)}") for key, value in spec.method_options.items()),
        *(("budget", f"{key}={value:.15g}") for key, value in spec.limits.items()),
        ("seeds", seed_ranges(seeds)),
    ]
    words = ["onward", "run", spec.benchmark]
    for name, value in given:
        if value is None or value is False:
            continue
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(_plain(value))
    return shlex.join(words)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def seed_ranges(seeds: Sequence[int]) -> str:
    """Write seeds as ``--seeds`` takes them.

    Examples
    --------
    >>> seed_ranges([3, 0, 1, 2, 7]), seed_ranges([4])
    ('0-3,7', '4')
    """
    runs: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
