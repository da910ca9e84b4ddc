"""Krippendorff's α, against the package of that name."""

import math
import random
import warnings
from pathlib import Path

import krippendorff
import numpy as np
import pyarrow as pa
import pytest
from small_campaign import campaign_folder

from onward.curate.records import VOTES
from onward.curate.review.agreement import alpha, alpha_of_sets, alpha_of_single
from onward.curate.review.campaign import open_campaign
from onward.curate.review.dashboard import Share
from onward.curate.review.exchange import import_votes


def theirs(units: list[list[int]], coders: int) -> float:
    data = np.full((coders, len(units)), np.nan)
    for at, unit in enumerate(units):
        data[: len(unit), at] = unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))


@pytest.mark.parametrize("seed", range(20))
def test_against_the_package(seed: int) -> None:
    chance = random.Random(seed)
    units = [[chance.randint(0, 4)] for _ in range(40)]
    for unit in units:
        for _ in range(chance.randint(0, 3)):
            unit.append(unit[0] if chance.random() < 0.7 else chance.randint(0, 4))
    assert alpha(units) == pytest.approx(theirs(units, 4), abs=1e-12)


def test_krippendorffs_own_example() -> None:
    # "Computing Krippendorff's Alpha-Reliability", data C: twelve units, four observers.
    units = [
        "111", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "555", "11", "3",
    ]  # fmt: skip
    assert alpha(units) == pytest.approx(0.743, abs=5e-4)


def test_edges() -> None:
    assert math.isnan(alpha([]))
    assert math.isnan(alpha(["a", "b"]))  # nobody said anything twice
    assert math.isnan(alpha(["aa", "aa"]))  # nothing but one value
    assert alpha(["aa", "bb"]) == 1
    assert alpha(["ab", "ba"]) < 0


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
