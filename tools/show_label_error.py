"""Simulate campaigns of annotators, and print how often the interval covers the true label error.

python tools/show_label_error.py [CAMPAIGNS] [FIRST SEED]
"""

import sys
import time
from collections import defaultdict

import numpy as np

from onward.curate.demo.annotators import Picture, crew
from onward.curate.label_error import LabelError, Questions, label_error
from simulated import simulated_votes

CONCEPTS = tuple(f"concept {number}" for number in range(10))
BACKGROUND = "BACKGROUND"


def campaign(
    seed: int, *, per_concept: int = 200, people: int | None = None
) -> tuple[str, float, LabelError]:
    """Simulate a campaign; return what kind it was, the true error and the estimated one."""
    rng = np.random.default_rng([seed, 4])
    unevenness = float(rng.choice([0, 0.25, 0.5, 1.0]))
    lured, misses = rng.uniform(0.03, 0.3), rng.uniform(0.02, 0.15)
    careless = float(rng.choice([0, 0, 0.05]))
    annotators = crew(
        people or int(rng.integers(6, 30)), seed, misses=misses, lured=lured, careless=careless
    )
    pictures = list(_pictures(per_concept, rng))
    votes = simulated_votes(pictures, annotators, CONCEPTS, unevenness=unevenness, seed=seed)
    asked, accepted, wrong = _questions(pictures, votes.to_pylist())
    found = label_error(asked, accepted)
    assert found is not None
    return f"unevenness {unevenness:g}", float(wrong[accepted].mean()), found


def _pictures(per_concept: int, rng: np.random.Generator) -> list[Picture]:
    found = []
    for concept in (*CONCEPTS, BACKGROUND):
        precision = rng.uniform(0.55, 0.97)
        for number in range(per_concept):
            others = [name for name in CONCEPTS if name != concept]
            other = others[rng.integers(len(others))]
            true = set() if concept == BACKGROUND else {concept}
            draw = rng.random()
            if draw < precision:
                shows = true
            elif concept == BACKGROUND or draw < precision + (1 - precision) * 0.25:
                shows = {other}
            elif draw < precision + (1 - precision) * 0.4:
                shows = true | {other}
            else:
                shows = set()
            found.append(Picture(f"{concept} {number}", concept, frozenset(shows)))
    return found


def _questions(
    pictures: list[Picture], votes: list[dict[str, object]]
) -> tuple[Questions, np.ndarray, np.ndarray]:
    row = {picture.id: number for number, picture in enumerate(pictures)}
    own = [set() if p.found_for == BACKGROUND else {p.found_for} for p in pictures]
    yes, who = np.full((len(pictures), 3), -1), np.zeros((len(pictures), 3), np.int64)
    filled: dict[int, int] = defaultdict(int)
    names = sorted({str(vote["annotator"]) for vote in votes})
    for vote in votes:
        place = row[str(vote["id"])]
        yes[place, filled[place]] = set(vote["labels"]) == own[place]
        who[place, filled[place]] = names.index(str(vote["annotator"]))
        filled[place] += 1
    concept = np.unique([p.found_for for p in pictures], return_inverse=True)[1]
    wrong = np.array([p.shows != o for p, o in zip(pictures, own, strict=True)])
    asked = Questions(yes, who, concept, np.full(len(pictures), -1))
    return asked, yes.sum(1) >= 2, wrong


def main() -> None:
    """Print each campaign, then the coverage by kind and in all."""
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    covered: dict[str, list[bool]] = defaultdict(list)
    truths, widths = [], []
    for seed in range(first, first + campaigns):
        begun = time.perf_counter()
        kind, truth, found = campaign(seed)
        inside = found.low <= truth <= found.high
        covered[kind].append(inside)
        truths.append(truth)
        widths.append(found.high - found.low)
        print(
            f"{seed:4} {kind:16} true {truth:6.2%}  estimated {found.estimate:6.2%} "
            f"[{found.low:6.2%}, {found.high:6.2%}] {'' if inside else 'MISSED':6} "
            f"{time.perf_counter() - begun:.1f} s",
            flush=True,
        )
    for kind, hits in sorted(covered.items()):
        print(f"{kind:16} covered {sum(hits)} of {len(hits)}")
    whole = [hit for hits in covered.values() for hit in hits]
    print(
        f"in all           covered {sum(whole)} of {len(whole)}; true error from "
        f"{min(truths):.2%} to {max(truths):.2%}, interval {np.mean(widths):.2%} wide on average"
    )


if __name__ == "__main__":
    main()
