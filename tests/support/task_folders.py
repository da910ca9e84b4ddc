"""Static tasks in webdataset's layout, written by hand."""

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

COLOURS = {"red": (220, 30, 30), "green": (30, 200, 40), "blue": (30, 40, 220)}
TEMPLATES = ("a {c} square.", "something {c}.")


def picture(colour: str, number: int = 0, size: tuple[int, int] = (48, 40)) -> bytes:
    """Return a PNG file of about one colour."""
    rng = np.random.default_rng(number)
    noise = rng.integers(-25, 26, (size[1], size[0], 3))
    pixels = np.clip(np.array(COLOURS[colour]) + noise, 0, 255).astype(np.uint8)
    sink = io.BytesIO()
    Image.fromarray(pixels).save(sink, "PNG")
    return sink.getvalue()


def numbers(*values: int) -> bytes:
    """Return an array as a file."""
    sink = io.BytesIO()
    np.save(sink, np.array(values))
    return sink.getvalue()


def write_shards(folder: Path, samples: Sequence[Mapping[str, bytes]], shards: int = 2) -> None:
    """Write samples, each given by its members, into so many shards."""
    folder.mkdir(parents=True)
    for shard in range(shards):
        with tarfile.open(folder / f"{shard}.tar", "w") as file:
            for number in range(shard, len(samples), shards):
                for kind, content in samples[number].items():
                    entry = tarfile.TarInfo(f"{number:05d}.{kind}")
                    entry.size = len(content)
                    file.addfile(entry, io.BytesIO(content))
    (folder / "nshards.txt").write_text(f"{shards}\n")


def write_classification(
    folder: Path, labels: Sequence[int], groups: Sequence[int] | None = None
) -> None:
    """Write pictures of these colours; a group may be given for each."""
    names = list(COLOURS)
    samples = []
    for number, label in enumerate(labels):
        sample = {"png": picture(names[label], number), "cls": str(label).encode()}
        if groups is not None:
            sample["npy"] = numbers(groups[number], 7)
        samples.append(sample)
    write_shards(folder / "test", samples)
    (folder / "classnames.txt").write_text("\n".join(names) + "\n")
    path = folder / "zeroshot_classification_templates.txt"
    path.write_text("\n".join(TEMPLATES) + "\n")


def write_retrieval(folder: Path, captions: Sequence[Sequence[str]]) -> None:
    """Write a picture for each list of captions, of the colour that the first one names."""
    samples = [
        {"png": picture(texts[0].split()[1], number), "txt": "\n".join(texts).encode()}
        for number, texts in enumerate(captions)
    ]
    write_shards(folder / "test", samples)
    (folder / "dataset_type.txt").write_text("retrieval\n")


def write_association(
    folder: Path, asked: Sequence[tuple[str, Sequence[str], Sequence[int]]]
) -> None:
    """Write cues with the colours of their images and the numbers of the right ones."""
    samples = []
    for cue, colours, right in asked:
        images = {f"{i}.png": picture(colour, i) for i, colour in enumerate(colours)}
        said = json.dumps({"cue": cue, "associations": list(right)}).encode()
        samples.append({**images, "json": said})
    write_shards(folder / "test", samples, shards=1)
    (folder / "dataset_type.txt").write_text("association\n")
