"""Run folders of older versions: verified as they are stored, shown in the words of this one."""

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from terminal import Terminal

import onward as package
from onward.errors import OnwardError
from onward.learners import choose
from onward.methods import METHODS
from onward.results.check import check_folder
from onward.results.collect import collect
from onward.results.read import read_spec, read_stored_spec
from onward.results.record import load_record
from onward.results.schema import SCHEMA
from onward.results.translations import TRANSLATIONS, translated

# One seed of gdumb on emoji, made when gdumb had a class-balanced reservoir.
STORED = Path(__file__).parents[1] / "golden" / "gdumb_before_greedy"
HASH = "165bf1ba2a352731"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED, tmp_path / "results"))


@pytest.fixture
def folder(results: Path) -> Path:
    return results / "clear" / "gdumb" / HASH


def test_a_stored_gdumb_run_is_read_as_gdumb_reservoir(folder: Path) -> None:
    record = load_record(folder)
    assert record.spec.method == read_spec(folder).method == "gdumb_reservoir"
    assert read_stored_spec(folder).method == "gdumb"
    assert read_stored_spec(folder).hash == record.hash == folder.name
    assert record.complete


def test_check_results_verifies_the_stored_hash(onward: Terminal, folder: Path) -> None:
    code, out, err = onward("check", "results", folder)
    assert (code, err) == (0, ""), out + err
    assert "1 run folders checked, 0 with problems" in out
    elsewhere = folder.rename(folder.with_name(read_spec(folder).hash))
    (problem,) = [finding.problem for finding in check_folder(elsewhere)]
    assert f"expected the folder name {HASH}" in problem


def test_every_view_of_the_results_names_gdumb_reservoir(
    onward: Terminal, results: Path, tmp_path: Path
) -> None:
    code, out, err = onward("show", results, "--format", "csv")
    assert (code, err) == (0, ""), err
    assert {row["method"] for row in csv.DictReader(io.StringIO(out))} == {"gdumb_reservoir"}
    code, _, err = onward("report", results, "--out", tmp_path / "page.html")
    assert code == 0, err
    assert "gdumb_reservoir" in (tmp_path / "page.html").read_text()
    code, out, err = onward("leaderboard", results, "--out", tmp_path / "site")
    assert code == 0, err
    assert "1 of 1 runs accepted" in out
    (entry,) = (tmp_path / "site" / "entries").glob("*.html")
    text = entry.read_text()
    assert "--method gdumb_reservoir --seeds 0" in text, "the command that repeats the run"
    assert HASH in text, "the name of the folder"


def test_a_run_is_found_by_the_name_of_its_folder(
    onward: Terminal, results: Path, folder: Path
) -> None:
    both = (HASH[:6], folder / "spec.json")
    code, out, err = onward("compare", *both, "--results", results, "--json")
    assert code == 0, err
    assert "gdumb_reservoir" in out
    assert json.loads(out)["pairs"][0]["spec"] == [], "spec files are translated too"


def test_gdumb_runs_again_beside_a_stored_run(results: Path, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    kinds: list[str] = []
    record = package.run(
        package.load("clear", data="emoji", recipe="cpu"),
        "gdumb",
        seed=0,
        out=results,
        watch=lambda event: kinds.append(event.kind),
    )
    assert "learned" in kinds
    assert "done before" not in kinds
    assert record.path is not None
    assert record.path != folder
    assert record.spec.method_digest == "greedy"
    assert record.hash == record.path.name
    assert {path: path.read_bytes() for path in before} == before
    found = collect([results])
    assert found.left_out == ()
    assert sorted(one.spec.method for one in found.records) == ["gdumb", "gdumb_reservoir"]
    assert [finding for one in found.records for finding in check_folder(one.path or folder)] == []


def test_gdumb_reservoir_computes_what_gdumb_did(folder: Path, tmp_path: Path) -> None:
    stored = load_record(folder)
    benchmark = package.load("clear", data="emoji", recipe="cpu")
    record = package.run(benchmark, "gdumb_reservoir", seed=0, out=tmp_path / "new")
    assert record.spec.schema_version == SCHEMA
    assert record.spec == stored.spec.model_copy(update={"schema_version": SCHEMA})
    # Another processor may round a few decisions differently.
    np.testing.assert_allclose(record.matrix(), stored.matrix(), atol=0.02)
    greedy = package.run(benchmark, "gdumb", seed=0)
    assert np.nanmax(np.abs(greedy.matrix() - stored.matrix())) > 0.03


def test_specs_of_this_version_are_not_translated(folder: Path) -> None:
    spec = package.run(package.load("clear", epochs=1), "finetune").spec
    for name in METHODS.own:
        found = choose(name)
        digest = found.digest or found.revision(package.load("clear").recipes["cpu"])
        today = spec.model_copy(update={"method": name, "method_digest": digest})
        assert translated(today) == today, name
    mine = spec.model_copy(update={"method_digest": "0123456789abcdef"})
    assert translated(mine) == mine, "a method of the same name in a file of the user"
    assert all(translation.reason for translation in TRANSLATIONS)


def test_settings_tuned_for_the_stored_gdumb_are_refused(tmp_path: Path) -> None:
    from onward.benchmarks import Source
    from onward.tuning import load_tuned, tune

    source = Source("clear", data="emoji")
    tune(source, "gdumb", {"lr": [1.0]}, tmp_path, periods=2)
    file = tmp_path / "tuned.json"
    before = json.loads(file.read_text())
    assert before["tuned_for"].pop("method's code") == "greedy"
    file.write_text(
        json.dumps(before | {"tuned_for": {**before["tuned_for"], "method's code": None}})
    )
    with pytest.raises(
        OnwardError, match="tuned for the method's code None, found a run with gree"
    ):
        load_tuned(tmp_path).for_run(source, "gdumb")


ADAM = {"model": "linear", "optimizer": "adam"}


@pytest.mark.parametrize(
    ("recipe", "name"),
    [
        (ADAM, "agem_wrong_reference"),
        ({"model": "linear", "clip": 1.0}, "agem_wrong_reference"),
        ({"model": "linear", "goes_on": True}, "agem_wrong_reference"),
        ({"model": "linear", "decays_all": False}, "agem_wrong_reference"),
        ({"model": "linear", "optimizer": "sgd", "momentum": 0.9}, "agem"),
        ({**ADAM, "model": "mlp"}, "agem"),
    ],
)
def test_stored_agem_runs_with_a_wrong_reference_gradient_have_another_name(
    folder: Path, recipe: dict[str, object], name: str
) -> None:
    spec = read_stored_spec(folder).model_copy(update={"method": "agem", "recipe": recipe})
    assert translated(spec).method == name
    exact = spec.model_copy(update={"method_digest": "exact_reference"})
    assert translated(exact).method == "agem"


def test_options_of_older_specs_have_the_types_of_today(folder: Path) -> None:
    stored = read_stored_spec(folder)
    older = {"periods": 4, "min_area": 900, "drop_occluded": None, "validation": 0}
    today = {"periods": "4", "min_area": 900.0, "drop_occluded": -1, "validation": 0.0}
    one, other = (stored.model_copy(update={"benchmark_options": o}) for o in (older, today))
    assert translated(translated(one)).without_seed() == translated(other).without_seed()
