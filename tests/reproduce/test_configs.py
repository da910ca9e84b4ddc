"""Every published row is a run or says why not, and published values are the published ones."""

import importlib
from pathlib import Path

import pytest
from clear_miniature import write_old

from onward.configs import TABLES
from onward.errors import OnwardError
from onward.learners import choose
from onward.metrics import METRICS
from onward.protocols import BUDGETED, DETECTION, MANY_LABELS, PROTOCOLS
from onward.report.numbers import MISSING
from onward.reproduce.claims import Cell, judge
from onward.reproduce.plan import plan
from onward.reproduce.table import Missing, PaperTable, Run
from onward.reproduce.words import duration

EVERY = pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))


def test_the_names_that_programs_call() -> None:
    assert list(TABLES) == [
        "clear/table1", "clear/table2", "clear/supp4", "clear/supp5", "clear/supp6", "clear/supp7",
        "clear/supp8", "clear/supp9", "iirc/table5", "iirc/table6", "iirc/table7", "iirc/buffer",
        "clad/table1", "clad/table2", "clad/gap", "tic/table4", "tic/table4_redcaps",
        "tic/table4_m", "tic/table4_l", "tic/table4_xl", "tic/table5", "tic/table7",
        "tic/table8", "tic/table8_l", "tic/table9",
    ]  # fmt: skip


@EVERY
def test_every_row_of_the_file_is_a_row_and_every_number_is_read(table: PaperTable) -> None:
    published = [row for row in table.rows if row.key is not None]
    if table._values is None:
        assert not published
        return
    rows = {tuple(sorted(row.key.items())) for row in published if row.key is not None}
    assert len(rows) == len(published) == len(table._values.rows)
    numbers = {name for name in table._values.rows[0] if f"{name}_std" in table._values.rows[0]}
    assert numbers <= {column.name for column in table.columns}
    lacking = ("ambiguous", "unrecoverable", "not published")
    for row in table.rows:
        for column in table.columns:
            value = table.published(Cell(row.name, column.name))
            assert (value.mean is None) == value.status.startswith(lacking)


@EVERY
def test_the_file_states_its_command_and_its_cost(table: PaperTable) -> None:
    said = importlib.import_module(f"onward.configs.{table.name.replace('/', '.')}").__doc__ or ""
    (runs, cpu), (_, paper) = table.cost("cpu"), table.cost("paper")
    assert f"onward reproduce {table.name} --data {table.usual} --recipe cpu" in said
    cost = f"Cost: {runs} runs, {duration(cpu)} of CPU time (cpu) or {duration(paper)} (paper)"
    assert cost in " ".join(said.split())


@EVERY
def test_every_cell_is_a_run_that_can_be_built_or_a_reason(table: PaperTable) -> None:
    for row in table.rows:
        choose(row.method, row.options)
        assert set(row.seconds) == {"cpu", "paper"}
        for column in table.columns:
            assert column.metric in METRICS or column.after is not None or column.measure
            assert column.protocol in {**PROTOCOLS, **MANY_LABELS, **DETECTION, **BUDGETED}
            found = table.run(row, column, table.usual, "cpu")
            assert isinstance(found, Run) or (isinstance(found, Missing) and found.reason)


@EVERY
def test_claims_are_run_often_enough_to_be_answered_either_way(table: PaperTable) -> None:
    names = [claim.name for claim in table.claims]
    assert len(set(names)) == len(names) > 0
    for claim in table.claims:
        # A detector takes minutes: such a claim says how to have it answered.
        if "--seeds 0-7" not in claim.note:
            assert claim.seeds >= 8
            assert 2 ** (1 - claim.seeds) <= 0.05 / len(claim.pairs)
        for cell in claim.cells:
            row = next(row for row in table.rows if row.name == cell.row)
            column = next(column for column in table.columns if column.name == cell.column)
            assert table.seeds(row, column) >= claim.seeds


