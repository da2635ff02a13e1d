"""What prompts are compared by: the hashed words, static word vectors, or a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.scenarios.diversity.hashing import HashEmbedder


Vectors = np.ndarray[Any, Any]
EmbedderSource = str | Callable[[list[str]], Any]

_KNOWN = '"hash", "wordllama", "model2vec:<repo or folder>", or a function from a list of texts to an array'
_MODEL2VEC = "model2vec:"


class Embedder:
    """
    Texts to vectors of length 1, whatever does the work.

    Args:
        name (`str`):
            What is written into the report.
        function (`Callable`):
            A list of texts to an array with a row for each.
    """

    def __init__(self, name: str, function: Callable[[list[str]], Any]) -> None:
        self.name = name
        self._function = function
        self._width: int | None = None

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """
        One row a text, `float32`, of length 1 (or 0).

        Raises:
            [`~whileai_hf.errors.DataError`]: If what the function returns has another shape, or holds NaN.
        """
        vectors = np.asarray(self._function(list(texts)), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or vectors.shape[1] != (self._width or vectors.shape[1]):
            raise DataError(
                f"the embedder {self.name!r} returned an array of shape {vectors.shape} for {len(texts)} texts; "
                f"expected ({len(texts)}, {self._width or 'd'}), one vector a text"
            )
        if not np.isfinite(vectors).all():
            raise DataError(f"the embedder {self.name!r} returned NaN or infinity; expected finite numbers")
        self._width = vectors.shape[1]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _extra(package: str, source: str) -> ConfigurationError:
    return ConfigurationError(
        f'embedder={source!r} needs the package {package}; pip install "whileai-hf[embeddings]", '
        f'or use embedder="hash"'
    )


def _wordllama(source: str) -> Callable[[list[str]], Any]:
    try:
        library = import_module("wordllama")
    except ImportError as error:
        raise _extra("wordllama", source) from error
    model = library.WordLlama.load()
    return lambda texts: model.embed(texts)


def _model2vec(source: str) -> Callable[[list[str]], Any]:
    try:
        library = import_module("model2vec")
    except ImportError as error:
        raise _extra("model2vec", source) from error
    model = library.StaticModel.from_pretrained(source.removeprefix(_MODEL2VEC))
    return lambda texts: model.encode(texts)


def as_embedder(source: EmbedderSource | None) -> Embedder:
    """
    The embedder that `source` names.

    Args:
        source (`str` or `Callable`, *optional*):
            `"hash"` (what `None` means too), `"wordllama"`, `"model2vec:<repo or folder>"`, or a function from a list
            of texts to an array with a row for each.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If it names none, or needs a package that is not installed.

    Examples:
    ```python
    >>> as_embedder(None).name, as_embedder(lambda texts: [[len(text), 1] for text in texts])(["abc"]).shape
    ('hash', (1, 2))

    ```
    """
    if isinstance(source, Embedder):
        return source
    if source is None or source == "hash":
        return Embedder("hash", HashEmbedder())
    if source == "wordllama":
        return Embedder("wordllama", _wordllama("wordllama"))
    if isinstance(source, str) and source.startswith(_MODEL2VEC) and source != _MODEL2VEC:
        return Embedder(source, _model2vec(source))
    if callable(source):
        return Embedder(source.__name__ if isinstance(source, FunctionType) else type(source).__name__, source)
    raise ConfigurationError(f"embedder={source!r:.60} is not known; pass {_KNOWN}")
