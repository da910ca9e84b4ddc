"""The whole way offline: a pool drawn from emoji, a small CLIP, annotators who are simulated."""
