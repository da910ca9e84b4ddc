"""Nap learns its first period as finetuning does, and sleeps ever after."""

import numpy as np

import onward
from onward.checks import tiny_benchmark


def test_the_first_period_is_learned_and_nothing_later() -> None:
    tiny = tiny_benchmark("iid")
    nap, finetune = (onward.run(tiny, name, seed=0).matrix() for name in ("nap", "finetune"))
    assert np.array_equal(nap[0], finetune[0])
    # The third period brings a class, whose row is drawn and never learned.
    assert np.array_equal(nap[1], nap[0])
    assert np.array_equal(nap[3], nap[2])
    assert not np.array_equal(finetune[1], finetune[0])
