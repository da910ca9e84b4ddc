"""Metadata to eleven buckets: beside polars written by hand, and memory as rows grow tenfold.

The metadata have YFCC100M's 25 columns, made up: 2 million rows are about 1 GB. Both sides read the
file, drop videos and what was not uploaded after capture, keep one row per id, sort by time and id,
and write eleven parquet files with the ten columns of a pool; both are processes of their own, and
their imports are counted. ``onward curate pool`` checks more, writes down what it drops, and never
holds the pool.

    python benchmarks/curate.py pool
    python benchmarks/curate_pool.py 2000000          another size, the first part alone
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import polars as pl

ROWS, MORE, BUCKETS, REPEATS = 2_000_000, 10, 11, 3
LIMIT = 1.3
_CHUNK = 200_000
_FIRST, _LAST = 1_075_000_000, 1_398_000_000

BY_HAND = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    import polars as pl

    source, out, buckets = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    names = (
        "line id hash user author taken uploaded device title caption tags machine_tags longitude "
        "latitude accuracy page url licence licence_url server farm secret secret_original "
        "extension marker"
    ).split()
    schema = {name: pl.String for name in names} | {"uploaded": pl.Int64, "marker": pl.Int64}
    moment = pl.Datetime("us", "UTC")
    rows = (
        pl.scan_csv(source, separator="\\t", has_header=False, quote_char=None, schema=schema)
        .with_columns(
            (pl.col("uploaded") * 1_000_000).cast(moment).alias("time"),
            pl.col("taken").str.to_datetime(
                "%Y-%m-%d %H:%M:%S%.f", time_unit="us", time_zone="UTC", strict=False
            ),
        )
        .filter(pl.col("marker") == 0, pl.col("time") > pl.col("taken"))
        .sort("time", "id")
        .unique("id", keep="first", maintain_order=True)
        .select("id", "time", "taken", "url", "page", "author", "title", "caption", "licence",
                "licence_url")
        .collect()
    )
    size, over = divmod(len(rows), buckets)
    first = 0
    for bucket in range(buckets):
        count = size + (bucket < over)
        rows[first : first + count].write_parquet(out / f"{bucket:02d}.parquet")
        first += count
    """
)


def main(rows: int = ROWS, *, more: int = MORE) -> None:
    """Print both figures beside what they should be."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        source = here / "yfcc100m_dataset"
        write_metadata(source, rows)
        print(f"{rows:,} rows, {source.stat().st_size / 1e9:.2f} GB", flush=True)
        ours, theirs = _beside(here, source)
        ratio = ours.seconds / theirs.seconds
        print(f"polars by hand          {theirs.seconds:6.2f} s, {theirs.cpu:5.1f} of processors")
        print(f"onward curate pool      {ours.seconds:6.2f} s, {ours.cpu:5.1f} of processors")
        print(f"                        {ratio:.2f}x (at most {LIMIT}x)", flush=True)
        if more > 1:
            source.unlink()
            write_metadata(source, rows * more)
            large = _run(_command(source, here / "large"))
            kept = json.loads((here / "large" / "stage.json").read_text())["counts"]["kept"]
            print(f"peak memory             {ours.peak:.0f} MB at {rows:,} rows")
            print(f"                        {large.peak:.0f} MB at {rows * more:,} ({kept:,} kept)")
            print(f"                        {large.peak / ours.peak:.2f}x for {more}x the rows")
            print(f"                        {large.seconds:.0f} s, {large.cpu:.0f} of processors")


@dataclass(frozen=True)
class Run:
    """What a process took: seconds, those of processors, and its peak in megabytes."""

    seconds: float
    cpu: float
    peak: float


def _beside(here: Path, source: Path) -> tuple[Run, Run]:
    """Return the medians of both, measured in turns."""
    runs: dict[str, list[Run]] = {"pool": [], "hand": []}
    script, hand, pool = here / "by_hand.py", here / "hand", here / "pool"
    script.write_text(BY_HAND)
    for _ in range(REPEATS):
        hand.mkdir()
        by_hand = [sys.executable, str(script), str(source), str(hand), str(BUCKETS)]
        runs["hand"].append(_run(by_hand))
        runs["pool"].append(_run(_command(source, pool)))
        _same(pool, hand)
        for folder in (hand, pool):
            shutil.rmtree(folder)
    ours, theirs = (
        Run(*map(statistics.median, zip(*map(astuple, side), strict=True)))
        for side in runs.values()
    )
    return ours, theirs


def _same(pool: Path, hand: Path) -> None:
    """Both have the same ids in the same buckets and order."""
    for bucket in range(BUCKETS):
        ours = pl.read_parquet(pool / "rows" / f"{bucket:02d}" / "*.parquet", columns=["id"])
        if not ours.equals(pl.read_parquet(hand / f"{bucket:02d}.parquet", columns=["id"])):
            sys.exit(f"bucket {bucket} differs")


def _command(source: Path, out: Path) -> list[str]:
    words = ["-m", "onward", "curate", "pool", str(source), "--time-column", "uploaded"]
    more = ["--taken-column", "taken", "--buckets", str(BUCKETS), "--out", str(out), "--json"]
    return [sys.executable, *words, *more]


def _run(command: list[str]) -> Run:
    watched = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, "
        "stdout=subprocess.DEVNULL); used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )
    begin = time.perf_counter()
    found = subprocess.run(
        [sys.executable, "-c", watched, *command], check=True, capture_output=True, text=True
    )
    return Run(time.perf_counter() - begin, *map(float, found.stdout.split()))


def write_metadata(path: Path, rows: int, seed: int = 0) -> None:
    """Write metadata with YFCC100M's columns, a chunk at a time."""
    rng = np.random.default_rng(seed)
    texts = _texts(rng, _CHUNK)
    with path.open("wb") as file:
        for first in range(0, rows, _CHUNK):
            frame = _chunk(rng, texts, first)[: rows - first]
            frame.write_csv(file, include_header=False, separator="\t", quote_style="never")


