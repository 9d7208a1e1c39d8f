// Parts of a text, and what a split does with those that match.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::text {

// Bytes [begin, end) of a text: a match of a pattern, or what stands between two matches.
struct Span {
  size_t begin = 0, end = 0;
  bool matched = false;
};
using Spans = std::vector<Span>;

// The treatment of matches by a split: dropped, each a piece of its own, joined to the piece before or after, or joined
// to matches beside them.
enum class Behaviour : uint8_t { removed, isolated, merged_with_previous, merged_with_next, contiguous };

// Returns the pieces of a text that `spans` cover without gaps.
Spans arranged(const Spans& spans, Behaviour behaviour);

}  // namespace rung::text
