"""``onward curate fetch``: the images of a pool, by their URLs, until enough have arrived.

Shards are tars in img2dataset's layout: ``<key>.jpg`` with the bytes as they came, ``<key>.json``
with the row of the pool, ``<key>.txt`` with its caption if it has one; beside each tar a parquet
file says what became of every download.
"""

import contextlib
import hashlib
import io
import json
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from onward.binary_files import read_parquet
from onward.curate.ahead import in_order
from onward.curate.client import Client, FetchError, Manners
from onward.curate.picture_filters import Filters, Picture, look_at
from onward.curate.records import FETCHED
from onward.curate.shard_plan import ShardPlan
from onward.curate.stage import POOLS, making, open_stage
from onward.curate.watching import Watch, unwatched
from onward.curate.written import write_table
from onward.errors import OnwardError
from onward.files import remove_drafts, write_atomic

SUCCESS = "success"
_WORK = ".plan"


@dataclass(frozen=True)
class FetchOptions:
    """What decides which images are fetched.

    Parameters
    ----------
    count
        How many are wanted.
    shard_size
        About how many downloads make a shard.
    filters
        What an image has to be.
    most_bytes
        The size above which an answer is not read on.
    allow_private
        Whether hosts inside a network may be asked, too.
    """

    count: int
    shard_size: int = 10_000
    filters: Filters = field(default_factory=Filters)
    most_bytes: int = 30_000_000
    allow_private: bool = False

    def __post_init__(self) -> None:
        for name in ("count", "shard_size", "most_bytes"):
            if getattr(self, name) < 1:
                raise OnwardError(f"expected {name} of 1 or more, found {getattr(self, name)}")


def fetch(
    pool: Path,
    out: Path,
    options: FetchOptions,
    manners: Manners | None = None,
    *,
    watch: Watch = unwatched,
) -> Mapping[str, Any]:
    """Fetch images, or go on with it; return what was counted.

    Parameters
    ----------
    pool
        What ``onward curate pool``, or a verb for pairs of image and caption, has written.
    out
        Where to.
    options
        What decides which images are fetched.
    manners
        How hosts are asked.
    watch
        What shows progress.
    """
    manners = manners or Manners()
    stage = open_stage(pool, *POOLS)
    with making(out, "fetch", {**asdict(options), "pool": stage.digest}) as made:
        if made.finished is not None:
            return made.finished
        shards = -(-stage.counts["kept"] // options.shard_size)
        plan = ShardPlan(pool, out / _WORK, shards)
        plan.prepare()
        remove_drafts(out)
        client = Client(manners, most_bytes=options.most_bytes, allow_private=options.allow_private)
        with watch(options.count, "images", "fetching") as done:
            failed, fetched = _fetch_shards(plan, out, client, options, manners, done)
        counts = {
            "asked": fetched + failed.total(),
            "fetched": fetched,
            "wanted": options.count,
            "failed": dict(sorted(failed.items())),
        }
        made.finish(counts)
        shutil.rmtree(out / _WORK)
        return counts


def _fetch_shards(
    plan: ShardPlan,
    out: Path,
    client: Client,
    options: FetchOptions,
    manners: Manners,
    done: Callable[[int], None],
) -> tuple[Counter[str], int]:
    failed: Counter[str] = Counter()
    fetched = 0
    digits = max(5, len(str(plan.shards)))
    for shard in range(plan.shards):
        if fetched == options.count:
            break
        name = f"{shard:0{digits}d}"
        told = out / f"{name}.parquet"
        if told.is_file():
            outcomes = read_parquet(told, ["status"], fix="Delete it and run again")[
                "status"
            ].to_pylist()
            done(outcomes.count(SUCCESS))
        else:
            outcomes = _Shard(name, out, options.count - fetched, done).write(
                plan.rows(shard), partial(_one, client, options.filters), manners.connections
            )
        failed.update(outcomes)
        fetched += failed.pop(SUCCESS, 0)
    return failed, fetched


def _one(client: Client, filters: Filters, row: Mapping[str, Any]) -> Picture | str:
    """Return the image of a row, or the reason why there is none."""
    try:
        return look_at(client.fetch(row["url"]), filters)
    except FetchError as error:
        return str(error)


@dataclass
class _Shard:
    """A tar that is being written, with as many images as are still wanted."""

    name: str
    out: Path
    wanted: int
    done: Callable[[int], None]

    def write(
        self,
        rows: Iterable[Mapping[str, Any]],
        one: Callable[[Mapping[str, Any]], Picture | str],
        workers: int,
    ) -> list[str]:
        """Return the status of every row that was asked for."""
        told: list[dict[str, Any]] = []

        def fill(file: IO[bytes]) -> None:
            with (
                tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar,
                contextlib.closing(in_order(one, rows, workers, 4 * workers - 1)) as found,
            ):
                for row, outcome in found:
                    told.append(self._add(tar, len(told), row, outcome))
                    self.wanted -= told[-1]["status"] == SUCCESS
                    if not self.wanted:
                        break

        write_atomic(self.out / f"{self.name}.tar", fill)
        # The last of the two: a shard without it is fetched again.
        write_table(self.out / f"{self.name}.parquet", pa.Table.from_pylist(told, FETCHED))
        return [one["status"] for one in told]

    def _add(
        self, tar: tarfile.TarFile, number: int, row: Mapping[str, Any], outcome: Picture | str
    ) -> dict[str, Any]:
        key = f"{self.name}{number:05d}"
        told = {"id": row["id"], "key": key, "url": row["url"], "status": SUCCESS}
        if isinstance(outcome, str):
            return {**told, "status": outcome}
        about = {name: _plain(value) for name, value in row.items()} | {
            "key": key,
            "status": SUCCESS,
            "width": outcome.width,
            "height": outcome.height,
            "sha256": hashlib.sha256(outcome.content).hexdigest(),
        }
        members = {
            outcome.ending: outcome.content,
            "json": json.dumps(about, ensure_ascii=False).encode(),
        }
        if row["caption"]:
            members["txt"] = row["caption"].encode()
        for ending, content in members.items():
            member = tarfile.TarInfo(f"{key}.{ending}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        self.done(1)
        return told


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else value.isoformat()
