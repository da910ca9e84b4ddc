"""What a filter leaves of each period: a bias towards old data is seen as a falling line."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from onward.report.style import COLOURS, canvas, percent_axis, styled


@styled
def survival_figure(
    names: Sequence[str], shares: Mapping[str, Sequence[float]], *, chain: bool = True
) -> Figure:
    """Draw the share of pairs that is left in each period, after each step.

    Parameters
    ----------
    names
        The periods, in order of time.
    shares
        By step, in their order: a share of each period.
    chain
        Whether each step has what the one before it left; otherwise they are beside each other.
    """
    figure, axes = canvas(8.4, 3.8)
    places = range(len(names))
    for number, (label, share) in enumerate(shares.items()):
        last = number + 1 == len(shares) or not chain
        axes.plot(
            places,
            [100 * one for one in share],
            color=COLOURS[number % len(COLOURS)],
            marker="o",
            markersize=5 if last else 3.5,
            linewidth=2.2 if last else 1.3,
            label=f"then {label}" if number and chain else label,
            gid=label,
        )
    axes.set_xticks(list(places), names, rotation=45 if len(names) > 14 else 0)
    axes.set_ylim(0, 104)
    percent_axis(axes, "pairs left of those dated")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure
