"""The words of a caption, whatever stands around them: markup, case, punctuation, white space."""

import html
import re
import unicodedata

# A tag begins with a letter or a slash: "a < b" is none.
_TAG = re.compile(r"<[/!a-zA-Z][^<>]*>")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00b4": "'"})


def without_markup(caption: str) -> str:
    """Return a caption without HTML, in one line.

    Examples
    --------
    >>> without_markup("<b>Tom &amp; Jerry</b><br>5 < 6")
    'Tom & Jerry 5 < 6'
    """
    return " ".join(html.unescape(_TAG.sub(" ", caption)).split())


def words_of(caption: str) -> tuple[str, ...]:
    """Return the words of a caption in lower case; hyphens part words.

    Two captions are nearly the same if their words are, in their order.

    Examples
    --------
    >>> words_of("A T-shirt,   the <i>Dog\u2019s</i>!")
    ('a', 't', 'shirt', 'the', "dog's")
    """
    plain = unicodedata.normalize("NFKC", without_markup(caption)).translate(_APOSTROPHES)
    return tuple(_WORD.findall(plain.casefold()))
