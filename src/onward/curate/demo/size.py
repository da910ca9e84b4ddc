"""How large the demonstration is, where its parts lie, and who is told how far it is."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from onward.curate.demo.annotators import Annotator, crew
from onward.curate.demo.small_clip import STEPS
from onward.curate.watching import Watch, unwatched
from onward.turns import Watch as RunWatch

PAGE = "demo.html"
# Clicks whatever is next, and fast: what gold questions are for.
_CARELESS = Annotator("annotator 10", misses=0.1, lured=0.2, careless=0.5, seconds=1.8)


@dataclass(frozen=True)
class Size:
    """What decides how long the demonstration takes.

    Parameters
    ----------
    renderings, every
        See `onward.curate.demo.art.write_art`.
    steps
        Of training the small CLIP.
    buckets
        Of the pool; the first one has no labels.
    top, background
        Candidates of each bucket, see `onward.curate.candidates.Search`.
    gold
        How many candidates the owner has labelled, as questions with a known answer.
    per_class
        Images of each class and bucket in the dataset.
    methods, seeds
        What is run on it.
    """

    renderings: int = 4
    every: int = 1
    steps: int = STEPS
    buckets: int = 8
    top: int = 30
    background: int = 12
    gold: int = 80
    per_class: int = 20
    methods: tuple[str, ...] = ("finetune", "er", "cumulative")
    seeds: tuple[int, ...] = (0, 1, 2)


class Folders:
    """Where everything lies below the folder of the demonstration; stages are what verbs make."""

    def __init__(self, out: Path) -> None:
        self.out = out
        # The images, their metadata, and the truth about them.
        self.art = out / "art"
        self.weights = out / "clip.safetensors"
        self.gold = out / "gold.csv"
        self.pool = out / "pool"
        self.embedded = out / "embedded"
        self.candidates = out / "candidates"
        self.preview = out / "preview"
        self.campaign = out / "campaign"
        self.accepted = out / "accepted"
        self.dataset = out / "dataset"
        self.results = out / "results"


@contextlib.contextmanager
def _unwatched_runs(runs: int, periods: int) -> Iterator[RunWatch]:
    yield lambda event: None


@dataclass(frozen=True)
class Voice:
    """Who is told: a line for each stage, and progress inside of it."""

    say: Callable[[str], None] = lambda line: None
    bar: Watch = unwatched
    runs: Callable[[int, int], contextlib.AbstractContextManager[RunWatch]] = _unwatched_runs


def annotators(seed: int) -> list[Annotator]:
    """Return nine people of different quality, and one who does not look."""
    return [*crew(9, seed), _CARELESS]
