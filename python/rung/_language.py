# Opens decoder language models.
# SPDX-License-Identifier: Apache-2.0
"""rung.load_language_model()."""
from __future__ import annotations

from . import _core
from ._load import DType, Path, open_options


def load_language_model(path: Path, device: object = None, threads: int = 0, dtype: DType | None = None, *,
                        cache: int = 0, source: int = 0, trust_code: bool = False) -> _core.LanguageModel:
    """Opens a decoder language model: a model directory, or a plan that was built with a cache.

        model = rung.load_language_model("llama")
        for piece in model.generate("Once there was", new=64):
            print(piece.text, end="", flush=True)

    path: a model directory of a decoder, whose plans are built now without a climb, or "ORG/NAME" as rung.load() has
    it; or a plan (*.rung) that `rung build` or `rung climb` made with `--cache`.
    cache: of a model directory: the most tokens of a text, prompt included, for which each session has memory; 0: as
    many as the model was made for, and 4096 at most.
    source: of a directory whose encoder reads texts: the most tokens of one; 0: a usual number. A model with an encoder
    makes texts about a source, which TextSession.read() reads.
    The rest: as rung.load() has it.

    Errors: those of rung.load(); MismatchError, plans that remember no text, or no decoder; UsageError, a cache beyond
    the model's positions, or none where the model's files do not say how long a text may be.
    """
    options = open_options(device, threads, dtype, None, False, trust_code=trust_code)
    return _core.load_language_model(path, options | {"cache": cache, "source": source})
