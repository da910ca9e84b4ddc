"""Commands are read off specs, and as short as the command line takes them."""

from collections.abc import Callable

from onward.report.commands import commands


def test_methods_and_seeds_are_joined(make: Callable) -> None:
    specs = [
        make([[0.5]], method=m, seed=s, protocol=p).spec
        for p in ("iid", "streaming")
        for m in ("er", "nap")
        for s in (0, 1, 2, 5)
    ]
    assert commands(specs) == [
        f"onward run clear --data made-up --protocol {p} --method er --method nap --seeds 0-2,5"
        for p in ("iid", "streaming")
    ]


def test_whatever_a_shell_would_misread_is_quoted(make: Callable) -> None:
    (command,) = commands([make([[0.5]], method="a b.py:$(rm -rf)").spec])
    assert "--method 'a b.py:$(rm -rf)'" in command


def test_limits_of_the_protocol_are_not_asked_for_again(make: Callable) -> None:
    rules = {"name": "iid", "tests": "all", "limits": {"macs": 5.0}}
    spec = make([[0.5]]).spec.model_copy(
        update={"protocol": rules, "limits": {"macs": 5.0, "stored_samples": 100.0}}
    )
    assert commands([spec])[0].partition("--budget ")[2].startswith("stored_samples=100 ")
