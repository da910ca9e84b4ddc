"""The catalogue of methods, written by hand.

To add one, write its file and its line here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from onward.catalogue import Catalogue
from onward.fit import Misfit, misfit
from onward.methods.agem import AGEM
from onward.methods.bic import BiC
from onward.methods.c1 import C1
from onward.methods.c2 import C2
from onward.methods.c3 import C3
from onward.methods.clad_d import D1, D2, D3
from onward.methods.cumulative import (
    Cumulative,
    CumulativeEqual,
    CumulativeExp,
    CumulativeMore,
    ERInfinite,
    Oracle,
    Restart,
)
from onward.methods.cwr import CWRStar
from onward.methods.er import ER
from onward.methods.ewc import EWC
from onward.methods.finetune import Finetune, Nap, Scratch
from onward.methods.gdumb import GDumb, GDumbReservoir
from onward.methods.icarl import ICaRLCNN, ICaRLNorm
from onward.methods.lucir import LUCIR
from onward.methods.lwf import LwF
from onward.methods.oversample import Oversample
from onward.methods.patching import Patching
from onward.methods.pretrain_probe import PretrainProbe
from onward.methods.reservoir import BiasedReservoirFinetune, ReservoirFinetune
from onward.methods.si import SI
from onward.train.method import Method
from onward.types import Learner


@dataclass(frozen=True)
class MethodCard:
    """A method of the catalogue: what it is called, what it does, who proposed it.

    ``make`` is a gradient method, or a learner that takes a ``setting``. What it needs of a
    benchmark stands in its own file, as ``needs``: see `onward.fit`.

    ``revision`` is given to a method of Onward whose implementation has changed what it computes:
    it names the change, given a recipe for which results differ, and is None for any other. It
    becomes the ``method_digest`` of its runs, so that no run from before the change counts as one
    of them. What those runs are called today stands in `onward.results.translations`. Methods
    of other packages need none: their digest is that of their code.
    """

    name: str
    make: type[Method] | type[Learner]
    source: str
    revision: Callable[[Any], str | None] = lambda recipe: None

    @property
    def needs(self) -> Mapping[str, str]:
        """What it needs of a benchmark, and what for."""
        return getattr(self.make, "needs", {})

    def misfit(self, *lacking: Mapping[str, str]) -> Misfit | None:
        """Return why it makes no sense where this is lacking, or None if it does."""
        return misfit(self.name, self.needs, *lacking)

    @property
    def summary(self) -> str:
        """The first sentence of the method's own documentation."""
        return (self.make.__doc__ or "").strip().split("\n")[0]


METHODS = Catalogue(
    "method",
    {
        card.name: card
        for card in (
            MethodCard("finetune", Finetune, "CLEAR, TiC-CLIP (Sequential)"),
            MethodCard("nap", Nap, "CLEAR"),
            MethodCard("scratch", Scratch, "CLEAR"),
            MethodCard("cumulative", Cumulative, "CLEAR, TiC-CLIP (Cumulative-All)"),
            MethodCard("cumulative_more", CumulativeMore, "TiC-CLIP (Cumulative-All*)"),
            MethodCard("cumulative_exp", CumulativeExp, "TiC-CLIP"),
            MethodCard("cumulative_equal", CumulativeEqual, "TiC-CLIP"),
            MethodCard("restart", Restart, "TiC-CLIP"),
            MethodCard("oracle", Oracle, "TiC-CLIP"),
            MethodCard("patching", Patching, "Ilharco et al. 2022, TiC-CLIP"),
            MethodCard("er", ER, "Rolnick et al. 2019"),
            MethodCard("er_infinite", ERInfinite, "IIRC"),
            MethodCard("reservoir", ReservoirFinetune, "Vitter 1985, CLEAR"),
            MethodCard("biased_reservoir", BiasedReservoirFinetune, "CLEAR"),
            MethodCard("gdumb", GDumb, "Prabhu et al. 2020", revision=lambda recipe: "greedy"),
            MethodCard("gdumb_reservoir", GDumbReservoir, "Prabhu et al. 2020, adapted"),
            MethodCard("ewc", EWC, "Kirkpatrick et al. 2017, Schwarz et al. 2018"),
            MethodCard("si", SI, "Zenke et al. 2017"),
            MethodCard("lwf", LwF, "Li and Hoiem 2016"),
            MethodCard("agem", AGEM, "Chaudhry et al. 2019"),
            MethodCard("cwr", CWRStar, "Lomonaco et al. 2020"),
            MethodCard("icarl_cnn", ICaRLCNN, "Rebuffi et al. 2017, IIRC"),
            MethodCard("icarl_norm", ICaRLNorm, "Rebuffi et al. 2017, Hou et al. 2019, IIRC"),
            MethodCard("lucir", LUCIR, "Hou et al. 2019, IIRC"),
            MethodCard("bic", BiC, "Wu et al. 2019, adapted"),
            MethodCard("oversample", Oversample, "CLAD"),
            MethodCard("c1", C1, "CLAD, C1, Maltoni and Lomonaco 2019"),
            MethodCard("c2", C2, "CLAD, C2"),
            MethodCard("c3", C3, "CLAD, C3, Bang et al. 2021"),
            MethodCard("d1", D1, "CLAD, Peng et al. 2020"),
            MethodCard("d2", D2, "CLAD, Shmelkov et al. 2017"),
            MethodCard("d3", D3, "CLAD"),
            MethodCard("pretrain_probe", PretrainProbe, "CLEAR, Figure 5, Chen et al. 2020"),
        )
    },
    "onward.methods",
    MethodCard,
)
"""By name; a package adds one as a `MethodCard` by an entry point."""
