"""Draw the house: its floors, and a sample's way through it.

    python tools/draw_house.py

writes ``docs/pictures/house.svg``. Colours are those of the page that it stands in, light or dark.
"""

from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

FLOORS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("what you type", ("cli",)),
    ("questions", ("curate", "drift", "planning", "checks", "tuning", "reproduce")),
    ("many runs", ("sweep", "report")),
    ("one run", ("together", "loop", "evaluation")),
    ("what, and how", ("benchmarks", "grid", "learners", "methods")),
    ("parts", ("data", "memory", "models", "train")),
    ("what is kept", ("metrics", "tasks", "results")),
    ("the contract", ("types", "protocols", "view", "table", "budget")),
    ("the ground", ("errors",)),
)
"""From the roof down: a floor imports from itself and from below."""
WAY = (
    ("data", "a file becomes a row of a table"),
    ("benchmarks", "rows are cut into periods"),
    ("loop", "a period is shown as a view"),
    ("methods", "a method says how to learn from it"),
    ("train", "a model takes its steps"),
    ("tasks", "decisions are scored"),
    ("results", "and written down, with their hashes"),
    ("report", "folders become tables and pages"),
)
_LEFT, _TOP, _HEIGHT, _WIDE, _BOX = 112, 62, 58, 570, 88
_WIDTH, _LINE = _LEFT + _WIDE + 40, 27
_STYLE = """
  text { font: 14px system-ui, sans-serif; fill: var(--md-default-fg-color, #1f2937); }
  .floor { fill: var(--md-code-bg-color, #f3f4f6); stroke: none; }
  .roof { fill: #2a6f97; }
  .box { fill: var(--md-default-bg-color, #fff); stroke: #7c93a8; }
  .module { font: 13px ui-monospace, monospace; text-anchor: middle; }
  .name { fill: var(--md-default-fg-color--light, #6b7280); text-anchor: end; font-size: 13px; }
  .way { fill: none; stroke: #e07a1f; stroke-width: 2.5; stroke-linejoin: round; opacity: .85; }
  .dot { fill: #e07a1f; }
  .number { fill: #fff; text-anchor: middle; font-weight: 700; font-size: 12px; }
  .told { font-size: 14px; }
"""


def main() -> None:
    """Write the picture."""
    target = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "house.svg"
    target.write_text(drawn())
    print(f"wrote {target}")


def drawn() -> str:
    """Return the picture."""
    places = dict[str, tuple[float, float]]()
    eaves, middle = _TOP - 4, _LEFT + _WIDE / 2
    roof = f"M{_LEFT - 14} {eaves} L{middle} 8 L{_LEFT + _WIDE + 14} {eaves} Z"
    floors, parts = [f'<path class="roof" d="{roof}"/>'], list[str]()
    for floor, (name, modules) in enumerate(FLOORS):
        y = _TOP + floor * _HEIGHT
        floors.append(_box("floor", _LEFT, y, _WIDE, _HEIGHT - 4))
        floors.append(_text("name", _LEFT - 12, y + 33, name))
        gap = (_WIDE - _BOX * len(modules)) / (len(modules) + 1)
        for number, module in enumerate(modules):
            x = _LEFT + gap + number * (_BOX + gap)
            parts.append(_box("box", x, y + 11, _BOX, 32))
            parts.append(_text("module", x + _BOX / 2, y + 32, module))
            places[module] = (x + _BOX - 3, y + 13)
    points = [places[module] for module, _ in WAY]
    # The way passes behind the rooms, its stations stand before them.
    parts = [*floors, _way(points), *parts, *(_dot(n, *at) for n, at in enumerate(points, 1))]
    below = _TOP + _HEIGHT * len(FLOORS) + 24
    for number, (_, told) in enumerate(WAY):
        x, y = _LEFT + 12 + number // 4 * 296, below + number % 4 * _LINE
        parts += [_dot(number + 1, x, y), _text("told", x + 18, y + 5, told)]
    title = "The house: floors that import only from below, and a sample's way through them"
    body, height = "\n".join(parts), below + 4 * _LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{title}">\n<style>{_STYLE}</style>\n{body}\n</svg>\n'
    )


def _way(points: list[tuple[float, float]]) -> str:
    """Go from floor to floor, and at last up outside of the house."""
    path = "M{:.0f} {:.0f}".format(*points[0])
    for (x0, y0), (x, y) in pairwise(points[:-1]):
        half = (y0 + y) / 2
        path += f" C{x0:.0f} {half:.0f} {x:.0f} {half:.0f} {x:.0f} {y:.0f}"
    (_, y0), (x, y) = points[-2:]
    outside = _LEFT + _WIDE + 26
    path += f" C{outside} {y0:.0f} {outside} {y0:.0f} {outside} {y0 - 40:.0f}"
    path += f" V{y + 40:.0f} C{outside} {y:.0f} {outside} {y:.0f} {x:.0f} {y:.0f}"
    return f'<path class="way" d="{path}"/>'


def _dot(number: int, x: float, y: float) -> str:
    circle = f'<circle class="dot" cx="{x:.0f}" cy="{y:.0f}" r="10"/>'
    return circle + _text("number", x, y + 4, str(number))


def _box(kind: str, x: float, y: float, width: float, height: float) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}"'
    return f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" {size} rx="5"/>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{escape(text)}</text>'


if __name__ == "__main__":
    main()
