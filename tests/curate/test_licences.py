"""Licences by name, by address, in other spellings, or not at all."""

import pytest

from onward.curate.licences import MISSING, NO_CHANGES, RESERVED, UNKNOWN, licence_of

CC = "https://creativecommons.org/licenses"


@pytest.mark.parametrize(
    ("name", "url", "expected", "problem"),
    [
        ("Attribution License", f"{CC}/by/2.0/", "CC BY 2.0", ""),
        ("Attribution-NonCommercial-ShareAlike License", None, "CC BY-NC-SA", ""),
        ("Attribution-NonCommercial-NoDerivs License", None, "CC BY-NC-ND", NO_CHANGES),
        (None, f"{CC}/by-nd/4.0/legalcode", "CC BY-ND 4.0", NO_CHANGES),
        ("CC-BY-4.0", None, "CC BY 4.0", ""),
        ("cc by-sa 3.0", "", "CC BY-SA 3.0", ""),
        (None, "https://creativecommons.org/publicdomain/zero/1.0/", "CC0 or public domain", ""),
        ("Public Domain", None, "CC0 or public domain", ""),
        ("Apache-2.0", None, "Apache-2.0", ""),
        ("All Rights Reserved", None, "All Rights Reserved", RESERVED),
        ("Attribution of sorts", None, "Attribution of sorts", UNKNOWN),
        (None, "https://example.org/terms", "https://example.org/terms", UNKNOWN),
        ("  ", None, "", MISSING),
        (None, None, "", MISSING),
    ],
)
def test_what_is_known_of_a_licence(
    name: str | None, url: str | None, expected: str, problem: str
) -> None:
    found = licence_of(name, url)
    assert (found.name, found.problem) == (expected, problem)
    assert found.shareable == (problem in ("", NO_CHANGES))
