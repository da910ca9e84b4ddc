import pytest
import torch

from onward.train.packed import Packed


@pytest.mark.parametrize("known_order", [True, False])
@pytest.mark.parametrize("often", [True, False])
@pytest.mark.parametrize(("few", "rows", "width"), [(1, 7, 5), (11, 330, 64), (3, 64, 330)])
def test_it_multiplies_whatever_order_torch_knows(
    few: int,
    rows: int,
    width: int,
    often: bool,
    known_order: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not known_order:
        monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(rows, width, generator=generator)
    left, right = (torch.randn(n, few, generator=generator).t() for n in (width, rows))
    for found, expected in (
        (Packed(matrix, often=often)(left), left @ matrix.t()),
        (Packed(matrix.t(), often=often)(right), right @ matrix),
    ):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
