"""A large matrix that many thin ones are multiplied with."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


class Packed:
    """A matrix in the order in which a processor multiplies it, where torch can keep that.

    A product with a few rows takes as long to bring the large matrix into that order as to compute.
    Where there are many of them, keeping another copy of it pays.
    """

    def __init__(self, matrix: "Tensor", *, often: bool) -> None:
        import torch  # loaded when it is needed

        self._matrix = matrix
        self._ordered: Tensor | None = None
        if often and _keeps_order():
            self._ordered = torch.ops.mkldnn._reorder_linear_weight(matrix.contiguous())

    def __call__(self, few: "Tensor") -> "Tensor":
        """Return the products of these rows with those of the matrix: few · matrixᵀ."""
        import torch  # loaded when it is needed

        if self._ordered is None:
            return few @ self._matrix.t()
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            few.contiguous(), self._ordered, None, "none", [], ""
        )
        return product


def _keeps_order() -> bool:
    """Whether this torch can: both operators are its own business, and may go or be without."""
    import torch  # loaded when it is needed

    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    names = ("_reorder_linear_weight", "_linear_pointwise")
    return bool(there) and all(hasattr(torch.ops.mkldnn, name) for name in names)
