"""What a run says of itself, apart from its numbers."""

from made_up import make_record


def test_tests_of_periods_and_tests_of_none_are_told_apart() -> None:
    both = make_record([[0.5, 0.4], [0.6, 0.7]], static=[0.1, 0.2])
    assert both.period_tests == ["period"]
    assert both.static_tests == ["other"]
    assert both.static("other").tolist() == [0.1, 0.2]
    assert make_record([[0.5]]).static_tests == []
