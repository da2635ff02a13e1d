"""The random numbers of a training, kept as they are while something else draws some."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np


# The standard library's generator belongs to the user's code; it is saved and put back here, never drawn from.
_STANDARD = import_module("random")


class RandomState:
    """
    The state of every generator a trainer draws from, as of now.

    Examples:
    ```python
    >>> import numpy as np
    >>> state = RandomState()
    >>> first = np.random.rand()
    >>> state.restore()
    >>> np.random.rand() == first
    True

    ```
    """

    def __init__(self) -> None:
        import torch

        self._standard = _STANDARD.getstate()
        self._numpy: Any = np.random.get_state()
        self._torch = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else None

    def restore(self) -> None:
        """Puts every generator back to where it was."""
        import torch

        _STANDARD.setstate(self._standard)
        np.random.set_state(self._numpy)
        torch.set_rng_state(self._torch)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)


def reseed(seed: int) -> None:
    """Starts every generator from a seed."""
    from transformers import set_seed

    set_seed(seed)
