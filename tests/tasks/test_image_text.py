import numpy as np
import pytest
import torch
from torch.nn import functional

from onward.errors import DivergedError, OnwardError
from onward.metrics.retrieval import best_candidates, recall_at_k
from onward.tasks.image_text import KEPT, ImageText

TASK = ImageText()


def outputs(pairs: int, width: int = 8, seed: int = 0) -> torch.Tensor:
    drawn = torch.randn(pairs, 2, width, generator=torch.Generator().manual_seed(seed))
    whole = functional.normalize(drawn, dim=2)
    whole[:, 0] *= 10
    return whole


def gradient_at(outputs: torch.Tensor, loss: torch.Tensor) -> torch.Tensor:
    (gradient,) = torch.autograd.grad(loss, outputs)
    return gradient


def open_clips_loss(said: torch.Tensor) -> torch.Tensor:
    logits, right = said[:, 0] @ said[:, 1].t(), torch.arange(len(said))
    return (
        functional.cross_entropy(logits, right) + functional.cross_entropy(logits.t(), right)
    ) / 2


def test_the_loss_and_its_gradient_are_those_of_clip() -> None:
    said = outputs(7).double().requires_grad_()
    value, loss = open_clips_loss(said), TASK.loss(said, torch.zeros(7))
    assert loss.item() == pytest.approx(value.item())
    torch.testing.assert_close(gradient_at(said, loss), gradient_at(said, value))


def test_the_distance_to_a_teacher_is_a_cross_entropy_both_ways() -> None:
    said, teacher = outputs(6).double().requires_grad_(), outputs(6, seed=1).double()
    logits, theirs = (each[:, 0] @ each[:, 1].t() for each in (said, teacher))
    value = sum(
        -(one.softmax(1) * other.log_softmax(1)).sum(1).mean() / 2
        for one, other in ((theirs, logits), (theirs.t(), logits.t()))
    )
    found = TASK.distillation_loss(said, teacher)
    assert found.item() == pytest.approx(value.item())
    torch.testing.assert_close(gradient_at(said, found), gradient_at(said, value))
    itself = gradient_at(said, TASK.distillation_loss(said, said.detach()))
    torch.testing.assert_close(itself, torch.zeros_like(itself))


