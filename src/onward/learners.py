"""Any learner: wrappers for other libraries, and how a method is found by whatever names it.

A learner is any object with ``learn(view, budget)`` and ``predict(view)``.

Examples
--------
A scikit-learn classifier through the streaming protocol:

>>> import onward
>>> from onward.learners import PartialFit
>>> from sklearn.linear_model import SGDClassifier
>>> benchmark = onward.load("clear", data="emoji", protocol="streaming")
>>> record = onward.run(benchmark, PartialFit(SGDClassifier(random_state=0)), seed=0)
>>> 0.5 < onward.metrics.clear.next_domain(record.matrix()) < 0.8
True

A river classifier, which learns one sample at a time, on a stream small enough for that:

>>> from onward.learners import OneByOne
>>> from river.naive_bayes import GaussianNB
>>> small = onward.checks.tiny_benchmark("streaming")
>>> record = onward.run(small, OneByOne(GaussianNB()), seed=0)
>>> 0.5 < onward.metrics.clear.next_domain(record.matrix()) < 1.0
True
"""

import copy
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onward.budget import REPORTED, Budget
from onward.errors import OnwardError
from onward.fit import misfit
from onward.identity import UNKNOWN, fingerprint
from onward.methods import METHODS
from onward.python_files import file_class
from onward.train.method import Method
from onward.types import Array, Benchmark, Learner, LearnerFactory, Setting, View

__all__ = ["UNKNOWN", "Chosen", "OneByOne", "PartialFit", "choose"]


class PartialFit:
    """A scikit-learn classifier with ``partial_fit``.

    Such a classifier fixes its classes when it first learns, so it cannot follow a stream whose
    label space grows.

    Parameters
    ----------
    estimator
        An estimator that has not been fitted.
    passes
        How often each view is given to it, never more than the budget allows.
    """

    def __init__(self, estimator: Any, passes: int = 5) -> None:
        self.estimator = estimator
        self.passes = passes

    def learn(self, view: View, budget: Budget) -> None:
        """Fit the estimator on the view."""
        known = getattr(self.estimator, "classes_", None)
        if known is not None and len(known) < len(view.classes):
            raise OnwardError(
                f"expected the {len(known)} classes that this scikit-learn classifier began with, "
                f"found {len(view.classes)}: its label space cannot grow. Use a learner whose can"
            )
        for _ in range(int(min(self.passes, budget.left("passes")))):
            self.estimator.partial_fit(
                view.inputs(), view.labels, classes=np.arange(len(view.classes))
            )

    def predict(self, view: View) -> Array:
        """Return the estimator's class indices."""
        return np.asarray(self.estimator.predict(view.inputs()))


class OneByOne:
    """A river classifier.

    Parameters
    ----------
    classifier
        A classifier that has not learned anything.
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def learn(self, view: View, budget: Budget) -> None:
        """Show the classifier each sample once, in order."""
        for values, label in zip(view.inputs(), view.labels, strict=True):
            self.classifier.learn_one(dict(enumerate(values.tolist())), int(label))

    def predict(self, view: View) -> Array:
        """Return the classifier's class indices; class 0 where it has no opinion."""
        answers = [
            self.classifier.predict_one(dict(enumerate(values.tolist())))
            for values in view.inputs()
        ]
        return np.array([0 if answer is None else answer for answer in answers], np.int64)


@dataclass(frozen=True)
class Chosen:
    """A method that was found: its name, how to build a learner, and what identifies its code.

    ``parameters`` are the names of the options that it takes, ``metered`` those of
    `onward.budget.REPORTED` that its learner reports. ``revision`` tells by the recipe whether what
    a method of Onward computes has changed since runs were first stored, see `MethodCard`.
    """

    name: str
    options: Mapping[str, Any]
    digest: str | None
    build: LearnerFactory
    parameters: tuple[str, ...] = ()
    metered: tuple[str, ...] = ()
    revision: Callable[[Any], str | None] = lambda recipe: None


def choose(
    method: Any, options: Mapping[str, Any] | None = None, benchmark: Benchmark | None = None
) -> Chosen:
    """Find a method.

    Parameters
    ----------
    method
        A name of the catalogue, ``path/to/file.py:Name``, a learner, a class of either, or what
        this function returned.
    options
        Keyword arguments of the method.
    benchmark
        What it must make sense on.
    """
    if isinstance(method, Chosen):
        return method
    options = dict(options or {})
    if isinstance(method, str) and (":" in method or method.endswith(".py")):
        found = file_class(method, "--method")
        return _of_object(found.load(), options, found.name, found.digest, benchmark)
    if isinstance(method, str):
        card = METHODS.find(method)
        _require_fit(method, card.needs, benchmark)
        _require_known(card.make, options)
        return Chosen(
            method,
            options,
            # Another package's method may change while Onward's version does not.
            None if METHODS.origin(method) is None else fingerprint(card.make),
            lambda setting: _build(card.make, options, setting),
            _parameters(card.make),
            _metered(card.make),
            card.revision,
        )
    return _of_object(method, options, name_of(method), fingerprint(method), benchmark)


