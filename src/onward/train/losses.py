"""Losses beside those of the task kinds: for hard samples, and for features that lie by class."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def smoothed(wanted: "Tensor", share: float) -> "Tensor":
    """Return probabilities of which this share is spread evenly over all classes.

    Examples
    --------
    >>> import torch
    >>> smoothed(torch.tensor([[1.0, 0.0]]), 0.1).tolist()
    [[0.949999988079071, 0.05000000074505806]]

    References
    ----------
    Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, Rethinking the Inception Architecture for Computer
    Vision, CVPR 2016; Müller, Kornblith and Hinton, When Does Label Smoothing Help?, NeurIPS 2019.
    """
    return wanted * (1 - share) + share / wanted.shape[1]


def focal(outputs: "Tensor", targets: "Tensor", gamma: float) -> "Tensor":
    """Return the mean of -(1 - p)^γ log p, with the probability p that each target is given.

    With γ = 0 it is the cross-entropy.

    Parameters
    ----------
    outputs
        Logits.
    targets
        Class indices.
    gamma
        How much less samples count that are known well.

    References
    ----------
    Lin, Goyal, Girshick, He and Dollár, Focal Loss for Dense Object Detection, ICCV 2017.
    """
    log_p = outputs.log_softmax(1).gather(1, targets.unsqueeze(1))
    # Not 0: the derivative of 0^γ is infinite for γ < 1.
    weight = (1 - log_p.exp()).clamp(min=1e-8) ** gamma if gamma else 1.0
    return -(weight * log_p).mean()


def contrastive(
    features: "Tensor", keys: "Tensor", alike: "Tensor", temperature: float
) -> "Tensor":
    """Return how far features are from the keys that they should be like, against all others.

    For each feature with any such key, the mean over these of -log of a softmax over all keys of
    their cosine / temperature; of all of them the mean.

    Parameters
    ----------
    features
        One row per sample.
    keys
        What they are compared with. Where they are the features themselves, a sample is not
        compared with itself.
    alike
        Which keys each feature should be like: a row of booleans.
    temperature
        How much the closest of the others count.

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
        scores, alike = scores.masked_fill(itself, -torch.inf), alike & ~itself
    here = alike.any(1)
    log_share = scores.log_softmax(1).masked_fill(~alike, 0)
    return -(log_share.sum(1)[here] / alike.sum(1)[here]).sum() / max(int(here.sum()), 1)
