"""What CLAD concludes about learning objects on one drive."""

from onward.reproduce.claims import Cell, Claim, Pair, above

_WINNERS, _BASELINES = ("c1", "c2", "c3"), ("finetune", "oversample")

CLAIMS = (
    Claim(
        name="oversampling helps",
        text="Filling batches up with stored samples of rare classes scores above finetuning.",
        where="section 3.3, Table 1",
        pairs=above("amca", ("oversample", "finetune")),
    ),
    Claim(
        name="nights undo days",
        text="What finetuning knows follows the light: it scores lower after each night than after "
        "the day before.",
        where="section 3.3, Figure 3",
        pairs=tuple(
            Pair(Cell("finetune", f"after_{day}"), Cell("finetune", f"after_{day + 1}"))
            for day in (0, 2, 4)
        ),
    ),
    Claim(
        name="the winners are above the baselines",
        text="Each of the three best submissions scores above finetuning and above oversampling.",
        where="section 4.1, Table 1",
        pairs=above("amca", *((mine, other) for mine in _WINNERS for other in _BASELINES)),
    ),
    Claim(
        name="the order of the winners",
        text="C1 scores above C2, and C2 above C3.",
        where="section 4.1, Table 1",
        pairs=above("amca", ("c1", "c2"), ("c2", "c3")),
        note="The paper warns that the three differ in too much to say why.",
    ),
    Claim(
        name="up-scaling helps C1",
        text="C1 is better with images scaled up, though that adds no information.",
        where="sections 4.1 and 5",
        pairs=above("amca", ("c1/up_scaled", "c1/as_it_is")),
        note="The paper's reason is that filters learned on ImageNet expect larger objects. A "
        "network that starts at random expects nothing.",
    ),
    Claim(
        name="merged heads help C1",
        text="C1 is better with heads that are merged than with one that goes on.",
        where="section 4.1",
        pairs=above("amca", ("c1", "c1/one_head")),
        note="The paper reports what C1's team says, and that C2's found the contrary.",
    ),
    Claim(
        name="softened labels help",
        text="C2 is better with labels that are spread a little over all classes.",
        where="section 5",
        pairs=above("amca", ("c2", "c2/plain")),
    ),
)
