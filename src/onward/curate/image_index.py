"""Where each of many images lies: some thirty bytes of each in memory, found by halving."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from onward.curate.images import KINDS, Place, Shard
from onward.data.uid_lists import UID, is_uid, listed_in, places_in, uids_of
from onward.errors import OnwardError, first_few
from onward.table import Array

_PLACE = np.dtype([("uid", UID), ("shard", "i4"), ("kind", "u1"), ("at", "i8"), ("size", "i8")])
_AT_A_TIME = 4096


class ImageIndex:
    """Images by id, out of the shards of a folder; ``soft_targets`` are sorted ids."""

    def __init__(
        self, folder: Path, shards: Sequence[Shard], wanted: Array, watch: Callable[[int], None]
    ) -> None:
        self._folder, self._shards = folder, shards
        # Files have names of their own, whose ending may be in capital letters.
        self._files: dict[tuple[int, int], Path] = {}
        found = [np.empty(0, _PLACE)]
        for number, shard in enumerate(shards):
            held: list[Place] = []
            for place in shard.places():
                if is_uid(place.id):
                    held.append(place)
                if len(held) == _AT_A_TIME:
                    found.append(self._added(number, held, wanted))
                    held = []
            if held:
                found.append(self._added(number, held, wanted))
            watch(1)
        places = np.concatenate(found)
        order = np.argsort(places["uid"], kind="stable")
        self._places = places[order]
        self._uids = np.ascontiguousarray(self._places["uid"])

    def _added(self, number: int, held: list[Place], wanted: Array) -> Array:
        uids = uids_of([place.id for place in held])
        mine = np.empty(len(held), _PLACE)
        mine["uid"], mine["shard"] = uids, number
        mine["kind"] = [KINDS.index(place.kind) for place in held]
        mine["at"] = [place.offset for place in held]
        mine["size"] = [place.size for place in held]
        here = listed_in(wanted, uids)
        for place, uid, one in zip(held, uids.tolist(), here.tolist(), strict=True):
            if one and place.size < 0:
                self._files.setdefault(uid, place.path)
        return mine[here]

    def missing(self, ids: list[str]) -> list[str]:
        """Return which of these have no image."""
        there = places_in(self._uids, uids_of(ids)) >= 0
        return [one for one, here in zip(ids, there.tolist(), strict=True) if not here]

    def of(self, ids: list[str]) -> list[Place]:
        """Return where these images lie, or say which do not."""
        gone = self.missing(ids)
        if gone:
            raise OnwardError(
                f"expected the images of all pairs in {self._folder}, found none of {len(gone):,}: "
                f"{first_few(gone)}. Put them back, or make the tests again: onward curate tests"
            )
        uids = uids_of(ids)
        found = self._places[places_in(self._uids, uids)]
        return [
            Place(
                name,
                self._files[uid] if size < 0 else self._shards[shard].path,
                KINDS[kind],
                at,
                size,
            )
            for name, (uid, shard, kind, at, size) in zip(ids, found.tolist(), strict=True)
        ]
