# generate() of transformers over a session: the library's own tokens on the library's own small models.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
import rung
from conftest import DATA

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
transformers: Any = pytest.importorskip("transformers", reason="transformers is not installed")
made: Any = pytest.importorskip("rung.transformers_model")

LLAMA = DATA / "checkpoints" / "llama"
PROMPT = [[3, 17, 5, 9]]


def models(name: str) -> tuple[Any, Any]:
    path = DATA / "checkpoints" / name
    theirs = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    return made.TransformersModel.open(path, threads=1), theirs


def tokens(model: Any, prompt: Any = PROMPT, **options: Any) -> list[int]:
    ids = torch.tensor(prompt)
    settings = transformers.GenerationConfig(**{"max_new_tokens": 14, "do_sample": False, "pad_token_id": 0, **options})
    found: list[int] = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=settings)[0].tolist()
    return found


@pytest.mark.parametrize("name", ["llama", "gemma3", "gpt2", "mistral", "qwen2"])
def test_greedy_texts_are_the_librarys(name: str) -> None:
    ours, theirs = models(name)
    for prompt in (PROMPT, [[2]], [list(range(3, 15))]):
        assert tokens(ours, prompt) == tokens(theirs, prompt)


def test_processors_and_sampling_are_the_librarys() -> None:
    ours, theirs = models("llama")
    for options in ({"repetition_penalty": 3.0}, {"do_sample": True, "temperature": 2.0, "top_k": 8},
                    {"no_repeat_ngram_size": 2, "min_new_tokens": 4}, {"eos_token_id": 7}):
        got = []
        for model in (ours, theirs):
            torch.manual_seed(5)
            got.append(tokens(model, **options))
        assert got[0] == got[1], options


def test_a_text_that_goes_on_reads_what_is_new() -> None:
    ours, _ = models("llama")
    fed: list[int] = []
    session = ours.session

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(session, name)

        def feed(self, new: list[int]) -> Any:
            fed.append(len(new))
            return session.feed(new)

    ours.session = Counting()
    first = tokens(ours, max_new_tokens=3)
    assert fed == [4, 1, 1]
    fed.clear()
    longer = tokens(ours, [[*first, 8, 9]], max_new_tokens=1)
    assert fed == [3], "the last token of the first text and the two behind it"
    assert longer == tokens(models("llama")[1], [[*first, 8, 9]], max_new_tokens=1)


def test_another_text_begins_where_it_differs() -> None:
    ours, theirs = models("gemma3")
    for prompt in ([[3, 17, 5, 9, 4, 4, 11]], [[3, 17, 6]], [[8, 2]]):
        assert tokens(ours, prompt) == tokens(theirs, prompt)


def test_beams_are_refused() -> None:
    ours, _ = models("llama")
    with pytest.raises(rung.UsageError, match=r"got \[2, 4\], wanted \[1, tokens\]"):
        tokens(ours, num_beams=2)


def test_padding_is_refused() -> None:
    ours, _ = models("llama")
    with pytest.raises(rung.UsageError, match="wanted a text without padding"):
        ours(torch.tensor(PROMPT), attention_mask=torch.tensor([[0, 1, 1, 1]]))


def test_scores_are_those_of_the_text() -> None:
    ours, theirs = models("llama")
    ids = torch.tensor(PROMPT)
    with torch.no_grad():
        assert torch.allclose(ours(ids).logits[0, -1], theirs(ids).logits[0, -1], atol=1e-4)
        assert torch.equal(ours(ids).logits, ours(ids).logits)
