"""Losses beside those of the task kinds: label smoothing, focal and contrastive loss."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def smooth_labels(probabilities: "Tensor", share: float) -> "Tensor":
    """Return probabilities of which this share is spread evenly over all classes.

    Examples
    --------
    >>> import torch
    >>> smooth_labels(torch.tensor([[1.0, 0.0]]), 0.1).tolist()
    [[0.949999988079071, 0.05000000074505806]]

    References
    ----------
    Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, Rethinking the Inception Architecture for Computer
    Vision, CVPR 2016; Müller, Kornblith and Hinton, When Does Label Smoothing Help?, NeurIPS 2019.
    """
    return probabilities * (1 - share) + share / probabilities.shape[1]


def focal_loss(outputs: "Tensor", targets: "Tensor", gamma: float) -> "Tensor":
    """Return the mean of -(1 - p)^γ log p, with the probability p that each target is given.

    Outputs are logits, targets class indices. The larger γ is, the less samples count that are
    classified well; with γ = 0 it is the cross-entropy.

    References
    ----------
    Lin, Goyal, Girshick, He and Dollár, Focal Loss for Dense Object Detection, ICCV 2017.
    """
    log_p = outputs.log_softmax(1).gather(1, targets.unsqueeze(1))
    # Not 0: the derivative of 0^γ is infinite for γ < 1.
    weight = (1 - log_p.exp()).clamp(min=1e-8) ** gamma if gamma else 1.0
    return -(weight * log_p).mean()


def contrastive_loss(
    features: "Tensor", keys: "Tensor", positives: "Tensor", temperature: float
) -> "Tensor":
    """Return the contrastive loss of features towards their positive keys, against all others.

    For each feature with positive keys, the mean over these of -log of a softmax over all keys of
    their cosine / temperature; of all these features the mean.

    Features have a row per sample, and positives a row of booleans, one for each key. Where the
    keys are the features themselves, a sample is not compared with itself.

    References
    ----------
    Khosla et al., Supervised Contrastive Learning, NeurIPS 2020; Chen, Kornblith, Norouzi and
    Hinton, A Simple Framework for Contrastive Learning of Visual Representations, ICML 2020.
    """
    import torch  # loaded when it is needed
    from torch.nn.functional import normalize

    units = normalize(features, dim=1)
    scores = units @ (units if keys is features else normalize(keys, dim=1)).t() / temperature
    if keys is features:
        itself = torch.eye(len(units), dtype=torch.bool, device=units.device)
        scores, positives = scores.masked_fill(itself, -torch.inf), positives & ~itself
    here = positives.any(1)
    log_p = scores.log_softmax(1).masked_fill(~positives, 0)
    return -(log_p.sum(1)[here] / positives.sum(1)[here]).sum() / max(int(here.sum()), 1)
