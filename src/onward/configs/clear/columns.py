"""The columns of CLEAR's tables."""

from onward.configs.clear.runs import FEATURES
from onward.reproduce.table import Column

# By their names in the files of published values: heading, and metric of the catalogue.
_METRICS = {
    "in_domain": ("in-domain", "clear.in_domain"),
    "next_domain": ("next-domain", "clear.next_domain"),
    "acc": ("accuracy", "clear.accuracy"),
    "bwt": ("BwT", "clear.backward_transfer"),
    "fwt": ("FwT", "clear.forward_transfer"),
}


def _columns(protocol: str, prefix: str, *names: str) -> tuple[Column, ...]:
    chosen = {name: _METRICS[name] for name in names}
    return tuple(
        Column(f"{prefix}{name}", heading, protocol, metric)
        for name, (heading, metric) in chosen.items()
    )


IID = _columns("iid", "iid_", *_METRICS)
STREAMING = _columns("streaming", "stream_", "next_domain", "fwt")
# The supplement has one protocol a table, and its file leaves the protocol's name out.
IID_ALONE = _columns("iid", "", *_METRICS)
STREAMING_ALONE = _columns("streaming", "", "next_domain", "fwt")


def by_features(metric: str, protocol: str) -> tuple[Column, ...]:
    """Return a column for each kind of features; the metric is ``in_domain`` or ``next_domain``."""
    short, heading = metric.partition("_")[0], metric.replace("_", "-")
    return tuple(
        Column(
            name=f"{short}_{name}",
            heading=f"{heading} {name}",
            protocol=protocol,
            metric=f"clear.{metric}",
            load={"features": kind},
            edition=f"{name} features",
        )
        for name, kind in FEATURES.items()
    )
