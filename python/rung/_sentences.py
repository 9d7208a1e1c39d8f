# Sentence embeddings: texts of any length through plans of a few lengths.
# SPDX-License-Identifier: Apache-2.0
"""rung.sentence_encoder()."""
from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from . import _core
from ._climb import climb
from ._errors import UsageError
from ._load import DType, Path, join, load
from ._types import Encoded

OUTPUT = "sentence_embedding"
# Powers of two and the middles between them: beyond 16 tokens, less than a third of what a plan reads is padding.
LENGTHS = (8, 16, *(size << i for i in range(13) for size in (24, 32)))


def _part(encoded: Encoded, name: str, length: int) -> Any:
    """The first `length` tokens of a text, or the last where what fills it up stands before it."""
    mask = encoded.get("attention_mask")
    begins_filled = mask is not None and mask[0, 0] == 0
    return encoded[name][:, -length:] if begins_filled else encoded[name][:, :length]


class SentenceEncoder:
    """Embeds texts with a model directory of sentence-transformers, as its library does.

    lengths: the numbers of tokens that it has plans for, ascending; a text takes the shortest that holds it.
    dimension: of an embedding.
    """

    def __init__(self, path: Path, lengths: Sequence[int] | None, batch_size: int, opening: Mapping[str, Any],
                 budget: str | float | None) -> None:
        self._path, self._opening, self._budget = path, opening, budget
        self._batch_size, self._lock = batch_size, threading.Lock()
        with load(path, **opening) as longest:
            if OUTPUT not in longest.outputs:
                found = ", ".join(longest.outputs)
                raise UsageError(f"'{os.fsdecode(path)}': got the outputs {found}, wanted {OUTPUT}: "
                                 "a model with modules.json and a pooling, as sentence-transformers writes it")
            self._tokens = longest.inputs["input_ids"].shape[1]
        self.lengths = self._checked(lengths)
        self._reader = self._plans = self._made(1, self.lengths[-1])  # of the longest text
        self._shapes = {(1, self.lengths[-1])}
        self.dimension: int = self._plans.outputs[OUTPUT].shape[1]

    def encode(self, sentences: str | Iterable[str], *, normalize_embeddings: bool = False,
               truncate: Literal["cut", "warn", "error"] = "cut") -> Any:
        """The embeddings of texts: f32 of shape (texts, dimension); of one text: of shape (dimension,).

        normalize_embeddings: divide each by its length, of a model that does not.
        truncate: what a text is met with that has more tokens than the model reads; see Model.encode().

        Errors: UsageError, no text; MismatchError, too long a text, with "error".
        """
        import numpy

        texts = [sentences] if isinstance(sentences, str) else list(sentences)
        embeddings = numpy.empty((len(texts), self.dimension), numpy.float32)
        with self._lock:
            encoded = [self._reader.encode(text, truncate=truncate) for text in texts]
            for length, group in self._groups([words.kept for words in encoded]):
                plan = self._plan(len(group), length)
                inputs = {name: numpy.concatenate([_part(encoded[i], name, length) for i in group])
                          for name in encoded[group[0]]}
                embeddings[group] = plan(**inputs)[OUTPUT]
        if normalize_embeddings:
            embeddings /= numpy.maximum(numpy.linalg.norm(embeddings, axis=1, keepdims=True), 1e-12)
        return embeddings[0] if isinstance(sentences, str) else embeddings

    @property
    def plan(self) -> _core.Model:
        """The plans made so far, in one; Model.save() writes them."""
        return self._plans

    def _groups(self, tokens: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
        """Texts that go together: the length of their plan, and their numbers, a whole batch or one."""
        by_length: dict[int, list[int]] = {}
        for i, count in enumerate(tokens):
            by_length.setdefault(next(length for length in self.lengths if count <= length), []).append(i)
        for length, all_of_it in sorted(by_length.items()):
            whole = len(all_of_it) - len(all_of_it) % self._batch_size
            for begin in range(0, whole, self._batch_size):
                yield length, all_of_it[begin:begin + self._batch_size]
            for alone in all_of_it[whole:]:
                yield length, [alone]

    def _plan(self, batch: int, length: int) -> _core.Model:
        if (batch, length) not in self._shapes:
            with self._made(batch, length) as added:
                self._plans = join([self._plans, added])
            self._shapes.add((batch, length))
        return self._plans

    def _made(self, batch: int, length: int) -> _core.Model:
        shapes = {"input_ids": (batch, length)}
        if self._budget is None:
            return load(self._path, shapes=shapes, **self._opening)
        return climb(self._path, shapes=shapes, budget=self._budget, progress=False, **self._opening).plan

    def _checked(self, lengths: Sequence[int] | None) -> tuple[int, ...]:
        """The lengths of plans, with the model's own as the last. Errors: UsageError."""
        asked = sorted(set(LENGTHS if lengths is None else lengths))
        if asked and asked[0] < 2:
            raise UsageError(f"lengths: got {asked[0]}, wanted at least 2 tokens")
        if lengths is not None and asked and asked[-1] > self._tokens:
            raise UsageError(f"lengths: got {asked[-1]}, wanted at most the {self._tokens} tokens that the model reads")
        return (*(length for length in asked if length < self._tokens), self._tokens)

    def __repr__(self) -> str:
        return (f"<rung.SentenceEncoder of '{os.fsdecode(self._path)}': {self.dimension} dimensions, "
                f"{self.lengths[-1]} tokens>")


def sentence_encoder(path: Path, *, lengths: Sequence[int] | None = None, batch_size: int = 8, device: object = None,
                     dtype: DType | None = None, threads: int = 0,
                     budget: str | float | None = None) -> SentenceEncoder:
    """Opens a model of sentence-transformers, to embed texts with SentenceEncoder.encode().

        encoder = rung.sentence_encoder("sentence-transformers/all-MiniLM-L6-v2")
        encoder.encode(["A sentence.", "Another."]).shape  # (2, 384)

    path: a directory, or a model's name in the local cache of Hugging Face.
    lengths: the numbers of tokens to have plans for; the model's own is always among them. None: powers of two and the
    middles between. A plan is made when the first text needs it; the plans share their weights.
    batch_size: how many texts of one length a plan takes at a time; what is left over goes one by one.
    device, dtype, threads: as rung.load() has them.
    budget: how long to climb for each plan, as rung.climb() has it; None: plans are built without a climb.

    Errors: UsageError, a model without a pooling, a length that it does not have; those of rung.load().
    """
    if batch_size < 1:
        raise UsageError(f"batch_size: got {batch_size}, wanted at least 1")
    return SentenceEncoder(path, lengths, batch_size, {"device": device, "dtype": dtype, "threads": threads}, budget)


__all__ = ["SentenceEncoder", "sentence_encoder"]
