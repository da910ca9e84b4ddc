"""Whose targets a key vouches for, and who asks for them in a way that no key knows."""

from pathlib import Path
from typing import Any

import pytest
from silent import Silent
from tamper import Tamperer

import onward
from onward.benchmarks.rules import rules
from onward.checks.tiny import tiny_benchmark
from onward.exam import keys_of
from onward.results.check_many import Checked, check_results
from onward.results.keys import Keys, encoded, known_keys, read_keys
from onward.results.record import load_record

UNSURE = "targets cannot be vouched for"


@pytest.fixture(scope="module")
def emoji(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = onward.load("clear", protocol="iid")
    path = onward.run(made, Silent, seed=0, out=tmp_path_factory.mktemp("emoji")).path
    assert path is not None
    return path


def _check(*folders: Path, keys: Keys | None = None) -> Checked:
    return check_results(folders, keys, rules())


def _forged(folder: Path, into: Path, *, easier: bool = True, **changes: Any) -> Path:
    """Return a copy with easier targets, and what its spec says changed so that no key is found."""
    mine = Tamperer(folder, into)
    for period in range(7 if easier else 0):
        mine.change_decisions(period, lambda columns: columns["targets"].fill(0))
    mine.rescore()
    mine.change_spec(**changes)
    mine.redo_manifest()
    return mine.folder


def test_what_a_key_vouches_for_is_verified(emoji: Path) -> None:
    assert _check(emoji) == Checked(1, (), ())


@pytest.mark.parametrize(
    "changes",
    [
        {"benchmark_options": {"x": 1}},
        {"periods": ["2015 ", *map(str, range(6))]},
        {"data_digest": "f" * 64},
    ],
)
def test_changed_targets_do_not_hide_behind_another_name(
    emoji: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    found = _check(_forged(emoji, tmp_path, **changes))
    assert UNSURE in found.problems[0].problem
    assert found.notes == ()
    assert len(found.unverified) == 1


def test_a_share_of_labels_that_is_not_said_is_all_of_them(emoji: Path, tmp_path: Path) -> None:
    protocol = dict(load_record(emoji).spec.protocol)
    del protocol["labelled"]
    (finding, *_) = _check(_forged(emoji, tmp_path, protocol=protocol)).problems
    assert "than the benchmark's key of this seed has" in finding.problem
    assert _check(_forged(emoji, tmp_path / "fair", easier=False, protocol=protocol)).problems == ()


def test_a_seed_without_a_key_is_a_note_and_not_verified(emoji: Path, tmp_path: Path) -> None:
    mine = _forged(emoji, tmp_path, seed=99)
    found = _check(mine)
    assert (found.problems, found.unverified) == ((), frozenset({mine}))
    assert "no key is known for clear on emoji" in found.notes[0]


def test_known_data_may_not_go_by_another_name(emoji: Path, tmp_path: Path) -> None:
    mine = _forged(emoji, tmp_path / "name", easier=False, data="clear10")
    (finding,) = _check(mine).problems
    assert finding.problem == (
        "its data is, by its hash, clear on emoji or tic on emoji; it says clear on clear10"
    )
    digest = load_record(emoji).spec.data_digest
    mine = _forged(emoji, tmp_path / "hash", easier=False, data_digest=digest[:16] + "0" * 48)
    (finding,) = _check(mine).problems
    assert finding.problem.startswith(f"expected the data hash {digest}, found {digest[:16]}000")


def test_a_folder_s_own_name_is_no_other_name(tmp_path: Path) -> None:
    made = tiny_benchmark()
    spec = onward.run(made, Silent, out=tmp_path).spec
    keys = Keys({}, {spec.data_digest[:64]: frozenset({("tiny", "soda:mine")})})
    assert list(keys.misnamed(spec.model_copy(update={"data": "soda:theirs"}))) == []
    assert list(keys.misnamed(spec.model_copy(update={"data": "street"}))) != []


def test_data_that_nobody_has_keys_of_is_a_note(tmp_path: Path) -> None:
    path = onward.run(tiny_benchmark(), Silent, out=tmp_path).path
    assert path is not None
    found = _check(path)
    assert (found.problems, len(found.notes), found.unverified) == ((), 1, frozenset({path}))
    assert _check(path, keys=keys_of(tiny_benchmark(), [0])) == Checked(1, (), ())


def test_a_copy_is_refused_and_the_run_that_it_copies_is_not(emoji: Path, tmp_path: Path) -> None:
    copy = _forged(emoji, tmp_path, easier=False, seed=99)
    assert set(_check(emoji, copy).wrong) == {copy}


def test_a_file_of_keys_says_what_data_is_called(tmp_path: Path) -> None:
    keys = known_keys() | keys_of(tiny_benchmark(), [0])
    (tmp_path / "key.json").write_bytes(encoded(keys))
    assert read_keys(tmp_path / "key.json").editions == keys.editions
    assert ("tiny", "points") in {name for names in keys.editions.values() for name in names}
    # One of before, that does not say it, is read all the same.
    (tmp_path / "old.json").write_bytes(encoded(Keys(keys.by_name)))
    text = (tmp_path / "old.json").read_text().replace('"editions":{},', "")
    (tmp_path / "old.json").write_text(text)
    assert read_keys(tmp_path / "old.json").by_name == keys.by_name
