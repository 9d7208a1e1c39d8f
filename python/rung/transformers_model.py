# A model of transformers whose scores are a text session's, so that its generate() runs on rung.
# SPDX-License-Identifier: Apache-2.0
"""generate() of transformers over a rung session.

    from rung.transformers_model import TransformersModel
    model = TransformersModel.open("llama", cache=512)
    ids = tokenizer("Once there was", return_tensors="pt")
    print(tokenizer.decode(model.generate(**ids, max_new_tokens=64)[0]))

It needs the packages torch and transformers, which rung itself does not need.
"""
from __future__ import annotations

import os
from typing import Any

import torch
from transformers import AutoConfig, GenerationConfig, GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from . import _core
from ._errors import UsageError
from ._language import load_language_model


class TransformersModel(PreTrainedModel, GenerationMixin):
    """A decoder that generate() of transformers drives: greedily or by sampling, with its logits processors, stopping
    criteria and streamers. One text at a time; it has no weights of its own, and no gradients.

    The session keeps what it has read: a call reads what its text has beyond the last one's, so that a chat which goes
    on reads new messages alone.
    """

    main_input_name = "input_ids"
    _supports_cache_class = False
    _is_stateful = True  # the session is the cache, and no copy of it is taken

    def __init__(self, config: PretrainedConfig, session: _core.TextSession,
                 generation_config: GenerationConfig | None = None) -> None:
        super().__init__(config)
        self.generation_config = generation_config or GenerationConfig.from_model_config(config)
        self.session = session

    @classmethod
    def open(cls, path: str | os.PathLike[str], **options: Any) -> TransformersModel:
        """Opens a model directory of a decoder with its config.json and generation_config.json.

        options: as rung.load_language_model() has them. Errors: its own, and those of transformers for the two files.
        """
        session = load_language_model(path, **options).session()
        config = AutoConfig.from_pretrained(path)
        settings = os.path.join(os.fspath(path), "generation_config.json")
        return cls(config, session, GenerationConfig.from_pretrained(path) if os.path.exists(settings) else None)

    @property
    def device(self) -> torch.device:
        """Where token ids and scores are: the host."""
        return torch.device("cpu")

    @property
    def dtype(self) -> torch.dtype:
        """The type of the scores."""
        return torch.float32

    def can_generate(self) -> bool:
        """True: that is what it is for."""
        return True

    def prepare_inputs_for_generation(
            self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_: Any) -> dict[str, Any]:
        """The whole text: the session knows what of it has been read."""
        return {"input_ids": input_ids, "attention_mask": attention_mask}

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None,
                **_: Any) -> CausalLMOutputWithPast:
        """The scores behind a text, [1, 1, vocabulary].

        Errors: UsageError, several texts, or one with padding; those of TextSession.feed().
        """
        if attention_mask is not None and not bool(attention_mask.all()):
            raise UsageError("attention_mask: got tokens that are masked, wanted a text without padding")
        if input_ids.dim() != 2 or input_ids.shape[0] != 1:
            raise UsageError(f"input_ids: got {list(input_ids.shape)}, wanted [1, tokens]: a session has one text, "
                             "without beams")
        scores = self.session.feed(self._unread(input_ids[0].tolist()))
        return CausalLMOutputWithPast(logits=torch.from_numpy(scores)[None, None])

    def _unread(self, text: list[int]) -> list[int]:
        """Makes the session's text a beginning of this one: the rest of this one, nothing if it has been read."""
        read = self.session.tokens
        same = next((i for i, (a, b) in enumerate(zip(read, text)) if a != b), min(len(read), len(text)))
        if same < len(read):
            # Where a layer with a sliding window cannot go on from there, the text is read again.
            try:
                self.session.truncate(same)
            except UsageError:
                self.session.reset()
                same = 0
        return text[same:]