def fitting(*lacking: Mapping[str, str]) -> list[str]:
    """Return the methods of the catalogue that make sense where this is lacking."""
    return [name for name, card in METHODS.items() if card.misfit(*lacking) is None]


def _require_fit(method: str, needs: Mapping[str, str], benchmark: Benchmark | None) -> None:
    reason = None if benchmark is None else misfit(method, needs, *benchmark.lacking)
    if benchmark is None or reason is None:
        return
    # Those that need most of what there is are nearest to what was asked for.
    near = sorted(
        fitting(*benchmark.lacking),
        key=lambda name: -len(METHODS[name].needs.keys() & needs.keys()),
    )
    raise OnwardError(
        f"method {method!r} makes no sense on {benchmark.name}: {reason} Methods that fit: "
        f"{', '.join(near[:3])}. See: onward list grid"
    )


def _metered(found: Any) -> tuple[str, ...]:
    """Return what a method reports: a gradient method all of it, any other what it says."""
    if isinstance(found, Method) or (isinstance(found, type) and issubclass(found, Method)):
        return REPORTED
    metered = getattr(found, "metered", ())
    if isinstance(metered, str) or not isinstance(metered, Collection):
        raise OnwardError(
            f"expected metered as a tuple of names among {', '.join(REPORTED)}, found {metered!r}"
        )
    return tuple(metered)


def require_metered(chosen: Chosen, limits: Mapping[str, float], *, allow_unmetered: bool) -> None:
    """Raise if a method does not report what a limit is about, unless that is allowed."""
    unmet = [limit for limit in limits if limit in REPORTED and limit not in chosen.metered]
    if unmet and not allow_unmetered:
        raise OnwardError(
            f"expected a method that reports what its limits are about ({', '.join(unmet)}), found "
            f"{chosen.name}, whose training loop is not metered. Write it as a gradient method; "
            "or report with budget.spend and budget.declare, and name what is reported in an "
            f"attribute of the class, metered = {tuple(unmet)!r}; or run it outside of any ranking "
            "with --allow-unmetered (allow_unmetered=True)"
        )


def require_shared_out(learner: Learner, name: str) -> None:
    """Raise if several processes have been started for a learner that cannot use them."""
    from onward.train.learner import GradientLearner  # torch, which is there where processes are

    if not isinstance(learner, GradientLearner):
        raise OnwardError(
            f"expected a gradient method to share out among processes, found {name}, which each of "
            "them would train as a whole. Run it in one process"
        )


def _of_object(
    found: Any, options: dict[str, Any], name: str, digest: str, benchmark: Benchmark | None
) -> Chosen:
    _require_fit(name, getattr(found, "needs", {}), benchmark)
    if not isinstance(found, type) and options:
        raise OnwardError(
            f"options ({', '.join(options)}) go to a method that is still to be made; {name} is "
            "made already. Give its class, or leave the options out"
        )
    if isinstance(found, type):
        _require_known(found, options)
    return Chosen(
        name,
        options,
        digest,
        lambda setting: _build(found, options, setting),
        _parameters(found) if isinstance(found, type) else (),
        _metered(found),
    )


def _require_known(kind: type, options: Mapping[str, Any]) -> None:
    """Raise if a method does not take one of these options."""
    try:
        inspect.signature(kind).bind_partial(**options)
    except TypeError as error:
        raise _options_error(kind, error) from error


def _options_error(kind: type, error: TypeError) -> OnwardError:
    taken = ", ".join(_parameters(kind)) or "none"
    return OnwardError(f"options of {kind.__name__} do not fit: {error}. It takes: {taken}")


def _parameters(kind: type) -> tuple[str, ...]:
    return tuple(name for name in inspect.signature(kind).parameters if name != "setting")


def _build(found: Any, options: Mapping[str, Any], setting: Setting) -> Learner:
    made = copy.deepcopy(found) if not isinstance(found, type) else _make(found, options, setting)
    if isinstance(made, Method):
        from onward.train.learner import GradientLearner  # torch is loaded when it is needed

        return GradientLearner(made, setting)
    if not isinstance(made, Learner):
        raise OnwardError(
            f"expected a learner with learn(view, budget) and predict(view), found "
            f"{type(made).__name__}, which has neither or only one of them"
        )
    return made


def _make(kind: type, options: Mapping[str, Any], setting: Setting) -> Any:
    signature = inspect.signature(kind)
    told = {"setting": setting} if "setting" in signature.parameters else {}
    try:
        signature.bind(**told, **options)
    except TypeError as error:
        raise _options_error(kind, error) from error
    return kind(**told, **options)


def name_of(found: Any) -> str:
    """Return the name of a method: what it is called by, or the name of its class."""
    if isinstance(found, str):
        return found
    if isinstance(found, Chosen):
        return found.name
    inner = getattr(found, "estimator", None) or getattr(found, "classifier", None)
    kind = found if isinstance(found, type) else type(inner if inner is not None else found)
    return kind.__name__
