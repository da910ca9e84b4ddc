import numpy as np
from last_outputs import last_outputs

import onward
from onward.checks import tiny_benchmark
from onward.memory import GreedyBalanced


def test_gdumb_trains_on_the_greedy_memory_alone() -> None:
    benchmark, seed = tiny_benchmark(), 3
    stream, epochs = benchmark.stream(seed), benchmark.recipes["cpu"].epochs
    memory = GreedyBalanced(len(stream[0].train), seed=seed)
    sizes = []
    for period in stream:
        memory.admit(period.train.rows, period.train.labels)
        sizes.append(len(memory.rows))
    record = onward.run(benchmark, "gdumb", seed=seed)
    assert record.cost is not None
    assert record.cost.samples == sum(sizes) * epochs
    assert record.cost.stored_samples == max(sizes)


def test_a_memory_for_everything_makes_both_samplers_equal() -> None:
    # No class ever exceeds 10,000 / 4 samples, so neither sampler refuses or removes any.
    greedy, reservoir = (
        last_outputs(method, memory=10_000) for method in ("gdumb", "gdumb_reservoir")
    )
    np.testing.assert_array_equal(greedy, reservoir)
    assert not np.array_equal(last_outputs("gdumb"), last_outputs("gdumb_reservoir"))