def bag(pairs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A test of image rows and text rows, shuffled, with the right answers."""
    said = outputs(pairs, seed=seed).numpy()
    rng = np.random.default_rng(seed)
    seen, read = rng.permutation(pairs), rng.permutation(pairs)
    images, texts = np.zeros_like(said), np.zeros_like(said)
    images[:, 0], texts[:, 1] = said[seen, 0], said[read, 1]
    answers = np.concatenate([np.argsort(read)[seen], np.argsort(seen)[read]])
    return np.concatenate([images, texts]), answers[:, None]


def test_scores_are_those_of_recall_at_k() -> None:
    said = outputs(40).numpy()
    expected = recall_at_k(said[:, 0], said[:, 1])
    shown, answers = bag(40)
    found = TASK.score(TASK.decode(shown, (), len(shown)), answers)
    for k in (1, 5, 10):
        assert found[f"image_to_text{k}"] == pytest.approx(expected["image_to_text"][k])
        assert found[f"text_to_image{k}"] == pytest.approx(expected["text_to_image"][k])
        both = (expected["image_to_text"][k] + expected["text_to_image"][k]) / 2
        assert found[f"recall{k}"] == pytest.approx(both)


def test_samples_are_compared_inside_their_own_test() -> None:
    (one, _), (other, _) = bag(12), bag(9, seed=3)
    both = TASK.decode(np.concatenate([one, other]), (), len(one), len(other))
    apart = [TASK.decode(each, (), len(each)) for each in (one, other)]
    assert both.tolist() == np.concatenate(apart).tolist()


def test_a_class_is_a_text_and_prompts_ask_nothing() -> None:
    shown = np.zeros((5, 2, 2), np.float32)
    shown[:3, 0] = [[1, 0], [0.1, 1], [1, 0.2]]
    shown[3:, 1] = [[1, 0], [0, 1]]
    answers = np.array([[0], [1], [1], [-1], [-1]])
    decisions = TASK.decode(shown, ("a", "b"), 5)
    assert decisions[:3, 1].tolist() == [0, 1, 0]
    found = TASK.score(decisions, answers)
    assert found["recall1"] == found["image_to_text1"] == pytest.approx(2 / 3)
    assert np.isnan(found["text_to_image1"])
    assert TASK.by_class(decisions, answers, 2).tolist() == [1.0, 0.5]
    # Candidates that ask, or that are not as many as classes, are none.
    assert np.isnan(TASK.by_class(decisions, answers, 3)).all()
    assert np.isnan(TASK.by_class(decisions, np.array([[0], [1], [1], [0], [1]]), 2)).all()


def test_one_of_several_right_answers_is_enough() -> None:
    decisions = np.array([[0, 4, 2, 1], [0, 3, 0, 1]])
    found = TASK.score(decisions, np.array([[2, 4], [9, -1]]))
    assert found["recall1"] == 0.5


def test_lengths_do_not_matter_when_it_is_judged() -> None:
    shown, _ = bag(15)
    longer = shown * np.random.default_rng(0).uniform(0.5, 9, (len(shown), 1, 1)).astype(np.float32)
    assert TASK.decode(shown, (), 30).tolist() == TASK.decode(longer, (), 30).tolist()


def test_a_model_that_says_the_same_of_everything_is_right_by_chance_alone() -> None:
    shown, answers = bag(50)
    shown[:50, 0], shown[50:, 1] = 1.0, 1.0
    assert TASK.score(TASK.decode(shown, (), 100), answers)["recall1"] == pytest.approx(1 / 50)


@pytest.mark.parametrize("count", [3, KEPT, 1500, 2600])
def test_the_best_candidates_are_those_of_a_whole_sort(count: int) -> None:
    rng = np.random.default_rng(count)
    # Few distinct numbers, so that many scores are equal.
    queries, candidates = rng.integers(-2, 3, (40, 4)), rng.integers(-2, 3, (count, 4))
    order = np.argsort(-(queries @ candidates.T), axis=1, kind="stable")[:, :KEPT]
    found = best_candidates(queries, candidates, KEPT)
    assert found[:, : order.shape[1]].tolist() == order.tolist()
    assert (found[:, order.shape[1] :] == -1).all()


def test_what_is_no_directions_is_refused() -> None:
    shown, _ = bag(4)
    with pytest.raises(OnwardError, match=r"shape \(8, 2, width\)"):
        TASK.decode(shown[:, 0], (), 8)
    with pytest.raises(DivergedError, match="NaN or infinity"):
        TASK.decode(shown * np.float32(np.nan), (), 8)
    shown[0, 1] = 1
    with pytest.raises(OnwardError, match="both directions for 1 samples"):
        TASK.decode(shown, (), 8)
    with pytest.raises(OnwardError, match="found images and texts"):
        TASK.soft_target_loss(shown, shown)


def test_a_temperature_cools_similarities_once() -> None:
    said, teacher = outputs(5), outputs(5, seed=1)
    cooled = TASK.distillation_loss(said, teacher, 2.0)
    by_hand = TASK.distillation_loss(said / 2**0.5, teacher / 2**0.5)
    assert cooled.item() == pytest.approx(by_hand.item(), rel=1e-6)
    moved = said.clone().requires_grad_()
    logits, theirs = (x[:, 0] @ x[:, 1].t() / 2 for x in (moved, teacher))
    loss = -sum((theirs.softmax(d) * logits.log_softmax(d)).sum() for d in (0, 1)) / 10
    found = gradient_at(moved, TASK.distillation_loss(moved, teacher, 2.0))
    assert torch.allclose(found, gradient_at(moved, loss), atol=1e-6)
