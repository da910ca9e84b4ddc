"""Runs made up by hand."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from made_up import Make, make_record

from onward.results.record import RunRecord


@pytest.fixture
def make() -> Make:
    return make_record


@pytest.fixture
def demo() -> Callable[..., list[RunRecord]]:
    """Return runs like the demonstration's: .70 today, .59 six periods on; nap worst."""

    def build(
        seeds: int = 5,
        protocols: Sequence[str] = ("streaming", "iid"),
        methods: Sequence[str] = ("finetune", "nap", "scratch", "cumulative", "er"),
        periods: int = 7,
    ) -> list[RunRecord]:
        i, j = np.indices((periods, periods))
        records = []
        for seed in range(seeds):
            luck = np.random.default_rng(seed).normal(0, 0.01)
            for number, method in enumerate(methods):
                past = {"cumulative": 0.0, "er": 0.005, "finetune": 0.01}.get(method, 0.018)
                R = 0.70 + luck - 0.002 * number - np.where(j > i, 0.018, past) * abs(j - i)
                if method == "nap":
                    R = np.tile(0.62 + luck - 0.01 * np.arange(periods), (periods, 1))
                for protocol in protocols:
                    shown = np.where(j > i, R, np.nan) if protocol == "streaming" else R
                    records.append(
                        make_record(
                            shown,
                            method=method,
                            seed=seed,
                            protocol=protocol,
                            static=np.linspace(0.3, 0.4, periods).tolist(),
                            cubes=np.stack([shown, np.where(np.isnan(shown), np.nan, 0.5)], 2),
                            classes=("moving", "still"),
                            cost={
                                "cpu_seconds": 0.2 + 0.3 * number,
                                "macs": 10**9,
                                "samples": 1000,
                                "stored_samples": 900 * (method in ("er", "cumulative")),
                                "parameters": 7968,
                            },
                        )
                    )
        return records

    return build
