"""Scores, and texts of the small Whisper checkpoint, as the published library's rules for times leave them.

rules.npz: `made` are tokens behind the prompt (-1: none), one text a row, `scores` those of the next token, and
`allowed` says which tokens the rules leave. texts.npz: tokens of greedy texts about sources, behind the prompt [1].
"""
# SPDX-License-Identifier: Apache-2.0
import pathlib
import types

import numpy
import torch
import transformers as t

HERE = pathlib.Path(__file__).parent
END, NONE, TOKENS, LATEST = 15, 19, 40, 3
SUPPRESSED, SUPPRESSED_AT_FIRST = [5, 30], [7, 15]
PROMPT = 1  # tokens


def rules(latest=LATEST):
    config = types.SimpleNamespace(no_timestamps_token_id=NONE, eos_token_id=END, bos_token_id=END,
                                   max_initial_timestamp_index=latest)
    return t.WhisperTimeStampLogitsProcessor(config, begin_index=PROMPT)


def some_text(generator):
    """Tokens that need not keep the rules: words, ends, special tokens and times that rise or fall."""
    length = int(torch.randint(0, 9, (1,), generator=generator))
    is_time = torch.rand(length, generator=generator) < 0.5
    words = torch.randint(0, NONE, (length,), generator=generator)
    times = torch.randint(NONE + 1, TOKENS, (length,), generator=generator)
    return torch.where(is_time, times.sort().values if torch.rand(1, generator=generator) < 0.7 else times, words)


def rows(count, latest):
    generator = torch.Generator().manual_seed(7)
    made, scores = numpy.full((count, 8), -1, numpy.int64), torch.randn(count, TOKENS, generator=generator) * 2
    scores[:, NONE + 1:] -= torch.rand(count, 1, generator=generator) * 4  # so that some texts go on with words
    allowed = []
    for i in range(count):
        text = some_text(generator)
        made[i, :len(text)] = text
        left = rules(latest)(torch.cat([torch.tensor([1]), text])[None], scores[i:i + 1])
        allowed.append(torch.isfinite(left)[0].numpy())
    return {'made': made, 'scores': scores.numpy(), 'allowed': numpy.array(allowed)}


def texts(count):
    model = t.WhisperForConditionalGeneration.from_pretrained(HERE.parent / 'checkpoints/whisper').eval()
    config = t.GenerationConfig(decoder_start_token_id=1, pad_token_id=0, eos_token_id=END, max_new_tokens=60,
                                do_sample=False, repetition_penalty=6.0, suppress_tokens=SUPPRESSED,
                                begin_suppress_tokens=SUPPRESSED_AT_FIRST)
    arrays = {}
    model.generation_config.eos_token_id = END
    for i in range(count):
        torch.manual_seed(i)
        features = torch.randn(1, model.config.num_mel_bins, 2 * model.config.max_source_positions) * (1 + i)
        made = t.GenerationMixin.generate(model, input_features=features, decoder_input_ids=torch.tensor([[1]]),
                                          generation_config=config, logits_processor=t.LogitsProcessorList([rules()]))
        arrays |= {f'input_features.{i}': features.numpy(), f'tokens.{i}': made[0, PROMPT:].numpy()}
    return arrays


if __name__ == '__main__':
    numpy.savez(HERE / 'rules.npz', **rows(300, LATEST))
    numpy.savez(HERE / 'rules_any.npz', **rows(100, None))
    numpy.savez(HERE / 'texts.npz', **texts(4))
