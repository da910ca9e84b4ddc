"""Krippendorff's α of a campaign, against the package of that name."""

import math
import random
import warnings
from pathlib import Path

import krippendorff
import numpy as np
import pyarrow as pa
import pytest
from small_campaign import campaign_folder, import_votes

from onward.curate.records import VOTES
from onward.curate.review.agreement import alpha_of_sets, alpha_of_single
from onward.curate.review.campaign import open_campaign
from onward.curate.review.dashboard import Share


def theirs(units: list[list[int]], coders: int) -> float:
    data = np.full((coders, len(units)), np.nan)
    for at, unit in enumerate(units):
        data[: len(unit), at] = unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))


def test_of_a_campaign(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path, items=40)
    chance = random.Random(0)
    choices = [[], ["bus"], ["camera"], ["bus", "camera"]]
    rows, units, single = [], [], []
    for at in range(40):
        first = chance.randrange(4)
        unit = [first if chance.random() < 0.6 else chance.randrange(4) for _ in range(at % 4)]
        units.append(unit)
        single.append([value for value in unit if value != 3])
        rows += [
            {"id": f"photo-{at}", "annotator": f"p{who}", "labels": choices[value],
             "sensitive": False}
            for who, value in enumerate(unit)
        ]  # fmt: skip
    import_votes(folder, pa.Table.from_pylist(rows, schema=VOTES))
    with open_campaign(folder) as campaign:
        assert alpha_of_sets(campaign) == pytest.approx(theirs(units, 3))
        assert alpha_of_single(campaign) == pytest.approx(theirs(single, 3))


def test_nothing_to_compare(tmp_path: Path) -> None:
    with open_campaign(campaign_folder(tmp_path)) as campaign:
        assert math.isnan(alpha_of_sets(campaign))


def test_wilsons_interval() -> None:
    # Newcombe 1998, Table I: 15 of 148, and 0 of 20.
    assert Share(15, 148).interval == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert Share(0, 20).interval == pytest.approx((0, 0.1611), abs=5e-5)
    assert Share(0, 0).interval == (0, 1)
