"""A model: here, one of Onward's with another size."""

from onward.models import ModelCard

CARD = ModelCard(
    "narrow", "onward.models.classifier:mlp", reads="numbers", fixed={"hidden_dim": 12}
)
