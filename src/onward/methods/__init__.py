"""The methods: a hand-written catalogue, one file each.

To add one, write its file and its line here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from onward.methods.agem import AGEM
from onward.methods.biased import BiasedReservoirFinetune
from onward.methods.bic import BiC
from onward.methods.c1 import C1
from onward.methods.c2 import C2
from onward.methods.c3 import C3
from onward.methods.cumulative import Cumulative, CumulativeMore
from onward.methods.cumulative_shares import CumulativeEqual, CumulativeExp
from onward.methods.cwr import CWRStar
from onward.methods.d1 import D1
from onward.methods.d2 import D2
from onward.methods.d3 import D3
from onward.methods.er import ER
from onward.methods.er_infinite import ERInfinite
from onward.methods.ewc import EWC
from onward.methods.finetune import Finetune
from onward.methods.gdumb import GDumb
from onward.methods.icarl_cnn import ICaRLCNN
from onward.methods.icarl_norm import ICaRLNorm
from onward.methods.lucir import LUCIR
from onward.methods.lwf import LwF
from onward.methods.nap import Nap
from onward.methods.oversample import Oversample
from onward.methods.patching import Patching
from onward.methods.pretrain_probe import PretrainProbe
from onward.methods.reservoir import ReservoirFinetune
from onward.methods.restart import Oracle, Restart
from onward.methods.scratch import Scratch
from onward.methods.si import SI
from onward.train.method import GradientMethod
from onward.types import Learner

_ANY = ("one_label", "many_labels", "boxes", "image_text")
_WITHOUT_BOXES = ("one_label", "many_labels", "image_text")


@dataclass(frozen=True)
class MethodCard:
    """A method of the catalogue: what it is called, what it does, who proposed it.

    ``make`` is a gradient method, or a learner that takes a ``setting``. ``inputs`` says whether
    it can learn from images alone.
    """

    name: str
    make: type[GradientMethod] | type[Learner]
    source: str
    tasks: tuple[str, ...] = ("one_label", "many_labels")
    inputs: Literal["any", "images"] = "any"

    @property
    def summary(self) -> str:
        """The first sentence of the method's own documentation."""
        return (self.make.__doc__ or "").strip().split("\n")[0]


METHODS: Mapping[str, MethodCard] = {
    card.name: card
    for card in (
        MethodCard("finetune", Finetune, "CLEAR, TiC-CLIP (Sequential)", tasks=_ANY),
        MethodCard("nap", Nap, "CLEAR", tasks=_ANY),
        MethodCard("scratch", Scratch, "CLEAR", tasks=_ANY),
        MethodCard("cumulative", Cumulative, "CLEAR, TiC-CLIP (Cumulative-All)", tasks=_ANY),
        MethodCard("cumulative_more", CumulativeMore, "TiC-CLIP (Cumulative-All*)", tasks=_ANY),
        MethodCard("cumulative_exp", CumulativeExp, "TiC-CLIP", tasks=_ANY),
        MethodCard("cumulative_equal", CumulativeEqual, "TiC-CLIP", tasks=_ANY),
        MethodCard("restart", Restart, "TiC-CLIP", tasks=_ANY),
        MethodCard("oracle", Oracle, "TiC-CLIP", tasks=_ANY),
        MethodCard("patching", Patching, "Ilharco et al. 2022, TiC-CLIP", tasks=_ANY),
        MethodCard("er", ER, "Rolnick et al. 2019", tasks=_ANY),
        MethodCard("er_infinite", ERInfinite, "IIRC"),
        MethodCard("reservoir", ReservoirFinetune, "CLEAR", tasks=_ANY),
        MethodCard("biased_reservoir", BiasedReservoirFinetune, "CLEAR", tasks=_ANY),
        MethodCard("gdumb", GDumb, "Prabhu et al. 2020"),
        MethodCard(
            "ewc", EWC, "Kirkpatrick et al. 2017, Schwarz et al. 2018", tasks=_WITHOUT_BOXES
        ),
        MethodCard("si", SI, "Zenke et al. 2017", tasks=_ANY),
        MethodCard("lwf", LwF, "Li and Hoiem 2016", tasks=_ANY),
        MethodCard("agem", AGEM, "Chaudhry et al. 2019", tasks=_ANY),
        MethodCard("cwr", CWRStar, "Lomonaco et al. 2020"),
        MethodCard("icarl_cnn", ICaRLCNN, "Rebuffi et al. 2017, IIRC"),
        MethodCard("icarl_norm", ICaRLNorm, "Rebuffi et al. 2017, IIRC"),
        MethodCard("lucir", LUCIR, "Hou et al. 2019, IIRC"),
        MethodCard("bic", BiC, "Wu et al. 2019, adapted"),
        MethodCard("oversample", Oversample, "CLAD"),
        MethodCard("c1", C1, "CLAD, C1", tasks=("one_label",), inputs="images"),
        MethodCard("c2", C2, "CLAD, C2", tasks=("one_label",), inputs="images"),
        MethodCard("c3", C3, "CLAD, C3", tasks=("one_label",), inputs="images"),
        MethodCard("d1", D1, "CLAD, Peng et al. 2020", tasks=("boxes",), inputs="images"),
        MethodCard("d2", D2, "CLAD, Shmelkov et al. 2017", tasks=("boxes",), inputs="images"),
        MethodCard("d3", D3, "CLAD", tasks=("boxes",), inputs="images"),
        MethodCard(
            "pretrain_probe",
            PretrainProbe,
            "CLEAR, Figure 5",
            tasks=("one_label",),
            inputs="images",
        ),
    )
}
