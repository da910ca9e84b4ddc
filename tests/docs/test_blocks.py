"""Every code block of every page is run, or stands in the list of those that are not."""

import re
import shlex
from typing import Any

import pytest
import typer.main
from blocks import Block, blocks, written_pages
from reader import Reader
from system import NEEDS, Need, missing

from guide.pages import generated
from onward.benchmarks import BENCHMARKS
from onward.cli import app
from onward.methods import METHODS

PAGES = written_pages()
LANGUAGES = {"sh", "python", "json", "toml", "text"}
NOT_RUN = {
    "README.md": ["these two set up an environment of their own"],
    "docs/benchmarks/clad_guide.md": ["about twenty minutes of two cores"],
    "docs/benchmarks/iirc_guide.md": [
        "a folder of images by class, and its hierarchy",
        "TensorFlow, which is large; tests/test_adapters.py does where it is installed",
    ],
    "docs/benchmarks/tic_guide.md": ["some hours"],
    "docs/howto/cluster.md": [
        "several processes and the official data",
        "a machine with GPUs",
        "a cluster of machines",
        "a cluster with Slurm",
    ],
    "docs/howto/curate.md": [
        "some minutes",
        "an hour, on the official download",
        "a cluster with Spark",
        "days of downloads",
        "images and weights of your own",
        "a store of your own",
        "candidates of your own",
        "it needs candidates and images, and people",
        "it serves until it is stopped",
    ],
    "CONTRIBUTING.md": ["it is about a method of yours"],
    "docs/howto/drift.md": ["embeddings and weights of yours"],
    "docs/howto/evaluate_clip.md": [
        "published weights and static tasks, which nothing here downloads"
    ],
    "docs/howto/models.md": ["published weights, which nothing here downloads"],
    "docs/howto/official.md": [
        "hours, on the official download",
        "hours, on the official download",
    ],
    "docs/howto/pairs.md": ["images, weights and ImageNet of your own"],
    "docs/howto/reproducing.md": ["hours, on the official download"],
    "docs/howto/your_data.md": ["reads the change logs of the machine that it runs on"],
}
"""What is not run, and why; its commands are parsed all the same."""


def _of(page: str) -> list[Block]:
    return blocks(page, PAGES[page])


def test_the_list_of_what_is_not_run_is_this_one() -> None:
    found = {page: [b.reason for b in _of(page) if b.reason is not None] for page in PAGES}
    assert {page: reasons for page, reasons in found.items() if reasons} == NOT_RUN


def test_every_block_says_what_it_is() -> None:
    strange = [str(b) for page in PAGES for b in _of(page) if b.language not in LANGUAGES]
    assert strange == []


@pytest.mark.parametrize("page", NOT_RUN)
def test_commands_that_are_not_run_are_commands(page: str) -> None:
    for block in _of(page):
        if block.reason is not None and block.language == "sh":
            for words in map(shlex.split, block.commands):
                if "onward" in words:
                    _parse(words[words.index("onward") + 1 :])


# The README's own lines are run as its doctest.
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != "README.md" and any(not b.slow for b in _of(page))]
)
def test_a_page_is_true(page: str, reader: Reader) -> None:
    _follow([block for block in _of(page) if not block.slow], reader)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if any(b.slow for b in _of(page))])
def test_a_page_is_true_to_its_end(page: str, reader: Reader) -> None:
    _follow(_of(page), reader)


def test_every_need_of_a_block_is_known() -> None:
    needs = {name for page in PAGES for block in _of(page) for name in block.needs}
    assert needs
    assert needs <= NEEDS.keys()


PAGE_WITH_A_NEED = """
<!-- needs: wordnet, java -->
```python
raise AssertionError("run without WordNet")
```

```python
after = True
```
"""


def test_a_block_whose_need_is_missing_is_left_out_and_the_page_is_skipped_with_the_reason(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(NEEDS, "wordnet", Need(lambda: False, "wordnet-base"))
    monkeypatch.setitem(NEEDS, "java", Need(lambda: True, "default-jre-headless"))
    found = blocks("page.md", PAGE_WITH_A_NEED)
    followed: list[Block] = []
    monkeypatch.setattr(reader, "follow", followed.append)
    reason = "page.md:3: wordnet is not installed. On Debian: apt-get install wordnet-base"
    with pytest.raises(pytest.skip.Exception, match=re.escape(reason)):
        _follow(found, reader)
    assert followed == found[1:]
    monkeypatch.setitem(NEEDS, "wordnet", Need(lambda: True, "wordnet-base"))
    followed.clear()
    _follow(found, reader)
    assert followed == found


def _follow(page: list[Block], reader: Reader) -> None:
    """Run blocks; if the system lacks what some need, run the others, and skip with the reason."""
    skipped = []
    for block in page:
        lacking = [reason for name in block.needs if (reason := missing(name))]
        if lacking:
            skipped.append(f"{block}: {'; '.join(lacking)}")
        elif block.reason is None:
            reader.follow(block)
    if skipped:
        pytest.skip(". ".join(skipped))


@pytest.mark.parametrize(
    "page", [page for page, text in generated().items() if "```python" in text]
)
def test_the_python_of_a_generated_page_is_true(page: str, reader: Reader) -> None:
    for block in blocks(page, generated()[page]):
        if block.language == "python":
            reader.follow(block)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [*(f"methods/{n}.md" for n in METHODS), *(f"benchmarks/{n}.md" for n in BENCHMARKS)]
)
def test_the_example_of_a_generated_page_runs(page: str, reader: Reader) -> None:
    (block,) = (b for b in blocks(page, generated()[page]) if b.language == "sh")
    reader.follow(block)


def _parse(words: list[str]) -> None:
    """Let the command line read words, and do nothing."""
    command: Any = typer.main.get_command(app)
    context, path = None, ["onward"]
    while hasattr(command, "commands"):
        path.append(words[0])
        assert words[0] in command.commands, " ".join(path)
        command, words = command.commands[words[0]], words[1:]
    context = command.make_context(" ".join(path), words, resilient_parsing=False)
    context.close()
