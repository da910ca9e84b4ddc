"""Find the classes of ImageNet below eleven words of WordNet, on which TiC-CLIP looks separately.

A class belongs to a word if it is a hyponym of any noun that the word stands for, or that noun
itself. WordNet 3.0, whose noun numbers are ImageNet's class names, lies in Debian's package
``wordnet-base``.

    apt-get install wordnet-base
    python tools/build_imagenet_subtrees.py /usr/share/wordnet
"""

import json
import sys
from pathlib import Path

from onward.data.iirc_official import official_classes
from onward.data.imagenet_subtrees import TABLE
from onward.files import write_atomic

WORDS = (
    "device",
    "motor_vehicle",
    "machine",
    "phone",
    "computer",
    "garment",
    "clothing",
    "dog",
    "bird",
    "cat",
    "animal",
)
_HYPONYM = "~"


def main(folder: Path) -> None:
    """Write the table, and print how many classes each word has."""
    below = hyponyms(folder / "data.noun")
    nouns = synsets(folder / "index.noun")
    classes = sorted(official_classes("imagenet", incremental=True).classes)
    found = {}
    for word in WORDS:
        reached = set(nouns[word])
        frontier = list(reached)
        while frontier:
            new = set(below[frontier.pop()]) - reached
            reached |= new
            frontier += new
        found[word] = [number for number, name in enumerate(classes) if name[1:] in reached]
        print(f"{word}: {len(found[word])} classes")
    how = (
        "numbers of ImageNet's classes, in the order of their WordNet numbers, that are hyponyms "
        "of any noun that the word stands for; made of WordNet 3.0 by "
        "tools/build_imagenet_subtrees.py, see LICENSE-WORDNET.txt"
    )
    lines = ",\n".join(f"  {json.dumps(word)}: {json.dumps(found[word])}" for word in WORDS)
    content = f'{{\n "how": {json.dumps(how)},\n "subtrees": {{\n{lines}\n }}\n}}\n'
    write_atomic(TABLE, content.encode())


def hyponyms(path: Path) -> dict[str, list[str]]:
    """Return what lies directly below each noun, by number, as the manual page wndb(5) says."""
    found = {}
    for line in path.read_text("ascii").splitlines():
        if line.startswith(" "):
            continue  # the licence
        fields = line.partition("|")[0].split()
        pointers = fields[4 + 2 * int(fields[3], 16) :]
        count, rest = int(pointers[0]), pointers[1:]
        links = [rest[4 * i : 4 * i + 3] for i in range(count)]
        found[fields[0]] = [number for kind, number, part in links if kind == _HYPONYM]
    return found


def synsets(path: Path) -> dict[str, list[str]]:
    """Return the nouns that each word stands for, by number."""
    found = {}
    for line in path.read_text("ascii").splitlines():
        if not line.startswith(" "):
            fields = line.split()
            found[fields[0]] = fields[-int(fields[2]) :]
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
