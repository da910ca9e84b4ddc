import subprocess
import sys

import pytest
import torch

from onward.errors import OnwardError
from onward.models.torchvision_loader import torchvision


def corners(*boxes: tuple[float, ...]) -> torch.Tensor:
    return torch.tensor(boxes, dtype=torch.float32)


def test_architectures_and_nms_are_there() -> None:
    vision = torchvision()
    assert vision is torchvision()
    assert vision.models.resnet18(num_classes=3).fc.out_features == 3
    # Intersection over union of the first two: 1 x 2 / (4 + 2 - 2) = 0.5.
    boxes = corners((0, 0, 2, 2), (0, 0, 2, 1), (4, 4, 5, 5))
    scores = torch.tensor([0.2, 0.9, 0.5])
    assert vision.ops.nms(boxes, scores, 0.49).tolist() == [1, 2]
    assert vision.ops.nms(boxes, scores, 0.51).tolist() == [1, 2, 0]
    classes = torch.tensor([0, 1, 0])
    assert vision.ops.batched_nms(boxes, scores, classes, 0.49).tolist() == [1, 2, 0]


def test_without_torchvision_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(OnwardError, match=r"onward\[vision\]"):
        torchvision()


def test_importing_onward_does_not_import_torchvision() -> None:
    code = "import sys, onward.models; print('torchvision' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
