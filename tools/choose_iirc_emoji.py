"""Choose the subgroups of emoji that the emoji edition of IIRC is made of, once.

Small drawings do not show everything that Unicode sorts by. A linear probe on the hand-made
features learns all subgroups of at least twelve identities together, on the training drawings of
the benchmark alone, in five folds of identities; those that it recalls best are chosen.

    python tools/choose_iirc_emoji.py
"""

import json

import numpy as np
from sklearn.linear_model import LogisticRegression

from onward.data.emoji_history import with_features
from onward.data.iirc_emoji import LEAST_IDENTITIES, load_iirc_emoji
from onward.data.iirc_official import FOLDER
from onward.data.split import uniform
from onward.files import write_atomic

# With their seven categories these are 31 classes: four, and nine times three.
CHOSEN, FOLDS = 24, 5


def main() -> None:
    """Print the recall of every subgroup, and write down the chosen ones."""
    table = with_features(load_iirc_emoji("all"), divide=False)
    names = table.columns.column("subclass").cast("string")
    rows = np.flatnonzero(np.asarray(names.is_valid()) & ~table.values("test"))
    inputs, labels = table.wide["input"][rows], np.array(names.to_pylist(), object)[rows]
    fold = (uniform(table.values("group")[rows], "fold") * FOLDS).astype(int)
    said = np.empty(len(rows), object)
    for number in range(FOLDS):
        here = fold != number
        probe = LogisticRegression(C=1e-3, max_iter=300).fit(inputs[here], labels[here])
        said[~here] = probe.predict(inputs[~here])
    recall = {
        name: round(float((said[labels == name] == name).mean()), 3) for name in sorted({*labels})
    }
    ranked = sorted(recall, key=lambda name: -recall[name])
    for place, name in enumerate(ranked):
        print(f"{recall[name]:.3f} {name}{'' if place < CHOSEN else ' (left out)'}")
    how = (
        f"of {len(recall)} subgroups with at least {LEAST_IDENTITIES} identities, the {CHOSEN} "
        f"that a joint linear probe recalls best, on training identities in {FOLDS} folds; made by "
        "tools/choose_iirc_emoji.py"
    )
    chosen = {name: recall[name] for name in sorted(ranked[:CHOSEN])}
    content = json.dumps({"how": how, "recall": chosen}, indent=1) + "\n"
    write_atomic(FOLDER / "emoji_subgroups.json", content.encode())


if __name__ == "__main__":
    main()
