"""Weights that a network starts from, as an option of a benchmark."""

from pathlib import Path

from onward.errors import OnwardError
from onward.files import file_digest


def weights_option(weights: str | None) -> dict[str, str]:
    """Return what tells a file with weights from another one of the same name."""
    if weights is None:
        return {}
    path = Path(weights).expanduser()
    if not path.is_file():
        raise OnwardError(f"expected a file with weights, found none at {weights}")
    return {"weights": f"sha256 {file_digest(path)[:16]}"}
