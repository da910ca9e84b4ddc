"""What a method says in the end, to tell methods apart where their accuracies are the same."""

from typing import Any

import onward
from onward.checks import tiny_benchmark
from onward.types import Array


def last_outputs(method: Any, protocol: str = "iid", seed: int = 0, **options: Any) -> Array:
    found: list[Array] = []

    def watch(event: Any) -> None:
        if event.kind == "tested":
            found.append(event.outputs)

    onward.run(tiny_benchmark(protocol), method, seed, options=options, watch=watch)
    return found[-1]
