"""One page of the whole way: each stage with pictures and counts, truth beside estimates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from onward.curate.demo.art import CONCEPTS, true_pictures
from onward.curate.demo.figures import error_figure, people_figure
from onward.curate.demo.pictures import candidate_shots, dataset_sheet, disputes, pool_strips
from onward.curate.demo.size import Folders
from onward.files import write_atomic
from onward.report.content_figures import Numbers, Plot, Studio
from onward.report.content_maps import Cells, maps, scales
from onward.report.figures import score_limits
from onward.report.pictures.next_period import next_period_picture
from onward.report.rendering import render
from onward.report.summary import Summary, summarise
from onward.report.verdict import Finding
from onward.report.words import metric_words
from onward.results.record import RunRecord

_METRICS = ("next_domain", "forward_transfer")
_OF_THE_PAPER = "1 %, of 7.8 million images"


@dataclass(frozen=True)
class Stage:
    """A verb: what went in, what came out, what was left behind and why."""

    verb: str
    words: str
    into: int
    out: int
    things: str
    dropped: Sequence[tuple[str, int]]

    @property
    def share(self) -> float:
        """How much of what went in came out, in percent."""
        return 100 * self.out / self.into if self.into else 0.0


def write_demo_page(
    at: Folders, counts: Mapping[str, Any], records: Sequence[RunRecord], seed: int, path: Path
) -> None:
    """Write the page from the folders of all stages and what was counted in them."""
    candidates = pq.read_table(at.candidates / "candidates.parquet")
    truth = {one.id: one.shows for one in true_pictures(at.art, candidates)}
    summaries = summarise(records)
    studio = Studio()
    text = render(
        "curate_demo.html.j2",
        ("table.js", "page.js"),
        title="From a pool to a stream",
        counts=counts,
        stages=_stages(counts),
        findings=_findings(counts, summaries),
        strips=pool_strips(at, counts["pool"]["buckets"], seed),
        buckets=sorted({int(b) for one in counts["precision"].values() for b in one["buckets"]}),
        found=candidate_shots(at, truth),
        background=CONCEPTS.background,
        people=_people(counts, studio),
        disputes=disputes(at),
        error=_error(counts, studio),
        sheet=dataset_sheet(at.dataset, counts["export"]["classes"]),
        runs=_runs(summaries, studio),
        scales=scales(),
        maps=maps(summaries, score_limits(summaries), Cells()),
        scores=[
            (one.label, [one.metrics[name].percent() for name in _METRICS]) for one in summaries
        ],
        headings=[metric_words(name) for name in _METRICS],
        commands=_commands(at, counts),
        seeds=len(summaries[0].seeds),
    )
    write_atomic(path, text.encode())


def _stages(counts: Mapping[str, Any]) -> list[Stage]:
    pool, store, found = counts["pool"], counts["embed"], counts["retrieve"]
    accepted, made = counts["accept"], counts["export"]
    candidates = found["candidates"] + found["background"]
    aside = {
        "in bucket 0, which stays without labels": found["passed_over"],
        "among the best of several concepts": found["removed"],
        "not among the best of any": found["images"] - candidates - found["removed"],
    }
    return [
        Stage(
            "pool",
            "valid rows, sorted by time and cut into buckets",
            pool["rows"],
            pool["kept"],
            "rows",
            [*pool["dropped"].items()],
        ),
        Stage(
            "embed",
            "what a small CLIP makes of them that knows the year 2016 alone",
            store["found"],
            store["embedded"],
            "images",
            [*store["corrupt"].items()],
        ),
        Stage(
            "retrieve",
            "the best of each concept and bucket, and a background",
            store["embedded"],
            candidates,
            "images",
            [(why, count) for why, count in aside.items() if count],
        ),
        Stage(
            "review",
            "every candidate gets three votes",
            candidates,
            counts["review"]["complete"],
            "images",
            [],
        ),
        Stage(
            "accept",
            "where two of three agree on the one concept",
            accepted["candidates"],
            accepted["accepted"],
            "images",
            sorted(accepted["rejected"].items(), key=lambda one: -one[1]),
        ),
        Stage(
            "export",
            "the finished dataset",
            accepted["accepted"],
            made["images"],
            "images",
            [*made["left_out"].items()],
        ),
    ]


def _findings(counts: Mapping[str, Any], summaries: Sequence[Summary]) -> list[Finding]:
    precision = {n: one["precision"] for n, one in counts["precision"].items()}
    asked = {n: share for n, share in precision.items() if n != CONCEPTS.background}
    best, worst = max(asked, key=asked.__getitem__), min(asked, key=asked.__getitem__)
    error, cost = counts["label_error"], counts["cost"]
    found, alpha = error["estimated"], counts["agreement"]["krippendorff_alpha"]
    out = [one["name"] for one in counts["annotators"] if one["revoked"]]
    inside = found["low"] <= error["true"] <= found["high"]
    first = summaries[0]
    return [
        Finding(
            "How precise is retrieval?",
            f"{100 * sum(asked.values()) / len(asked):.0f} % of the candidates show their concept.",
            f"From {100 * asked[best]:.0f} % ({best}) to {100 * asked[worst]:.0f} % ({worst}): the "
            "model knows the drawings of 2016, and some were drawn anew.",
        ),
        Finding(
            "Do people agree?",
            f"Krippendorff's α is {alpha:.2f}.",
            f"{counts['review']['votes']:,} votes count, of {len(counts['annotators'])} annotators"
            + (f"; {', '.join(out)} failed the gold questions and was shut out." if out else "."),
        ),
        Finding(
            "How many labels are wrong?",
            f"{100 * error['true']:.1f} % in truth; {100 * found['estimate']:.1f} % by the votes.",
            f"The interval is {100 * found['low']:.1f} % to {100 * found['high']:.1f} %; the truth "
            f"lies {'inside' if inside else 'outside'}.",
        ),
        Finding(
            "What did it cost?",
            f"{100 * cost['share']:.1f} % of the answers that the whole pool would take.",
            f"{cost['answers']:,} answers, gold and repeats among them, instead of "
            f"{cost['answers_for_the_pool']:,}. CLEAR says {_OF_THE_PAPER}: the "
            "share falls as a pool grows.",
        ),
        Finding(
            "Is a model right tomorrow?",
            f"{first.label}: {first.metrics['next_domain'].percent()} % on the next bucket.",
            "Learned from the finished dataset, on the directions of the same small CLIP.",
        ),
    ]


def _people(counts: Mapping[str, Any], studio: Studio) -> list[Plot]:
    people, mark = counts["annotators"], counts["cost"]["pass_mark"]
    rows = [
        [
            one["name"],
            f"{one['answered']:,}",
            f"{one['counted']:,}",
            "" if one["seconds"] is None else f"{one['seconds']:.1f}",
            f"{one['gold']['right']} of {one['gold']['of']}",
            "" if one["true"] is None else f"{100 * one['true']:.1f}",
        ]
        for one in people
    ]
    head = ["annotator", "answers", "count", "seconds", "gold", "right in truth, %"]
    words = Plot(
        "Who is how good",
        f"Right answers of {len(people)} annotators, on gold questions and in truth",
        "Nobody knows the truth in a real campaign; gold questions tell how good somebody is. "
        f"Who is below {100 * mark:.0f} % beyond doubt (dashed) is shut out, and their images are "
        "asked again.",
        numbers=Numbers(head, rows),
    )
    return studio.show(lambda: people_figure(people, mark), words, {})


def _error(counts: Mapping[str, Any], studio: Studio) -> list[Plot]:
    error = counts["label_error"]
    words = Plot(
        "How many labels are wrong",
        f"True label error {100 * error['true']:.1f} percent, estimated "
        f"{100 * error['estimated']['estimate']:.1f} percent",
        "The estimate sees votes and a few known answers, never the truth.",
    )
    return studio.show(lambda: error_figure(error), words, {})


def _numbers(summaries: Sequence[Summary]) -> dict[str, int]:
    """Give each method the number of its colour, as figures do."""
    return {label: at for at, label in enumerate(sorted({one.label for one in summaries}))}


def _runs(summaries: Sequence[Summary], studio: Studio) -> list[Plot]:
    numbers, shown = _numbers(summaries), list[Plot]()
    for picture in next_period_picture(summaries, None):
        shown += studio.show_picture(picture, numbers)
    return shown


def _commands(at: Folders, counts: Mapping[str, Any]) -> list[str]:
    clip = "--model clip_small --weights clip.safetensors"
    buckets = len(counts["pool"]["buckets"])
    each = counts["retrieve"]
    cells = (buckets - 1) * each["concepts"]
    return [
        f"cd {at.out}",
        "onward curate pool art/metadata.csv --time-column uploaded --taken-column taken "
        f"--buckets {buckets} --out my-pool",
        f"onward curate embed --images art/shards --pool my-pool {clip} --out my-store",
        f"onward curate retrieve my-store --concepts concepts.json {clip} --top "
        f"{each['candidates'] // cells} --background {each['background'] // cells} --skip-bucket 0 "
        "--out my-candidates",
        "onward curate preview my-candidates --images art/shards --out my-preview",
        "onward curate review my-candidates --images art/shards --gold gold.csv --out my-campaign "
        "--invite me",
        "onward curate accept my-candidates --votes my-campaign --out my-labels",
        "onward curate export my-labels --pool my-pool --images art/shards --features my-store "
        "--out my-dataset",
        "onward run clear --data my-dataset --protocol streaming --method er",
    ]