def _texts(rng: np.random.Generator, rows: int) -> pl.DataFrame:
    """Make up what people write; chunks differ in everything else."""
    words = pl.Series(["Caf%C3%A9", "harbour", "Sunday+walk", "IMG_2041", "the+old+bridge", ""])

    def joined(count: int) -> pl.Series:
        picked = [words.gather(rng.integers(0, len(words), rows)) for _ in range(count)]
        return pl.select(pl.concat_str(picked, separator="+")).to_series()

    licences = pl.Series(["Attribution-NonCommercial-NoDerivs License", "Attribution License"])
    return pl.DataFrame(
        {
            "nick": joined(2),
            "title": joined(3),
            "caption": joined(7),
            "tags": joined(5).str.replace_all("+", ",", literal=True),
            "longitude": rng.uniform(-180, 180, rows).round(6),
            "latitude": rng.uniform(-90, 90, rows).round(6),
            "licence": licences.gather(rng.integers(0, 2, rows)),
        }
    )


def _chunk(rng: np.random.Generator, texts: pl.DataFrame, first: int) -> pl.DataFrame:
    rows = len(texts)
    line = np.arange(first, first + rows)
    uploaded = rng.integers(_FIRST, _LAST, rows)
    taken = uploaded - rng.integers(-200_000, 20_000_000, rows)
    # A factor makes each line's id another one; a few are said twice.
    ids = 2_000_000_000 + line * 7919 % 9_999_999_967
    ids[rng.random(rows) < 0.0005] = ids[0]
    numbers = {
        "server": (1, 9000), "farm": (1, 10), "secret": (2**40, 2**41), "original": (2**40, 2**41),
        "user": (10**7, 10**8), "one": (2**60, 2**62), "other": (2**60, 2**62),
    }  # fmt: skip
    frame = texts.with_columns(
        pl.Series("line", line),
        pl.Series("id", ids),
        pl.Series("uploaded", uploaded),
        pl.Series("taken", taken * 1_000_000).cast(pl.Datetime("us")),
        pl.Series("marker", (rng.random(rows) < 0.008).astype(np.int64)),
        *(pl.Series(name, rng.integers(*ends, rows)) for name, ends in numbers.items()),
    )
    photo = "http://farm{}.staticflickr.com/{}/{}_{}.jpg"
    user = pl.format("{}@N00", "user")
    return frame.select(
        "line", "id", pl.format("{}{}", "one", "other").alias("hash"), user, "nick",
        pl.col("taken").dt.to_string("%Y-%m-%d %H:%M:%S.0"), "uploaded",
        pl.lit("Canon+EOS+400D+DIGITAL").alias("device"), "title", "caption", "tags",
        pl.lit("").alias("machine_tags"), "longitude", "latitude", pl.lit(16).alias("accuracy"),
        pl.format("http://www.flickr.com/photos/{}/{}/", user, "id").alias("page"),
        pl.format(photo, "farm", "server", "id", "secret").alias("url"), "licence",
        pl.lit("http://creativecommons.org/licenses/by-nc-nd/2.0/").alias("licence_url"),
        "server", "farm", "secret", "original", pl.lit("jpg").alias("extension"), "marker",
    )  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(int(sys.argv[1]), more=1)
    else:
        main()
