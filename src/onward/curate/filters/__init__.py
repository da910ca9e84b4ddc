"""Steps of a filter, by name; several make a chain."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from onward.curate.filters.captions import Caption, English
from onward.curate.filters.clip_score import ClipScore
from onward.curate.filters.imagenet_near import ImagenetNear
from onward.curate.filters.sizes import Aspect, Size
from onward.curate.filters.step import Given, Step
from onward.errors import OnwardError, unknown

STEPS: Mapping[str, type[Step]] = {
    step.name: step for step in (English, Caption, Size, Aspect, ClipScore, ImagenetNear)
}
CHAINS: Mapping[str, Sequence[str]] = {
    # DataComp's: more than two words and five letters, 200 pixels, at most 3 to 1, English. What
    # takes longest comes last; what is kept is the same in any order.
    "basic": ("caption", "size", "aspect", "english"),
    "bestpool": ("clip_score:top=0.3", "imagenet_near"),
}
"""Steps that belong together, by one name."""

__all__ = ["CHAINS", "STEPS", "Given", "Step", "read_steps"]


def read_steps(texts: Sequence[str]) -> list[Step]:
    """Return the steps that somebody typed: ``NAME`` or ``NAME:key=value,key=value``.

    Examples
    --------
    >>> [step.told() for step in read_steps(["caption:words=3", "size"])]
    ['caption:words=3', 'size']
    """
    if not texts:
        raise OnwardError(
            f"expected --step NAME, found none. There are {', '.join([*STEPS, *CHAINS])}"
        )
    found: list[Step] = []
    for text in texts:
        name, _, options = text.partition(":")
        if name in CHAINS:
            if options:
                raise OnwardError(
                    f"expected {name} without options, found {text!r}. It stands for "
                    f"{' '.join(f'--step {one}' for one in CHAINS[name])}: type those"
                )
            found += read_steps(CHAINS[name])
        elif name in STEPS:
            found.append(_read(STEPS[name], options, text))
        else:
            raise unknown("step", name, [*STEPS, *CHAINS], "onward curate filter --help")
    return found


def _read(step: type[Step], options: str, text: str) -> Step:
    kinds = {one.name: str(one.type) for one in fields(step) if one.init}
    given: dict[str, object] = {}
    for option in filter(None, options.split(",")):
        key, there, value = option.partition("=")
        if key not in kinds or not there:
            known = ", ".join(f"{one}=" for one in kinds) or "none"
            raise OnwardError(
                f"expected options of the step {step.name} ({known}), found {option!r} in {text!r}"
            )
        kind = kinds[key]
        number = int if kind.startswith(("int", "<class 'int'")) else float
        try:
            given[key] = value if "str" in kind else number(value)
        except ValueError as error:
            raise OnwardError(
                f"expected a number for {key} of {step.name}, found {value!r}"
            ) from error
    return step(**given)
