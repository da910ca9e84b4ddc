"""``onward curate demo``: one verb after the other, on art whose truth is known."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow.parquet as pq

from onward.benchmarks import Source
from onward.curate.accept import Terms, accept
from onward.curate.candidates import Search, make_candidates
from onward.curate.concepts import write_concepts
from onward.curate.demo.annotators import Picture
from onward.curate.demo.answering import answer_campaign
from onward.curate.demo.art import CONCEPTS, METADATA, SHARDS, true_pictures, write_art
from onward.curate.demo.measures import measured
from onward.curate.demo.page import write_demo_page
from onward.curate.demo.size import PAGE, Folders, Size, Voice, annotators
from onward.curate.demo.small_clip import MODEL, train_small_clip
from onward.curate.embed_sources import embed_source, make_store
from onward.curate.export import export
from onward.curate.known_clip import known_clip
from onward.curate.pool import PoolOptions, make_pool
from onward.curate.preview import make_preview
from onward.curate.review.making import Rules, make_campaign
from onward.curate.stage import making
from onward.curate.written import csv_of
from onward.executors.executor import Execution
from onward.files import write_atomic
from onward.results.record import RunRecord
from onward.sweep import Job, benchmark_of, sweep

_DRAWN = "drawn.json"
# After the last release, so that a machine's clock decides nothing.
_LATEST = "2027-12-31"
_COLUMNS = {"time": "uploaded", "taken": "taken"}


def whole_way(
    out: Path,
    *,
    seed: int = 0,
    size: Size | None = None,
    voice: Voice | None = None,
    on_wait: Callable[[], None] = lambda: None,
    **execution: Unpack[Execution],
) -> Mapping[str, Any]:
    """Go the whole way from a pool to runs on a finished dataset; return what was counted.

    Every stage is a folder below `out`, made by the function behind its verb. What is there already
    is not made again, so that the same call goes on where it was stopped.

    Parameters
    ----------
    out
        Where to.
    seed
        Draws the art, the model, the annotators, the votes and the dataset.
    size
        How large; by default it takes some minutes.
    voice
        Who is told.
    on_wait
        Called if another process is at work on the same folder.
    execution
        Where runs are made, and how many at a time: keywords of `onward.sweep.sweep`.
    """
    size, voice = size or Size(), voice or Voice()
    with making(out, "demo", {"seed": seed, **vars(size)}, on_wait=on_wait) as made:
        if made.finished is not None:
            return made.finished
        return made.finish(_Way(out, seed, size, voice).go(execution))


class _Way:
    """The stages, in their order."""

    def __init__(self, out: Path, seed: int, size: Size, voice: Voice) -> None:
        self._seed, self._size, self._voice = seed, size, voice
        self._at = Folders(out)
        self._images = self._at.art / SHARDS
        self._concepts = self._at.out / "concepts.json"

    def go(self, execution: Execution) -> dict[str, Any]:
        """Make what is not there; return what was counted."""
        say = self._voice.say
        counts: dict[str, Any] = {"art": self._draw()}
        drawn = counts["art"]
        say(f"art: {drawn['images']:,} dated images, {drawn['rows']:,} rows of metadata")
        counts["pool"] = self._pool()
        say(f"pool: {counts['pool']['kept']:,} rows kept, in {self._size.buckets} buckets")
        self._train()
        counts["embed"] = self._embed()
        say(f"embed: {counts['embed']['embedded']:,} directions of a CLIP trained on 2016 alone")
        counts["retrieve"] = self._retrieve()
        found = counts["retrieve"]
        say(f"retrieve: {found['candidates'] + found['background']:,} candidates")
        counts["preview"] = self._preview()
        say(f"preview: {counts['preview']['images']:,} of them on a page")
        counts["review"] = self._review()
        say(f"review: {counts['review']['votes']:,} votes that count")
        counts["accept"] = self._accept()
        say(f"accept: {counts['accept']['accepted']:,} labels")
        counts["export"] = self._export()
        say(f"export: {counts['export']['images']:,} images in {self._at.dataset}")
        records = self._run(execution)
        say(f"run: {len(records)} runs of {', '.join(self._size.methods)}")
        counts |= measured(self._at, counts, records)
        write_demo_page(self._at, counts, records, self._seed, self._at.out / PAGE)
        return counts

    def _draw(self) -> dict[str, int]:
        told = self._at.out / _DRAWN
        if not told.is_file():
            # Whole, or not there: but nobody wrote down what was counted.
            shutil.rmtree(self._at.art, ignore_errors=True)
            with self._voice.bar(1, "pools", "drawing") as step:
                counts = write_art(
                    self._at.art,
                    renderings=self._size.renderings,
                    every=self._size.every,
                    seed=self._seed,
                )
                step(1)
            write_atomic(self._concepts, write_concepts(CONCEPTS))
            write_atomic(told, json.dumps(counts).encode())
        return dict(json.loads(told.read_text("utf-8")))

    def _pool(self) -> Mapping[str, Any]:
        options = PoolOptions(buckets=self._size.buckets, columns=_COLUMNS, latest=_LATEST)
        return make_pool([self._at.art / METADATA], self._at.pool, options, watch=self._voice.bar)

    def _train(self) -> None:
        if not self._at.weights.is_file():
            steps = self._size.steps
            with self._voice.bar(steps, "steps", "training") as step:
                train_small_clip(self._at.weights, steps=steps, seed=self._seed, progress=step)

    def _embed(self) -> Mapping[str, Any]:
        model = known_clip(MODEL, self._at.weights, None)
        source = embed_source(self._images, None, None, model)
        images = json.loads((self._at.out / _DRAWN).read_text("utf-8"))["images"]
        with self._voice.bar(images, "images", "embedding") as step:
            return make_store(source, self._at.embedded, self._at.pool, watch=step)

    def _retrieve(self) -> Mapping[str, Any]:
        by = (MODEL, self._at.weights, None)
        search = Search(by, self._size.top, self._size.background, skip=(0,))
        return make_candidates(self._at.embedded, CONCEPTS, self._at.candidates, search)

    def _preview(self) -> Mapping[str, Any]:
        cells = (len(CONCEPTS.names)) * (self._size.buckets - 1)
        with self._voice.bar(12 * cells, "images", "showing") as step:
            return make_preview(self._at.candidates, self._images, self._at.preview, watch=step)

    def _review(self) -> Mapping[str, Any]:
        candidates = pq.read_table(self._at.candidates / "candidates.parquet")
        pictures = {one.id: one for one in true_pictures(self._at.art, candidates)}
        if not self._at.gold.is_file():
            write_atomic(self._at.gold, _gold(pictures, self._size.gold, self._seed))
        rules = Rules(seed=self._seed)
        make_campaign(
            self._at.candidates, self._images, self._at.campaign, rules, gold=self._at.gold
        )
        with self._voice.bar(rules.votes * len(pictures), "votes", "asking for") as step:
            seen = answer_campaign(
                self._at.campaign,
                annotators(self._seed),
                pictures,
                seed=self._seed,
                progress=step,
            )
        return seen.counts

    def _accept(self) -> Mapping[str, Any]:
        terms = Terms(per_class=self._size.per_class, seed=self._seed)
        with self._voice.bar(1, "campaigns", "counting") as step:
            counts = accept(
                self._at.candidates, self._at.campaign, self._at.accepted, terms, gold=self._at.gold
            )
            step(1)
        return counts

    def _export(self) -> Mapping[str, Any]:
        return export(
            self._at.accepted,
            self._at.pool,
            self._images,
            self._at.dataset,
            features=self._at.embedded,
            name="Dated emoji art",
            creator="Onward",
            progress=self._voice.bar,
        )

    def _run(self, execution: Execution) -> list[RunRecord]:
        options = {"features": "clip"}
        source = Source("clear", str(self._at.dataset), protocol="streaming", options=options)
        jobs = [Job(source, name, seed) for seed in self._size.seeds for name in self._size.methods]
        periods = len(benchmark_of(source).stream(jobs[0].seed))
        with self._voice.runs(len(jobs), periods) as watch:
            return sweep(jobs, self._at.results, watch=watch, **execution)


def _gold(pictures: Mapping[str, Picture], count: int, seed: int) -> bytes:
    """Return known answers as a CSV, for questions (``labels``) and for the error (``label``)."""
    names = sorted(pictures)
    rng = np.random.default_rng([seed, 9])
    chosen = rng.choice(len(names), min(count, len(names)), replace=False)
    rows = []
    for place in sorted(chosen.tolist()):
        shows = "|".join(sorted(pictures[names[place]].shows))
        rows.append((names[place], shows, shows))
    return csv_of([("id", "labels", "label"), *rows])
