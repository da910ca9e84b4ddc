"""The columns of CLEAR's tables."""

from onward.configs.clear.runs import FEATURES
from onward.reproduce.table import Column

IID = (
    Column("iid_in_domain", "in-domain", "iid", "clear.in_domain"),
    Column("iid_next_domain", "next-domain", "iid", "clear.next_domain"),
    Column("iid_acc", "accuracy", "iid", "clear.accuracy"),
    Column("iid_bwt", "BwT", "iid", "clear.backward_transfer"),
    Column("iid_fwt", "FwT", "iid", "clear.forward_transfer"),
)
STREAMING = (
    Column("stream_next_domain", "next-domain", "streaming", "clear.next_domain"),
    Column("stream_fwt", "FwT", "streaming", "clear.forward_transfer"),
)
# The supplement has one protocol a table, and its file leaves the protocol's name out.
IID_ALONE = (
    Column("in_domain", "in-domain", "iid", "clear.in_domain"),
    Column("next_domain", "next-domain", "iid", "clear.next_domain"),
    Column("acc", "accuracy", "iid", "clear.accuracy"),
    Column("bwt", "BwT", "iid", "clear.backward_transfer"),
    Column("fwt", "FwT", "iid", "clear.forward_transfer"),
)
STREAMING_ALONE = (
    Column("next_domain", "next-domain", "streaming", "clear.next_domain"),
    Column("fwt", "FwT", "streaming", "clear.forward_transfer"),
)


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
