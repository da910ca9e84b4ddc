"""Which classes go stale fastest."""

from collections.abc import Sequence

from onward.report.decay import class_decay
from onward.report.figures import class_decay_bars
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.summary import Summary

# Its models have seen one period each: nobody measures the data's own drift cleaner.
_CLEANEST = "scratch"


def class_decay_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw what each class loses per period between learning and testing."""
    del card
    for item in setting:
        rates = class_decay(item) if item.label == _CLEANEST else {}
        if rates:
            lost = ", ".join(f"{name} {100 * rate.mean:.1f}" for name, rate in rates.items())
            return [
                Picture(
                    "Which classes go stale",
                    class_decay_bars(rates),
                    "What a model of one period loses on the samples of another, per period "
                    "between the two, with weak models and hard periods cancelled out. Measured "
                    f"with {item.label}: its models have seen one period each. A dot is a seed.",
                    f"Points lost per period, by class: {lost}.",
                )
            ]
    return []
