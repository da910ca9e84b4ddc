"""What checks say: each one passed, failed or was skipped, and why."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar, overload

from onward.errors import OnwardError, unknown

Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Finding:
    """What one check said.

    ``check`` is its name and ``sentence`` the property it stands for. ``detail`` says what was
    expected, found and to be done if it failed, why it was skipped, or what it saw.
    """

    check: str
    sentence: str
    status: Literal["passed", "failed", "skipped"]
    detail: str = ""


@dataclass(frozen=True)
class Report(Sequence[Finding]):
    """What all checks said about one subject; prints as a table.

    Examples
    --------
    >>> print(Report("metric", "m", (Finding("returns_a_float", "It returns a float.", "passed"),)))
    metric m: 1 passed, 0 failed, 0 skipped
      passed   returns_a_float  It returns a float.
    """

    kind: str
    subject: str
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, index: int | slice) -> "Finding | tuple[Finding, ...]":
        return self.findings[index]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return self._with("failed")

    @property
    def passed(self) -> tuple[Finding, ...]:
        """The checks that passed."""
        return self._with("passed")

    @property
    def skipped(self) -> tuple[Finding, ...]:
        """The checks that do not apply here, or could not be made."""
        return self._with("skipped")

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "kind": self.kind,
            "subject": self.subject,
            "ok": self.ok,
            "findings": [asdict(finding) for finding in self.findings],
        }

    def __str__(self) -> str:
        counts = ", ".join(f"{len(self._with(s))} {s}" for s in ("passed", "failed", "skipped"))
        width = max((len(finding.check) for finding in self.findings), default=0)
        lines = [f"{self.kind} {self.subject}: {counts}"]
        for finding in self.findings:
            lines.append(f"  {finding.status:8} {finding.check:{width}}  {finding.sentence}")
            if finding.detail:
                lines.append(f"  {'':8} {'':{width}}  {finding.detail}")
        return "\n".join(lines)

    def _with(self, status: str) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.status == status)


class CheckFailed(OnwardError, AssertionError):
    """A property does not hold. ``report`` has every finding, also of the checks that passed."""

    report: Report | None = None


class Skipped(Exception):
    """A check does not apply to this subject, or cannot be made; the text says why."""


def expected(what: str, found: str, advice: str) -> CheckFailed:
    """Say what should have been, what is, and what to do."""
    return CheckFailed(f"expected {what}; found {found}. {advice}")


def run_checks(
    kind: str,
    name: str,
    subject: Subject,
    checks: Sequence[Callable[[Subject], str | None]],
    *,
    only: Collection[str] | None,
    raise_on_failure: bool,
) -> Report:
    """Make checks of a subject one after the other, whether earlier ones failed or not.

    A check raises `CheckFailed`, or any other error of Onward's, or `Skipped`, or returns what it
    saw. Its name and the first line of its documentation are the function's. `only` names those to
    make; None stands for all.
    """
    names = [check.__name__ for check in checks]
    for wanted in only or ():
        if wanted not in names:
            raise unknown(f"check of a {kind}", wanted, names, "the documentation of onward.checks")
    findings = []
    for check in checks:
        if only is not None and check.__name__ not in only:
            continue
        status: Literal["passed", "failed", "skipped"]
        try:
            status, detail = "passed", check(subject) or ""
        except OnwardError as failure:
            status, detail = "failed", str(failure)
        except Skipped as reason:
            status, detail = "skipped", str(reason)
        sentence = (check.__doc__ or "").strip().split("\n")[0]
        findings.append(Finding(check.__name__, sentence, status, detail))
    report = Report(kind, name, tuple(findings))
    if raise_on_failure and not report.ok:
        lines = [f"{finding.check}: {finding.detail}" for finding in report.failed]
        verdict = CheckFailed(
            f"{kind} {name} fails {len(lines)} of {len(report)} checks\n" + "\n".join(lines)
        )
        verdict.report = report
        raise verdict
    return report
