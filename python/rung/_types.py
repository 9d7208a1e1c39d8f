# What a model and a climb tell, as values.
# SPDX-License-Identifier: Apache-2.0
"""Ports, receipts, speed-ups, encoded and generated texts, and verifications."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypedDict


class Port(NamedTuple):
    """An input or an output: its name, dtype ("float32", "bfloat16", "int64" ...) and shape, in elements.

    `required` is true of an input without a default.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    required: bool


class Encoded(dict[str, Any]):
    """What Model.encode() makes of a text: arrays by the inputs' names, for model(**encoded).

    `tokens` is how many tokens the text has, special ones with the others, and `kept` how many of them the arrays hold.
    """

    tokens: int
    kept: int

    def __init__(self, tokens: int, kept: int) -> None:
        super().__init__()
        self.tokens, self.kept = tokens, kept

    @property
    def truncated(self) -> bool:
        """Whether the text was cut."""
        return self.kept < self.tokens


class TokenIds(Protocol):
    """A sequence of ints: a list, or an array or a tensor of one axis."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> Any: ...


# A text, a chat or token ids.
Prompt = str | Sequence[Mapping[str, Any]] | TokenIds


class Piece(NamedTuple):
    """A token that a model made, with the text that is certain with it: whole characters, without special tokens."""

    text: str
    token: int


class DecodeTimes(TypedDict):
    """Milliseconds of a token, its choice included."""

    median: float
    p90: float
    p99: float


class Segment(TypedDict):
    """A part of a text with timestamps: `begin` and `end` in seconds (None: the text ended before it said so), the
    `tokens` of its words, and their `text` (None: the model has no tokenizer)."""

    begin: float
    end: float | None
    tokens: list[int]
    text: str | None


class _WithTimestamps(TypedDict, total=False):
    segments: list[Segment]


class Generated(_WithTimestamps):
    """What a generation made so far, and what it took.

    `tokens` are the new ones, and `text` is theirs (None: the model has no tokenizer). `prefill_ms` goes from the
    prompt's `prompt_tokens` to the first new token; `decode_ms` and `tokens_per_s` are of the further ones.
    `bytes_per_token` is what the last token reads of memory, and `floor_ms` the time that memory needs for it.
    `weight_bytes` counts all weights in memory, those of every chunk's plan, in every layout.
    `drafting` is "off", "kept", or "stopped" where drafts were slower; `drafted` counts draft tokens that were read
    ahead, and `accepted` those that became the text's.
    `segments` are the parts of a text with timestamps; other texts have no such key.
    `stopped_by` is "count", "stop token", "stop string" or "full cache"; empty: the text could go on.
    """

    tokens: list[int]
    text: str | None
    prompt_tokens: int
    prefill_ms: float
    decode_ms: DecodeTimes
    tokens_per_s: float
    drafting: str
    drafted: int
    accepted: int
    bytes_per_token: float
    weight_bytes: int
    floor_ms: float
    stopped_by: str


@dataclass(frozen=True)
class Speedup:
    """How much faster the plan that won is than another, by a race of the two.

    `claimed` is `ratio` where the interval is clear of 1, or 1, or NaN where nothing is claimed. `before_ms` and
    `after_ms` are the time of one inference, NaN on an emulator; `ratio` is before / after, from `pairs` of runs in
    turns, and `ci_low` to `ci_high` its 95 % confidence interval. `unraced` says why there was no race; empty: there
    was one.
    """

    claimed: float
    before_ms: float
    after_ms: float
    ratio: float
    ci_low: float
    ci_high: float
    pairs: int
    unraced: str


@dataclass(frozen=True)
class Receipt:
    """What one rung of a climb did.

    `before_ms` and `ms` are the time of one inference without and with it, NaN on an emulator; `ratio` is before /
    after, from runs in turns, and `ci_low` to `ci_high` its 95 % confidence interval; `rel_l2` and `max_abs` are the
    outputs' distance from the reference, `kernels` the launches with it; `attempt` is 2 where it was tried again at
    the end.
    """

    name: str
    accepted: bool
    reason: str
    before_ms: float
    ms: float
    ratio: float
    ci_low: float
    ci_high: float
    rel_l2: float
    max_abs: float
    kernels: int
    attempt: int


class ComparedOutput(TypedDict):
    """How far one output is from its reference: |a - b| / |b| as `rel_l2`, the largest difference as `max_abs`, the
    cosine of the two, and how many values are NaN or infinite. None: there is no such number.
    """

    name: str
    rel_l2: float | None
    max_abs: float | None
    cosine: float | None
    non_finite: int | None
    passed: bool


class _PartDTypes(TypedDict, total=False):
    products: str
    attention: str
    values: str


class PrecisionCost(_PartDTypes):
    """What one entry of a recipe's precision costs: the relative L2 error of the outputs with this entry alone, and
    with all entries but this one. None: there is no such number.

    `labels` is how the names of the entry's parts begin; `products`, `attention` and `values` are "f32" or "bf16", and
    there only where the entry sets them.
    """

    labels: str
    rel_l2_alone: float | None
    rel_l2_without: float | None


class Tolerance(TypedDict):
    """The relative L2 error that an output may have, and the error of one element."""

    rel_l2: float
    element: float


class Verification(TypedDict):
    """What rung.verify() found: whether each output is right, by which tolerance and against what (`reason`).

    `precision` says what each entry costs where the recipe's precision has several; it is empty otherwise.
    """

    passed: bool
    outputs: list[ComparedOutput]
    tolerance: Tolerance
    reason: str
    precision: list[PrecisionCost]
