"""What there is to mind about candidates, in words."""

from collections.abc import Mapping
from typing import Any


def told(counts: Mapping[str, Any]) -> list[str]:
    """Return a line for each thing that a person should know of."""
    lines = [
        f"bucket {one['bucket']} has {one['images']:,} images, too few that are of one concept "
        f"only: {one['top']:,} of each"
        for one in counts["small_buckets"]
    ]
    lines += [
        f"{one['concept']} matches nothing in bucket {one['bucket']}: each of its candidates "
        "scores 0 or less, or higher for another concept"
        for one in counts["unmatched"]
    ]
    lines += [
        f"{one['concept']} in bucket {one['bucket']}: {one['found']:,} of {one['wanted']:,}"
        for one in counts["short"]
    ]
    if counts["passed_over"]:
        lines.append(f"{counts['passed_over']:,} images are in no bucket that was asked for")
    return lines
