"""Tables and where they come from: embedded data, images, features, splits, the cache."""
