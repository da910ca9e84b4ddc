"""What curation needs beyond what every installation of Onward has."""

from onward import extras


def need(*packages: str) -> None:
    """Say which package is missing, before something imports it."""
    for package in packages:
        extras.need(package, "which curation needs", "curate")
