"""What papers say, in the words of reports: the right number under the right name."""

from collections import Counter

import pytest

from onward.configs import TABLES
from onward.report.published import PublishedRow
from onward.report.summary import FINAL, METRICS, POOLED_METRICS, STATIC_METRICS
from onward.reproduce.published_rows import published_rows

ROWS = published_rows(TABLES.values())


def row(table: str, label: str, protocol: str, data: str = "") -> PublishedRow:
    (found,) = (
        each
        for each in published_rows([TABLES.find(table)])
        if (each.protocol, each.label) == (protocol, label) and data in each.data
    )
    return found


# From the papers' tables: table, label, protocol, part of the edition, metric, percent.
GOLDEN = [
    ("clear/table1", "Linear A-GEM", "iid", "", "in_domain", 91.9),
    ("clear/table1", "Linear A-GEM", "iid", "", "next_domain", 90.7),
    ("clear/table1", "Linear A-GEM", "streaming", "", "next_domain", 91.4),
    ("clear/table1", "ResNet18 LwF", "streaming", "", "forward_transfer", 76.1),
    ("clear/table2", "α = 2", "iid", "", "forward_transfer", 89.1),
    ("clear/supp4", "nap", "iid", "MoCo-YFCC", "backward_transfer", 87.9),
    ("clear/supp9", "nap", "streaming", "MLP, CLIP features", "next_domain", 81.1),
    ("iirc/table5", "ER", "incomplete", "IIRC-CIFAR", "pooled", 13.0),
    ("iirc/table5", "ER", "incomplete", "IIRC-CIFAR", "pooled_mean", 19.05),
    ("iirc/table6", "incremental joint", "complete", "IIRC-ImageNet-lite", "pooled", 72.0),
    ("iirc/table7", "joint", "joint", "IIRC-ImageNet-full", "pooled", 42.0),
    ("clad/table1", "C1", "online", "SODA10M", "amca", 68.6),
    ("clad/table2", "D1, Swin", "domains", "SODA10M", "final", 74.7),
    ("tic/table4", "Cumulative-All", "budget", "TiC-YFCC", "backward_transfer", 66.4),
    ("tic/table4", "Sequential", "budget", "TiC-YFCC", "in_domain", 48.4),
    ("tic/table4_xl", "Sequential", "budget", "TiC-DataComp (XL)", "forward_transfer", 56.8),
    ("tic/table7", "Sequential", "budget", "basic filter", "in_domain", 50.3),
]


@pytest.mark.parametrize("known", GOLDEN, ids=[" ".join(map(str, known[:5])) for known in GOLDEN])
def test_known_numbers(known: tuple[str, str, str, str, str, float]) -> None:
    table, label, protocol, data, metric, percent = known
    assert row(table, label, protocol, data).values[metric].mean == pytest.approx(percent / 100)


def test_deviations_and_doubts_are_told() -> None:
    published = row("clear/table1", "Linear A-GEM", "iid").values["next_domain"]
    assert (published.deviation, published.certain) == (pytest.approx(0.001), True)
    assert row("clad/table1", "C1", "online").values["amca"].deviation is None
    repaired = row("clear/supp4", "scratch, α = 0.5", "iid").values["next_domain"]
    assert not repaired.certain
    # Of "87.7 or 87.8" no number is made.
    assert "next_domain" not in row("clear/supp4", "scratch, α = 2", "iid").values


def test_every_benchmark_of_a_paper_has_rows_in_its_own_edition() -> None:
    places = {(each.benchmark, each.protocol) for each in ROWS}
    assert places == {
        ("clear", "iid"), ("clear", "streaming"), ("iirc", "incomplete"), ("iirc", "complete"),
        ("iirc", "joint"), ("clad-c", "online"), ("clad-d", "domains"), ("tic", "budget"),
    }  # fmt: skip
    assert all(each.data and each.paper and each.values for each in ROWS)
    assert all(each.table in TABLES for each in ROWS)
    known = {*METRICS, *POOLED_METRICS, *STATIC_METRICS, FINAL}
    assert {name for each in ROWS for name in each.values} <= known
    assert not {"emoji", "street"} & {each.data for each in ROWS}


def test_one_row_for_each_method_protocol_and_edition() -> None:
    counts = Counter((each.table, each.label, each.protocol, each.data) for each in ROWS)
    assert set(counts.values()) == {1}
    five = [each for each in ROWS if each.table == "clear/supp6" and each.label == "nap"]
    assert len({each.data for each in five}) == len(five) == 5
    assert all(set(each.values) == {"in_domain", "next_domain"} for each in five)
