"""Each benchmark's own pictures: what they show is what was answered, or they are not there."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_street import small_street

import onward
from onward.budget import REPORTED
from onward.checks.tiny import tiny_benchmark
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_pairs import tiny_pairs
from onward.report.drive import panels_of
from onward.report.pictures import PICTURES, Picture
from onward.report.provenance import stream_card
from onward.report.style import to_svg
from onward.report.summary import Summary, summarise
from onward.types import Array, Benchmark, Budget, View


class Guessing:
    """Answers at random, and otherwise after every call."""

    metered = REPORTED  # all of its work, which is none

    def __init__(self, seed: int) -> None:
        self.calls, self.seed = 0, seed

    def learn(self, view: View, budget: Budget) -> None:
        self.calls += 1

    def predict(self, view: View) -> Array:
        return np.random.default_rng([self.calls, self.seed]).integers(0, 6, len(view))


def runs(benchmark: Benchmark, methods: Sequence[str], seeds: int = 2) -> list[Summary]:
    return summarise(onward.run(benchmark, name, seed) for name in methods for seed in range(seeds))


def paint(name: str, setting: Sequence[Summary]) -> list[Picture]:
    """Return what is drawn; each picture can be read by all, and fits a page."""
    found = list(PICTURES[name](setting, stream_card(setting[0].records)))
    for picture in found:
        width, height = picture.figure.get_size_inches()
        assert width <= 10.1
        assert height <= 11
        assert picture.title
        assert picture.caption.endswith(".")
        assert any(letter.isdigit() for letter in picture.alt)
        assert "nan" not in picture.alt
        assert to_svg(picture.figure).startswith("<?xml")
    return found


def lines(picture: Picture, panel: int = 0) -> dict[str, list[float]]:
    axes = picture.figure.axes[panel]
    found = [line for line in axes.lines if line.get_gid()]
    return {str(line.get_gid()): np.asarray(line.get_ydata()).tolist() for line in found}


@pytest.fixture(scope="module")
def labelled() -> list[Summary]:
    return runs(tiny_benchmark("incomplete"), ("finetune", "nap", "er"))


@pytest.fixture(scope="module")
def pairs() -> list[Summary]:
    return runs(tiny_pairs(), ("finetune", "nap"), seeds=1)


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> list[Summary]:
    out = tmp_path_factory.mktemp("driven")
    benchmark = onward.load("clad-c", data=small_street(), size=8)
    return summarise(onward.run(benchmark, Guessing(seed), seed, out) for seed in range(2))


@pytest.mark.parametrize(
    ("name", "data"),
    [("clear", "emoji"), ("iirc", "emoji"), ("tic", "emoji"), ("clad-c", ""), ("clad-d", "")],
)
def test_every_card_asks_for_pictures_that_there_are(name: str, data: str) -> None:
    card = onward.load(name, data=data or small_street()).card
    assert card.pictures
    assert set(card.pictures) <= set(PICTURES)


def test_next_period_is_the_diagonal_above_the_main_one(demo: Callable) -> None:
    setting = summarise(demo(3, protocols=("streaming",)))
    (picture,) = paint("next_period", setting)
    drawn = lines(picture)
    assert set(drawn) == {"finetune", "nap", "scratch", "cumulative", "er"}
    for item in setting:
        np.testing.assert_allclose(drawn[item.label], 100 * np.diagonal(item.matrix, 1))
    best = setting[0]
    assert f"{best.label} {100 * best.matrix[0, 1]:.1f} % at 2018-05" in picture.alt
    # One period has no next one, and neither has a table of which nothing else is tested.
    assert paint("next_period", summarise(demo(1, periods=1))) == []


def test_static_tests_are_panels(demo: Callable, pairs: list[Summary]) -> None:
    (picture,) = paint("static", summarise(demo(2, protocols=("iid",))))
    assert picture.title == "Elsewhere: other"
    np.testing.assert_allclose(lines(picture)["er"], np.linspace(30, 40, 7))
    assert paint("static", pairs) == []  # it has none


def test_all_labels_so_far(labelled: list[Summary]) -> None:
    (picture,) = paint("pooled", labelled)
    drawn = lines(picture)
    for item in labelled:
        expected = 100 * np.mean([run.static("pooled") for run in item.records], axis=0)
        np.testing.assert_allclose(drawn[item.label], expected)
        assert f"{item.label} {expected[0]:.1f} %" in picture.alt


def test_confusion_of_the_leading_methods_beside_the_truth(labelled: list[Summary]) -> None:
    (picture,) = paint("confusion", labelled)
    titles = [axes.get_title(loc="left") for axes in picture.figure.axes]
    assert titles[:4] == ["as it is", *(item.label for item in labelled)]
    assert "seed 0" in picture.caption
    assert "labels for each sample" in picture.alt
    assert len(paint("confusion", labelled[:1])) == 1


def test_a_picture_whose_grounds_are_not_kept_is_not_there(
    demo: Callable, labelled: list[Summary]
) -> None:
    plain = [
        Summary(item.label, tuple(replace(run, decisions={}) for run in item.records))
        for item in labelled
    ]
    assert paint("confusion", plain) == []
    assert paint("pooled", plain) != []
    setting = summarise(demo(1, protocols=("iid",)))
    for name in (
        "pooled", "confusion", "drive", "class_precision", "retrieval", "zero_shot",
    ):  # fmt: skip
        assert paint(name, setting) == [], name


def test_ten_methods_at_most_and_hostile_names_are_text(make: Callable) -> None:
    evil = '"><script>alert("$x^2$")</script>'
    R = np.array([[0.7, 0.6, 0.5], [0.6, 0.7, 0.6], [0.5, 0.6, 0.7]])
    records = [make(R - 0.01 * n, method=f"m{n}") for n in range(13)]
    setting = summarise([make(R + 0.1, method=evil), *records])
    (picture,) = paint("next_period", setting)
    assert len(lines(picture)) == 10
    assert evil in lines(picture)
    assert "<script" not in to_svg(picture.figure)
    (matrices,) = paint("domain_matrix", setting)
    shown = [axes for axes in matrices.figure.axes if axes.get_title(loc="left")]
    assert len(shown) == 10


def test_a_drive_by_class_and_by_what_the_stream_s_card_says(driven: list[Summary]) -> None:
    card = stream_card(driven[0].records)
    assert card is not None
    domains = card.domains()
    assert domains is not None
    assert set(domains.column_names) == {"id", "city", "location", "period", "weather"}
    (picture,) = paint("drive", driven)
    headings = [axes.get_title(loc="left") for axes in picture.figure.axes]
    assert headings[:5] == ["by class", "by light", "by weather", "by road", "by city"]
    night = panels_of(driven[0].records, domains)["by light"]["Night"]
    assert f"Night {100 * night[-1]:.0f} %" in picture.alt


def test_an_older_card_without_domains_gives_classes_alone(
    driven: list[Summary], tmp_path: Path
) -> None:
    card = stream_card(driven[0].records)
    assert card is not None
    old = card.model_copy(update={"folder": tmp_path})
    (picture,) = PICTURES["drive"](driven, old)
    assert [axes.get_title(loc="left") for axes in picture.figure.axes] == ["by class"]
    assert "no domains" in picture.caption


def test_domains_are_written_beside_a_card_that_has_none_yet(tmp_path: Path) -> None:
    benchmark = onward.load("clad-c", data=small_street(), size=8)
    plain = replace(benchmark, card=replace(benchmark.card, domains=()))
    record = onward.run(plain, Guessing(0), out=tmp_path)
    card = stream_card([record])
    assert card is not None
    assert card.domains() is None
    again = stream_card([onward.run(benchmark, Guessing(1), 1, tmp_path)])
    assert again is not None
    assert again.domains() is not None


def test_boxes_by_domain_and_by_class() -> None:
    setting = runs(tiny_boxes(), ("nap",))
    (matrices,) = paint("domain_matrix", setting)
    texts = [text.get_text() for text in matrices.figure.axes[0].texts]
    assert sum(text.startswith("±") for text in texts) == 9
    (classes,) = paint("class_precision", setting)
    cube, names = setting[0].records[0].class_matrix()
    assert [axes.get_title(loc="left") for axes in classes.figure.axes] == list(names)
    drawn = lines(classes)["nap"]
    both = [run.class_matrix()[0][:, :, 0] for run in setting[0].records]
    np.testing.assert_allclose(drawn, 100 * np.mean(np.nanmean(both, axis=2), axis=0))
    assert len(drawn) == len(cube)


def test_retrieval_both_ways_of_the_last_model(pairs: list[Summary]) -> None:
    (picture,) = paint("retrieval", pairs)
    for panel, way in enumerate(("image_to_text1", "text_to_image1")):
        for item in pairs:
            expected = np.mean([run.matrix(way)[-1] for run in item.records], axis=0)
            np.testing.assert_allclose(lines(picture, panel)[item.label], 100 * expected)


def test_zero_shot_where_it_is_measured(pairs: list[Summary]) -> None:
    (picture,) = paint("zero_shot", pairs)
    for item in pairs:
        scores = np.mean([run.matrix(None, "zero_shot") for run in item.records], axis=0)
        np.testing.assert_allclose(lines(picture)[item.label], 100 * np.diagonal(scores))
        np.testing.assert_allclose(lines(picture, 1)[item.label], 100 * scores[-1])
