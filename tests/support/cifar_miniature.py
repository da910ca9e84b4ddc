"""CIFAR-100's files in miniature, pickled as the published ones are: by Python 2, protocol 2."""

import struct
from pathlib import Path
from typing import Any

import numpy as np

from onward.data.iirc_official import official_hierarchy


def python2_pickle(value: dict[str, Any]) -> bytes:
    """Pickle texts, small numbers and arrays of bytes the way Python 2 did."""
    memo = 0

    def named(code: bytes) -> bytes:
        nonlocal memo
        memo += 1
        small = memo < 256
        return code + (b"q" + bytes([memo]) if small else b"r" + struct.pack("<I", memo))

    def text(one: str) -> bytes:
        return named(b"U" + bytes([len(one)]) + one.encode("latin1"))

    def number(one: int) -> bytes:
        return b"K" + bytes([one]) if one < 256 else b"M" + struct.pack("<H", one)

    def listed(values: list[Any]) -> bytes:
        parts = [named(b"]")]
        for start in range(0, len(values), 1000):
            items = [text(v) if isinstance(v, str) else number(v) for v in values[start:][:1000]]
            parts.append(b"(" + b"".join(items) + b"e")
        return b"".join(parts)

    def array(values: np.ndarray) -> bytes:
        made = named(b"cnumpy.core.multiarray\n_reconstruct\n") + named(b"cnumpy\nndarray\n")
        made = named(made + named(b"K\x00\x85") + named(b"U\x01b") + named(b"\x87") + b"R")
        kind = named(b"cnumpy\ndtype\n") + named(b"U\x02u1") + b"K\x00K\x01" + named(b"\x87") + b"R"
        kind = named(kind) + b"(K\x03" + named(b"U\x01|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
        kind += b"K\x00" + named(b"t") + b"b"
        shape = b"".join(b"J" + struct.pack("<i", n) for n in values.shape) + named(b"\x86")
        raw = named(b"T" + struct.pack("<I", values.nbytes) + values.tobytes())
        return made + b"(K\x01" + shape + kind + b"\x89" + raw + named(b"t") + b"b"

    parts = [b"\x80\x02", named(b"}"), b"("]
    for key, one in value.items():
        parts.append(text(key))
        if isinstance(one, str):
            parts.append(text(one))
        else:
            parts.append(listed(one) if isinstance(one, list) else array(one))
    return b"".join([*parts, b"u."])


def write_cifar(root: Path, train: int = 20, test: int = 4, *, seed: int = 0) -> Path:
    """Write `train` and `test` samples of every class, shuffled, into ``root/cifar-100-python``.

    The first three bytes of an image are its number in its file.
    """
    folder = root / "cifar-100-python"
    folder.mkdir(parents=True)
    names = sorted(official_hierarchy("cifar").parent)
    for number, (name, each) in enumerate((("train", train), ("test", test))):
        rng = np.random.default_rng([seed, number])
        labels = rng.permutation(np.repeat(np.arange(100), each))
        pixels = rng.integers(0, 256, (len(labels), 3072), np.uint8)
        pixels[:, :3] = np.arange(len(labels))[:, None] // np.array([65536, 256, 1]) % 256
        content = {
            "filenames": [f"{names[label]}_s_{row:06d}.png" for row, label in enumerate(labels)],
            "batch_label": f"{name} batch 1 of 1",
            "fine_labels": labels.tolist(),
            "coarse_labels": (labels // 5).tolist(),
            "data": pixels,
        }
        (folder / name).write_bytes(python2_pickle(content))
    coarse = [f"coarse_{number}" for number in range(20)]
    meta = {"fine_label_names": names, "coarse_label_names": coarse}
    (folder / "meta").write_bytes(python2_pickle(meta))
    return root
