import numpy as np
import pytest

from onward.data.bags import retrieval_test
from onward.errors import OnwardError
from onward.evaluation.asked import EVERYTHING, Asked, gather, read_queries
from onward.evaluation.dated import dated, require_found
from onward.pairs import made_pairs, pair_type
from onward.table import Table
from onward.tasks.image_text import ImageText
from onward.types import Samples

CAPTIONS = ("a covid test", "a red fox", "Covid-19 wards", "covidien tools")


def a_test() -> tuple[Table, Samples]:
    kind = pair_type((2, 2, 3), 20)
    pairs = np.concatenate(
        [made_pairs(kind, np.ones((4, 2, 2, 3)), None), made_pairs(kind, None, CAPTIONS)]
    )
    import pyarrow as pa

    columns = pa.table({"id": np.arange(8)})
    table = Table(columns, {"input": pairs}, "digest")
    rng = np.random.default_rng(1)
    return table, retrieval_test(np.arange(4), np.arange(4, 8), np.arange(4), rng)


def outputs(samples: Samples, *, wrong: int) -> np.ndarray:
    """Directions by which all is found, but for one image and its caption that look like others."""
    found = np.zeros((8, 2, 5), np.float32)
    for place, row in enumerate(samples.rows):
        side, number = (0, row) if row < 4 else (1, row - 4)
        found[place, side, number] = 1
        if side == 0 and number == wrong:
            found[place, 0] = [0.1, 0.1, 0.1, 0.1, 1]
            found[place, 0, (wrong + 1) % 4] = 0.5
    return found


def test_questions_are_those_whose_caption_mentions_a_word_and_candidates_are_all() -> None:
    table, samples = a_test()
    decided = ImageText().decode(outputs(samples, wrong=0), (), 8)
    queries = read_queries(["covid", "either=fox,tools", "none"])
    found = gather(decided, samples, table, (), None, queries)
    assert found.about == (EVERYTHING, "covid", "either", "none")
    # A word is a whole word, in any case: not that of another company.
    assert found.asked.sum(axis=(0, 2)).tolist() == [8, 4, 4, 0]
    whole = ImageText().score(decided, samples.labels)
    shares = found.right.sum(axis=0) / np.maximum(found.asked.sum(axis=0), 1)
    assert shares[0].tolist() == [whole["image_to_text1"], whole["text_to_image1"]]
    # Image 0 takes another caption, which the query does not mention: candidates are all.
    assert whole["image_to_text1"] == 0.75
    assert shares[1, 0] == 0.5
    assert shares[2, 0] == 1.0


def asked(right: float, images: int = 200, seed: int = 0) -> Asked:
    rng = np.random.default_rng(seed)
    ones = np.ones((images, 1, 2))
    hits = (np.arange(images) < right * images).astype(float)
    return Asked((EVERYTHING,), ones, rng.permutation(hits)[:, None, None] * ones)


PERIODS = ["2016", "2017", "2018", "2019", "2020", "2021"]


def test_gaps_and_their_intervals() -> None:
    shares = {"old model": [0.8] * 4 + [0.4] * 2, "fresh": [0.8] * 6}
    found = dated(
        {
            model: {(p, "period"): asked(share, seed=at) for at, (p, share) in
                    enumerate(zip(PERIODS, values, strict=True))}
            for model, values in shares.items()
        },
        PERIODS,
    )  # fmt: skip
    assert (found.split, list(found.new)) == (4, [4, 5])
    old, fresh = found.courses
    gap, none = found.gap(old), found.gap(fresh)
    assert gap.value == pytest.approx(0.4)
    # Binomial: sqrt(.8 * .2 / 800 + .4 * .6 / 400) = 0.028, times 1.96 to either side.
    assert gap.high - gap.low == pytest.approx(2 * 1.96 * 0.0283, rel=0.15)
    assert gap.low < 0.4 < gap.high
    assert none.low < 0 < none.high
    assert not none.decides
    better = found.newer(fresh, old)
    assert better.decides
    assert better.value == pytest.approx(0.4)
    assert found.as_json()["compared"][0]["answer"] == "worse"


def test_models_that_answer_alike_do_not_differ_at_all() -> None:
    mine = {(p, "period"): asked(0.5, seed=at) for at, p in enumerate(PERIODS)}
    found = dated({"a": mine, "b": mine}, PERIODS, "2019")
    assert found.split == 3
    apart = found.newer(*found.courses)
    # The same draws for both: what is the same has no spread.
    assert (apart.value, apart.low, apart.high) == (0, 0, 0)
    again = dated({"a": mine, "b": mine}, PERIODS, "2019")
    np.testing.assert_array_equal(found.courses[0].drawn, again.courses[0].drawn)


def test_mistakes_are_named() -> None:
    mine = {(p, "period"): asked(0.5) for p in PERIODS}
    for when in ("2010", "2030"):
        with pytest.raises(OnwardError, match="both sides of"):
            dated({"a": mine}, PERIODS, when)
    with pytest.raises(OnwardError, match="two periods or more"):
        dated({"a": mine}, PERIODS[:1])
    other = mine | {("2016", "period"): asked(0.5, images=100)}
    with pytest.raises(OnwardError, match="the same questions for all models"):
        dated({"a": mine, "b": other}, PERIODS)
    with pytest.raises(OnwardError, match="mention covid, found none"):
        require_found(dated({"a": mine}, PERIODS), ["covid"])
    for wrong in ("", "=a", "a=", "all"):
        with pytest.raises(OnwardError, match="a query such as covid"):
            read_queries([wrong])
