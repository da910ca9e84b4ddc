"""What IIRC concludes from its curves and confusions."""

from onward.reproduce.claims import Cell, Claim, Pair, above

_FIGURES = "section 6.1"

CLAIMS = (
    Claim(
        name="replay helps",
        text="Replaying twenty samples a class (ER) scores above finetuning, over all periods.",
        where=f"{_FIGURES}, Figure 4",
        pairs=above("mean", ("er", "finetune")),
    ),
    Claim(
        name="more memory helps",
        text="Keeping every sample with the label it came with (ER-infinite) scores above twenty a "
        "class (ER).",
        where=f"{_FIGURES}, Figure 4",
        pairs=above("mean", ("er_infinite", "er")),
    ),
    Claim(
        name="memory alone is not enough",
        text="Keeping every sample and giving it the labels that come later (incremental joint) "
        "scores above keeping it with its first label (ER-infinite).",
        where=f"{_FIGURES}, Figure 4",
        pairs=above("mean", ("incremental_joint", "er_infinite")),
    ),
    Claim(
        name="iCaRL leads",
        text="iCaRL-CNN and iCaRL-norm score above ER, LUCIR and A-GEM.",
        where=f"{_FIGURES}, Figures 3 and 4",
        pairs=above(
            "mean",
            *(
                (mine, other)
                for mine in ("icarl_cnn", "icarl_norm")
                for other in ("er", "lucir", "agem")
            ),
        ),
    ),
    Claim(
        name="A-GEM is last",
        text="A-GEM scores below plain replay (ER).",
        where=f"{_FIGURES}, Figure 4",
        pairs=above("mean", ("er", "agem")),
    ),
    Claim(
        name="iCaRL says too much",
        text="iCaRL predicts labels that do not apply: it loses more than ER by the weight that "
        "pw-Jaccard gives to precision.",
        where=f"{_FIGURES}, Figures 6c and A.15",
        pairs=above("over_labelled", ("icarl_cnn", "er"), ("icarl_norm", "er")),
        note="Jaccard less precision-weighted Jaccard, after the last period.",
    ),
    Claim(
        name="LUCIR does not learn the new",
        text="On the period that has just been learned, LUCIR scores below finetuning and ER.",
        where=f"{_FIGURES}, Figures 5 and A.22",
        pairs=above("own", ("finetune", "lucir"), ("er", "lucir")),
    ),
    Claim(
        name="what is held back learns less",
        text="The less a method is regularised, the better it is on the period that has just been "
        "learned: finetuning above iCaRL, iCaRL above LUCIR.",
        where=f"{_FIGURES}, Figure 5",
        pairs=above(
            "own",
            ("finetune", "icarl_cnn"),
            ("finetune", "icarl_norm"),
            ("icarl_cnn", "lucir"),
            ("icarl_norm", "lucir"),
        ),
    ),
    Claim(
        name="LUCIR keeps superclasses",
        text="LUCIR gives later samples their superclass more accurately than ER does.",
        where=f"{_FIGURES}, Figure 6d, and appendix D.2",
        pairs=above("superclasses", ("lucir", "er")),
    ),
    Claim(
        name="related subclasses are confused",
        text="Models are less precise on subclasses that share a superclass than on those that "
        "have none.",
        where="appendix D.3, Figures A.12 and A.13",
        pairs=tuple(
            Pair(Cell(name, "precision_others"), Cell(name, "precision_under"))
            for name in ("finetune", "er", "icarl_cnn", "icarl_norm", "lucir")
        ),
        note="Two sets of classes are compared, which differ in more than having a superclass; of "
        "emoji, one subclass has none.",
    ),
)
