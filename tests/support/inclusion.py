"""How likely a sample is to be in a biased reservoir at the end, in closed form."""

from scipy.stats import binom

from onward.memory.biased import Dynamic


def inclusion(capacity: int, alpha: float | Dynamic, sizes: list[int]) -> list[float]:
    """Return for each bucket the probability that one of its samples is in memory at the end.

    With f of a bucket's n samples filling free places and a of the rest accepted, a ~ Binomial
    (n - f, p) cut at k, every sample that was in memory, the f included, stays with probability
    1 - E[a] / k, and one of the bucket enters with probability (f (1 - E[a] / k) + E[a]) / n.
    """
    inside: list[float] = []
    seen = held = 0
    for size in sizes:
        seen += size
        fill = min(capacity - held, size)
        held += fill
        constant = alpha.c * seen / capacity if isinstance(alpha, Dynamic) else alpha
        accepted = binom(size - fill, min(1, constant * capacity / seen))
        mean = sum(min(a, capacity) * accepted.pmf(a) for a in range(size - fill + 1))
        inside = [probability * (1 - mean / capacity) for probability in inside]
        inside.append((fill * (1 - mean / capacity) + mean) / size)
    return inside
