"""Figures are valid, repeatable, and never show an empty cell as a score of zero."""

import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

from onward.report import figures
from onward.report.decay import class_decay, curve
from onward.report.labels import Point, label_points, spread_apart
from onward.report.style import colours, to_svg
from onward.report.summary import Measure, Summary, summarise

NAN = float("nan")


def every_figure(summaries: list[Summary]) -> dict[str, Figure]:
    palette = colours([summary.label for summary in summaries])
    years = {distance: 1.4 * distance for distance in range(-6, 7)}
    curves = [curve(summary) for summary in summaries]
    return {
        "matrices": figures.score_matrices(summaries),
        "distance": figures.accuracy_by_distance(curves, palette, years),
        "distance in periods": figures.accuracy_by_distance(curves, palette),
        "classes": figures.class_decay_bars(class_decay(summaries[0])),
        "cost": figures.quality_against_cost(summaries, palette),
    }


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter() if "text" in node.tag]


@pytest.mark.parametrize(("seeds", "protocol"), [(1, "iid"), (2, "streaming")])
def test_every_figure_is_valid_svg_and_the_same_twice(
    demo: Callable, seeds: int, protocol: str
) -> None:
    runs = demo(seeds, protocols=(protocol,), methods=("scratch", "er"), periods=4)
    once, again = every_figure(summarise(runs)), every_figure(summarise(runs))
    for name, figure in once.items():
        svg = to_svg(figure)
        assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg", name
        assert to_svg(again[name]) == svg, name


def test_empty_cells_are_hatched_and_carry_no_number(make: Callable) -> None:
    R = np.array([[NAN, 0.0, 0.5], [NAN, NAN, 0.7], [NAN, NAN, NAN]])
    figure = figures.score_matrices(summarise([make(R, protocol="streaming")]))
    (axes,) = figure.axes
    drawn = axes.collections[0].get_array()
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn), np.isnan(R))
    assert sorted(text.get_text() for text in axes.texts) == ["0.0", "50.0", "70.0"]
    hatched = {patch.get_xy() for patch in axes.patches if isinstance(patch, Rectangle)}
    assert hatched == {(float(j), float(i)) for i, j in np.argwhere(np.isnan(R))}


def test_all_panels_share_one_colour_scale(make: Callable) -> None:
    summaries = summarise([make([[0.2]], method="a"), make([[0.9]], method="b")])
    figure = figures.score_matrices(summaries)
    limits = [axes.collections[0].get_clim() for axes in figure.axes]
    assert limits == [pytest.approx((20, 90))] * 2


def test_bands_are_one_deviation_over_seeds(make: Callable) -> None:
    lines = [curve(summarise([make([[0.4]]), make([[0.6]], seed=1)])[0])]
    figure = figures.accuracy_by_distance(lines, {"finetune": "red"})
    band = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((50 - 14.142, 50 + 14.142), abs=0.001)


@pytest.mark.parametrize("name", ["$\\frac{1$", "<script>alert(1)</script>", "表情符号", "x" * 300])
def test_hostile_names_are_text(make: Callable, name: str) -> None:
    R = [[0.7, 0.6], [0.6, 0.7]]
    records = [make(R, method=name, cubes=np.array(R)[:, :, None], classes=(name,))]
    drawn = {name: to_svg(figure) for name, figure in every_figure(summarise(records)).items()}
    for svg in drawn.values():
        assert "<script" not in svg
        assert not any("x" * 30 in text for text in texts(svg))
    assert any(name[:10] in text for text in texts(drawn["matrices"]))


def test_a_stream_with_nothing_to_draw_still_draws(make: Callable) -> None:
    summaries = summarise([make([[NAN]], protocol="streaming")])
    for figure in every_figure(summaries).values():
        ET.fromstring(to_svg(figure))


def test_classes_are_drawn_from_the_top_with_a_dot_per_seed() -> None:
    rates = {"fast": Measure((0.02, 0.04)), "slow": Measure((0.0, 0.01))}
    (axes,) = figures.class_decay_bars(rates).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["fast", "slow"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.lines[0].get_xdata().tolist() == [2.0, 4.0]


def test_a_method_has_one_colour_whatever_stands_beside_it() -> None:
    assert colours(["b", "a", "b"]) == colours(["a", "b"])
    assert len(set(colours(list("abcdefghij")).values())) == 10


def test_labels_are_moved_apart_no_more_than_needed() -> None:
    assert spread_apart([0, 10, 20], gap=1) == [0, 10, 20]
    moved = spread_apart([0.0, 0.1, 0.2, 5.0], gap=1)
    assert np.diff(moved).min() >= 1
    assert moved[-1] == 5


def test_names_beside_crowded_points_do_not_meet() -> None:
    figure = Figure(figsize=(4.8, 3.7))
    axes = figure.subplots()
    axes.set(xlim=(0, 3), ylim=(58, 70))
    points = {name: Point(1 + 0.02 * at, 66.5, 4, 1) for at, name in enumerate(("one", "two"))}
    label_points(axes, points, {"one": "red", "two": "blue"})
    figure.draw_without_rendering()
    one, two = (child.get_window_extent() for child in axes.texts if isinstance(child, Annotation))
    assert not one.overlaps(two)
