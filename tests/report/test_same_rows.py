"""Seeds that share one split cannot say which method is better, and the texts say why."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from made_up import make_record

import onward
from null_tables import claims_on, write_null_table
from onward.benchmarks import BENCHMARKS
from onward.metrics.paired import compare
from onward.report.comparison import compare_methods, decided_best
from onward.report.leaderboard_board import _decided
from onward.report.summary import by_setting, summarise
from onward.report.terminal import tables
from onward.report.verdict import findings
from onward.report.words import decision
from onward.results.record import RunRecord
from onward.stored import stored

AHEAD = [0.9, 0.91, 0.92, 0.9, 0.93, 0.9, 0.91, 0.9]
BEHIND = [0.5] * 8


def test_seeds_that_share_rows_cannot_tell_however_many_there_are() -> None:
    assert compare(AHEAD, BEHIND).answer == "better"
    verdict = compare(AHEAD, BEHIND, same_rows=True)
    assert (verdict.answer, verdict.needed) == ("cannot tell", None)
    assert math.isnan(verdict.p)
    assert "same rows" in str(verdict)
    assert decision(verdict) == "cannot tell: one split for all seeds"
    assert _decided(verdict) == "one split for all seeds"


def records(split: dict[str, object], seeds: int = 6) -> list[RunRecord]:
    found = []
    for method, score in (("er", 0.8), ("finetune", 0.6)):
        for seed in range(seeds):
            record = make_record(
                [[score + seed / 1000] * 2] * 2, method=method, seed=seed, protocol="iid"
            )
            protocol = {**record.spec.protocol, "split": split}
            spec = record.spec.model_copy(update={"protocol": protocol})
            found.append(replace(record, spec=spec))
    return found


@pytest.mark.parametrize(
    ("split", "same"),
    [
        ({}, True),  # the future is tested whole
        ({"splits": 1}, True),
        ({"splits": 5}, False),
        ({"splits": None}, False),
        ({"share": 0.3}, False),
        ({"k": 5}, False),
    ],
)
def test_only_a_split_that_changes_with_the_seed_gives_a_best_method(
    split: dict[str, object], same: bool
) -> None:
    summaries = summarise(records(split))
    assert summaries[0].spec.same_rows is same
    compared = compare_methods(*summaries, "accuracy")
    assert compared is not None
    assert compared.verdict.answer == ("cannot tell" if same else "better")
    assert compared.more_seeds is None
    assert (decided_best(summaries, "accuracy") is None) is same
    said = findings(by_setting(summaries), None)
    answers = " ".join(f"{finding.answer} {finding.grounds}" for finding in said)
    assert ("is best" in answers) is not same
    assert ("All seeds share one split" in answers) is same
    assert list(tables(summaries))


@pytest.mark.parametrize(
    ("name", "protocol", "same"),
    [
        ("clear", "streaming", False),
        ("clear", "online", False),
        ("iirc", "incomplete", True),  # seeds change the order of classes only
        ("tic", "budget", False),
        ("clad-c", "online", True),
        ("clad-d", "domains", True),
    ],
)
def test_embedded_benchmarks_say_whether_seeds_change_their_split(
    name: str, protocol: str, same: bool
) -> None:
    listed = BENCHMARKS[name]
    held = {"protocol": stored(listed.protocols[protocol]), "task": listed.task.name}
    assert records({})[0].spec.model_copy(update=held).same_rows is same


def test_table_without_groups_gives_no_claim_and_one_with_groups_may(tmp_path: Path) -> None:
    made = []
    for number in range(3):
        table = write_null_table(tmp_path / f"{number}.csv", number)
        said = claims_on(table, number, range(6), grouped=False)
        assert not said["best"]
        assert not said["better or worse"]
        made.append(said["ahead with every seed"])
    # One of two equal learners is ahead with every seed, which was called "best" before.
    assert any(made)
    table = write_null_table(tmp_path / "grouped.csv", 0, groups=80)
    grouped = onward.load("yours", str(table), "streaming", group_column="group")
    record = onward.run(grouped, "finetune")
    assert not record.spec.same_rows