GOLDEN = {
    ("clear/table1", "linear/agem", "iid_in_domain"): "91.9±0.0",
    ("clear/table1", "linear/gdumb", "stream_fwt"): "85.2±0.1",
    ("clear/table1", "resnet18/lwf", "stream_next_domain"): "78.8±0.2",
    ("clear/table1", "resnet18/reservoir", "iid_bwt"): "70.0±0.1",
    ("clear/table1", "linear/biased_reservoir", "iid_next_domain"): "90.5±0.0",
    ("clear/table2", "alpha=2", "iid_fwt"): "89.1±0.2",
    ("clear/table2", "c=0.5", "stream_next_domain"): "90.4±0.1",
    ("clear/supp4", "nap", "fwt"): "85.4±0.1",
    ("clear/supp4", "scratch/alpha=2", "next_domain"): "87.7|87.8",
    ("clear/supp4", "finetune/c=0.5", "next_domain"): "89.7±0.0",
    ("clear/supp5", "scratch/cumulative", "next_domain"): "90.6±0.1",
    ("clear/supp6", "finetune/alpha=5", "in_Pretrain-ImgNet"): "?",
    ("clear/supp7", "finetune/cumulative", "next_MoCo-YFCC"): "92.3±0.2",
    ("clear/supp8", "finetune/c=1", "next_MoCo-YFCC"): "91.1±0.0",
    ("clear/supp9", "nap", "next_CLIP"): "81.1±0.1",
    ("iirc/table5", "er", "after_1"): "31.0±4.6",
    ("iirc/table5", "agem", "after_21"): "2.0±0.3",
    ("iirc/table5", "finetune", "after_0"): MISSING,
    ("iirc/table6", "icarl_norm", "after_2"): "38.0±4.1",
    ("iirc/table7", "joint", "after_0"): MISSING,
    ("clad/table1", "finetune", "amca"): "36.8",
    ("clad/table1", "c1", "amca"): "68.6",
    ("clad/table1", "c1/one_head", "amca"): MISSING,
    ("clad/table1", "c3", "after_5"): MISSING,
    ("clad/table2", "d1_swin", "map"): "74.7",
    ("clad/table2", "d1", "map"): MISSING,
    ("clad/table2", "finetune", "map"): "59.8",
    ("clad/table2", "d3", "night"): MISSING,
}


@pytest.mark.parametrize(("place", "text"), GOLDEN.items(), ids=[" ".join(p) for p in GOLDEN])
def test_published_values(place: tuple[str, str, str], text: str) -> None:
    table, row, column = place
    assert TABLES.find(table).published(Cell(row, column)).text() == text


def test_the_biased_row_of_table_1_is_the_last_of_table_2() -> None:
    one, two = TABLES.find("clear/table1"), TABLES.find("clear/table2")
    assert one.columns == two.columns
    for column in one.columns:
        biased = one.published(Cell("linear/biased_reservoir", column.name))
        assert biased == two.published(Cell("c=1", column.name))
    rows = {row.name: row for table in (one, two) for row in table.rows}
    assert rows["linear/biased_reservoir"].options == rows["c=1"].options


def test_the_published_numbers_satisfy_the_claims_of_the_main_tables() -> None:
    for name in ("clear/table1", "clear/table2", "iirc/table5", "clad/table1"):
        table = TABLES.find(name)
        for claim in table.claims:
            found = judge(claim, {}, table.published).published
            assert found.satisfied == found.readable, claim.name
            assert found.readable == found.pairs or name.startswith(("iirc", "clad"))


def test_streaming_on_emoji_deals_identities_as_iid_does() -> None:
    table = TABLES.find("clear/table1")
    (row,) = (row for row in table.rows if row.name == "linear/er")
    found = {c.protocol: table.run(row, c, "emoji", "cpu") for c in table.columns}
    iid, streaming = found["iid"], found["streaming"]
    assert isinstance(iid, Run)
    assert isinstance(streaming, Run)
    for number in (1, 3):
        tested = [
            set(stream.table.values("group")[stream[0].test.rows])
            for stream in (
                streaming.source.load().stream(number * streaming.seed_step),
                iid.source.load().stream(number * iid.seed_step),
            )
        ]
        assert tested[0] < tested[1]


def test_what_a_download_lacks_is_named(tmp_path: Path) -> None:
    folder = write_old(tmp_path, features=("moco_b0",))
    found = plan(TABLES.find("clear/supp8"), str(folder), "paper")
    assert [column.name for column in found.columns()] == ["next_MoCo-YFCC"]
    assert "the download has no clip features" in found.left_out()
    (run,) = {each.run.source.options["features"] for each in found.planned}
    assert run == "moco_b0"


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(OnwardError, match="Did you mean 'clear/table1'"):
        TABLES.find("clear/tabel1")
    with pytest.raises(OnwardError, match="Did you mean 'linear/gdumb'"):
        plan(TABLES.find("clear/table1"), "emoji", "cpu", rows=["linear/gdum"])
    with pytest.raises(OnwardError, match="Did you mean 'paper'"):
        plan(TABLES.find("clear/table1"), "emoji", "papr")
