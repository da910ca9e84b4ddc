"""BibTeX: every catalogue entry leads to a paper that is there, and nothing is made up."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from onward.methods import METHODS
from onward.metrics import METRICS
from onward.report.bibtex import bibtex, cited, entries
from onward.report.summary import summarise


def test_entries_are_whole() -> None:
    assert len(entries()) > 25
    for key, entry in entries().items():
        kind = re.match(r"@(\w+)", entry)[1]
        fields = dict(re.findall(r"^  (\w+)\s*= \{(.*)\},$", entry, re.MULTILINE))
        needed = {"article": {"journal"}, "inproceedings": {"booktitle"}, "book": {"publisher"}}
        assert {"author", "title", "year"} | needed.get(kind, {"eprint"}) <= fields.keys(), key
        assert entry.count("{") == entry.count("}")
        assert key.endswith(fields["year"])
        first = fields["author"].split(",")[0].lower()
        assert re.sub(r"[^a-z]", "", first.replace(r"{\'\i}", "i")) == key[:-4]


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS.origin(name) is None])
def test_every_method_leads_to_papers_that_are_there(name: str) -> None:
    keys = cited(METHODS[name].source)
    assert keys
    assert [key for key in keys if key not in entries()] == []


@pytest.mark.parametrize("name", [name for name in METRICS if METRICS.origin(name) is None])
def test_every_metric_leads_to_papers_that_are_there(name: str) -> None:
    source = METRICS[name].source
    assert source == "Onward" or set(cited(source)) & entries().keys()


def test_what_was_used_is_cited_once_and_says_what_for(demo: Callable) -> None:
    text = bibtex(summarise(demo()))
    keys = re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE)
    assert sorted(keys) == ["fisher1935", "garg2024", "lin2021", "onward", "rolnick2019"]
    lead = text[: text.index("@inproceedings{lin2021")]
    assert "benchmark clear" in lead
    assert "metric next_domain" in lead
    assert "method scratch" in lead


def test_more_metrics_are_cited_too(make: Callable) -> None:
    record = make([[0.5, 0.5], [0.5, 0.5]])
    text = bibtex(summarise([record], ["literature.chaudhry_forgetting", "distance.decay_rate"]))
    assert "@inproceedings{chaudhry2018," in text
    assert "% metric literature.chaudhry_forgetting" in text
    assert "decay_rate" not in text  # Onward's own


@pytest.mark.parametrize(
    ("task", "benchmark", "keys"),
    [
        ("many_labels", "iirc", {"abdelsalam2021"}),
        ("boxes", "clad-d", {"verwimp2023", "lin2014", "lopezpaz2017"}),
        ("image_text", "tic", {"garg2024"}),
    ],
)
def test_each_benchmark_has_its_paper(
    make: Callable, task: str, benchmark: str, keys: set[str]
) -> None:
    scores = {"many_labels": "pw_jaccard", "boxes": "map50", "image_text": "recall1"}
    record = make([[0.5, 0.5], [0.5, 0.5]], task=task, benchmark=benchmark)
    renamed = tuple(
        score.model_copy(update={"scores": {scores[task]: 0.5}}) for score in record.scores
    )
    record = replace(record, scores=renamed)
    assert keys <= set(re.findall(r"^@\w+\{(\w+),", bibtex(summarise([record])), re.MULTILINE))


def test_what_has_no_paper_is_a_comment(make: Callable) -> None:
    record = make([[0.5]], benchmark="yours", method="mine\n@article{fake,")
    text = bibtex(summarise([record]))
    assert "% method mine\N{REPLACEMENT CHARACTER} article{fake,: no paper is named" in text
    assert re.findall(r"@\w+\{\w+", text) == ["@inproceedings{lin2021", "@misc{onward"]


def test_what_another_benchmark_is_called_cites_nothing(make: Callable) -> None:
    text = bibtex(summarise([make([[0.5]], benchmark="clad-x")]))
    assert "verwimp2023" not in text
    assert "% benchmark clad-x: no paper is named" in text


def test_onward_has_a_year(make: Callable) -> None:
    assert re.search(
        r"@misc\{onward,[^@]*year      = \{20\d\d\},", bibtex(summarise([make([[0.5]])]))
    )
