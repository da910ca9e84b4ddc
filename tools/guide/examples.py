"""Commands that a first look consists of: the real thing, made short."""

# What makes a first look at a benchmark short.
_SMALL = {
    "clad-c": "--frames 150",
    "clad-d": "--frames 150 --budget iterations=10",
    "tic": "--budget iterations=10",
    "yours": "--data table.csv",
}
AS_IMAGES = "--features image --training epochs=1"
"""Where numbers take the place of images, and a method needs images."""


def run_command(benchmark: str, method: str, more: str = "") -> str:
    """Return the command that runs a method on a benchmark, for a first look.

    >>> run_command("clad-c", "er")
    'onward run clad-c --frames 150 --method er'
    """
    small = _SMALL.get(benchmark, "")
    return " ".join(f"onward run {benchmark} {small} {more} --method {method}".split())
