"""The whole way of the demonstration, on a pool that is drawn in seconds."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from onward.curate.demo.art import true_label_error
from onward.curate.demo.size import PAGE, Size, Voice
from onward.curate.demo.whole_way import whole_way
from onward.curate.stage import open_stage
from onward.errors import OnwardError

TINY = Size(
    renderings=1,
    every=8,
    steps=20,
    buckets=3,
    top=8,
    background=6,
    gold=20,
    per_class=4,
    methods=("finetune",),
    seeds=(0,),
)
STAGES = ("art", "pool", "embed", "retrieve", "preview", "review", "accept", "export", "run")
_KILLED = """
import os, signal, sys
from pathlib import Path
from onward.curate.demo.size import Size, Voice
from onward.curate.demo.whole_way import whole_way

def say(line):
    if line.startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

whole_way(Path(sys.argv[1]), size=Size(**eval(sys.argv[3])), voice=Voice(say))
"""


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapping[str, Any], list[str]]:
    out, said = tmp_path_factory.mktemp("demo") / "way", []
    counts = whole_way(out, size=TINY, voice=Voice(said.append))
    return out, counts, said


def test_every_stage_is_a_folder_that_its_verb_reads(way: Any) -> None:
    out, counts, said = way
    assert tuple(line.partition(":")[0] for line in said) == STAGES
    kinds = {"pool": "pool", "embedded": "embed", "candidates": "retrieve", "preview": "preview"}
    kinds |= {"campaign": "review", "accepted": "accept", "dataset": "export", ".": "demo"}
    for folder, kind in kinds.items():
        open_stage(out / folder, kind)
    assert counts["pool"]["rows"] == counts["pool"]["kept"] + sum(
        counts["pool"]["dropped"].values()
    )
    assert counts["review"]["votes"] == 3 * counts["accept"]["candidates"]
    rejected = sum(counts["accept"]["rejected"].values())
    assert counts["accept"]["accepted"] + rejected == counts["accept"]["candidates"]


def test_the_truth_stands_beside_the_estimates(way: Any) -> None:
    out, counts, _ = way
    labelled = pq.read_table(out / "accepted" / "labelled.parquet")
    error = counts["label_error"]
    assert error["true"] == true_label_error(out / "art", labelled)
    assert error["estimated"] == counts["accept"]["label_error"]
    truth = {
        r["id"]: r["concept"] for r in pq.read_table(out / "art" / "truth.parquet").to_pylist()
    }
    rows = pq.read_table(out / "candidates" / "candidates.parquet").to_pylist()
    faces = [truth[row["id"]] == "face" for row in rows if row["concept"] == "face"]
    assert counts["precision"]["face"]["precision"] == pytest.approx(sum(faces) / len(faces))
    people = {one["name"]: one for one in counts["annotators"]}
    assert len(people) == 10
    worst = min(people.values(), key=lambda one: one["true"])
    assert worst["name"] == "annotator 10"
    assert counts["cost"]["answers"] == counts["review"]["kept"]


def test_the_page_is_one_file_that_asks_nobody(way: Any) -> None:
    out, counts, _ = way
    text = (out / PAGE).read_text("utf-8")
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', text)
    assert text.count("data:image/webp;base64,") > 50
    for stage in ("pool", "retrieve", "review", "accept", "export"):
        assert f"onward curate {stage}" in text
    assert f"{counts['export']['images']:,}" in text
    assert f"{counts['agreement']['krippendorff_alpha']:.3f}" in text
    assert "nan" not in re.sub(r"base64,[^\"]*", "", text).lower().split()


def test_the_same_again_is_there_and_another_is_refused(way: Any) -> None:
    out, counts, _ = way
    said: list[str] = []
    assert whole_way(out, size=TINY, voice=Voice(said.append)) == counts
    assert said == []
    with pytest.raises(OnwardError, match="found seed = 1 where it was 0"):
        whole_way(out, size=TINY, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["pool", "retrieve", "review", "run"])
def test_a_kill_changes_nothing(way: Any, stage: str, tmp_path: Path) -> None:
    _, counts, _ = way
    out = tmp_path / "way"
    words = [sys.executable, "-c", _KILLED, str(out), stage, repr(vars(TINY))]
    assert subprocess.run(words, check=False).returncode == -9
    with pytest.raises(OnwardError, match="unfinished"):
        open_stage(out, "demo")
    assert whole_way(out, size=TINY) == counts
