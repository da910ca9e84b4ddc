"""What stands beside the road in Emoji Street, and is not annotated."""

import numpy as np

from onward.data.street.road import View


def beside(view: View) -> list[tuple[str, float, float, float]]:
    """Return what stands beside the road: name, metres ahead and across, height."""
    place, found = view.place, []
    step = {"Citystreet": 18.0, "Highway": 34.0, "Countryroad": 16.0}[str(place.location)]
    trees = {"Shenzhen": "palm tree", "Shanghai": "deciduous tree", "Guangzhou": "deciduous tree"}
    first = int(view.travelled // step) + 1
    for number in range(first, first + 6):
        luck = np.random.default_rng([number, view.key]).random(6)
        ahead = number * step - view.travelled + 6
        if ahead < 7:
            continue
        for side, where in ((-1, luck[0]), (1, luck[1])):
            if luck[2 + (side > 0)] < 0.35:
                continue
            name, tall = trees[str(place.city)], 4.2 + 1.5 * where
            across = {
                "Citystreet": 10.2 if side < 0 else 8.9,
                "Highway": (24 if side < 0 else 11) + 6 * where,
                "Countryroad": (8.5 if side < 0 else 6.2) + 5 * where,
            }[str(place.location)]
            if place.location == "Countryroad" and luck[4] < 0.3:
                name = "evergreen tree"
            if place.location == "Countryroad" and luck[5] < 0.08:
                name, tall, across = "house with garden", 5.0, across + 6
            if place.location == "Citystreet" and luck[5] < 0.16:
                name, tall, across = "vertical traffic light", 2.4, across - 1.6
            found.append((name, ahead, side * across, tall))
    return found
