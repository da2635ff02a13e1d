"""Matrix products in pieces small enough that no linear algebra library deals them out to threads.

The products of a scan are short sums over many rows. On a machine that does other work as well, waiting for threads
costs several times what the sums do.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray


Real = TypeVar("Real", np.float32, np.float64)
# Multiplications in one piece: OpenBLAS uses one thread up to here.
_PIECE = 262_144
# Rows of each side in one piece.
_LEFT, _RIGHT = 32, 64


def row_products(left: NDArray[Real], right: NDArray[Real]) -> NDArray[Real]:
    """
    Sums of products of every row of one matrix with every row of another: `left @ right.T`.

    Args:
        left (`np.ndarray` of shape `(m, n)`):
            The one.
        right (`np.ndarray` of shape `(k, n)`):
            The other, of the same type.

    Returns:
        `np.ndarray` of shape `(m, k)`.

    Examples:
    ```python
    >>> import numpy as np
    >>> row_products(np.array([[1.0, 2.0, 0.0]]), np.array([[3.0, 4.0, 5.0], [0.0, 1.0, 0.0]]))
    array([[11.,  2.]])

    ```
    """
    out = np.empty((len(left), len(right)), left.dtype)
    if not out.size:
        return out
    for row in range(0, len(left), _LEFT):
        for column in range(0, len(right), _RIGHT):
            some, others = left[row : row + _LEFT], right[column : column + _RIGHT]
            out[row : row + _LEFT, column : column + _RIGHT] = _product(some, others)
    return out


def _product(left: NDArray[Real], right: NDArray[Real]) -> NDArray[Real]:
    width = 2 ** int(np.log2(_PIECE / (len(left) * len(right))))
    whole = left.shape[1] - left.shape[1] % width
    rest: NDArray[Real] = left[:, whole:] @ right[:, whole:].T
    if not whole:
        return rest
    pieces = left[:, :whole].reshape(len(left), -1, width).transpose(1, 0, 2)
    others = right[:, :whole].reshape(len(right), -1, width).transpose(1, 2, 0)
    rest += np.matmul(pieces, others).sum(axis=0)
    return rest
