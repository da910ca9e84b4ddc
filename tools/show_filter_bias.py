"""Survival per period of two filters, one of which favours old data on purpose.

    python tools/show_filter_bias.py OUT

A raw pool of emoji is dated. DataComp's basic filter is asked nothing about the world: it keeps
about as much of every year. A CLIP that has seen the emoji of 2016 and nothing since is asked which
pairs go together: it keeps what it knows, and the share that survives falls. ``OUT`` has both
pictures, and ``bias.png`` with the two of them.
"""

import sys
from pathlib import Path

from onward.curate.date import make_dated
from onward.curate.demo.small_clip import MODEL, train_small_clip
from onward.curate.embed_sources import embed_source, make_store
from onward.curate.filter import make_filtered, shares
from onward.curate.filters import Given, read_steps
from onward.curate.known_clip import known_clip
from onward.data.emoji_pool import make_emoji_pool
from onward.files import write_atomic
from onward.report.style import to_png
from onward.report.survival_picture import survival_figure

FILTERS = {"basic": ["basic"], "a CLIP of 2016": ["clip_score:top=0.3"]}


def main(out: Path) -> None:
    """Make everything that is not there yet, and print what survives."""
    raw, weights = out / "raw", out / "clip_2016.safetensors"
    if not raw.exists():
        make_emoji_pool(raw)
    make_dated([raw / "pool.parquet"], [raw / "snapshots"], out / "dated")
    if not weights.exists():
        train_small_clip(weights)
    clip = known_clip(MODEL, weights, None)
    make_store(embed_source(raw / "images", None, None, clip), out / "store", out / "dated")
    given = Given(None, out / "store", clip)
    found, names = {}, []
    for title, steps in FILTERS.items():
        folder_name = title.replace(" ", "_")
        counts = make_filtered(out / "dated", out / folder_name, read_steps(steps), given)
        names, curves = shares(counts)
        found[title] = list(curves.values())[-1]
        tested = counts["bias"]
        line = "  ".join(f"{n} {s:.1%}" for n, s in zip(names, found[title], strict=True))
        print(f"{title}: {line}")
        print(
            f"  {100 * tested['slope']:+.2f} points a year ({100 * tested['low']:+.2f} to "
            f"{100 * tested['high']:+.2f}): {tested['verdict']}"
            + ("" if tested["steady"] or "favours" not in tested["verdict"] else ", not steadily"),
            flush=True,
        )
    write_atomic(out / "bias.png", to_png(survival_figure(names, found, chain=False)))
    print(f"the picture: {out / 'bias.png'}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
