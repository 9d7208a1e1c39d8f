// The last part of a tokenizer: the special tokens around one text, or around and between two.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "base/json_config.hpp"
#include "text/vocabulary.hpp"

namespace rung::text {

// A special token, or the place of a text.
struct FramePiece {
  std::optional<int> text;  // 0 or 1; none: a token
  int64_t id = 0;           // of the token
  int64_t type = 0;         // the token type of what stands here
};
using FramePieces = std::vector<FramePiece>;

struct Frame {
  FramePieces single{{.text = 0}};
  FramePieces pair{{.text = 0}, {.text = 1, .type = 1}};
};

// Reads the field "post_processor"; texts stand bare where it is missing. Errors: another type; a template without its
// texts exactly once; an id that `is_token` does not know; a Sequence of several that add tokens.
using IsToken = std::function<bool(int64_t id)>;
Result<Frame> read_frame(const Config& tokenizer, const IsToken& is_token);

}  // namespace rung::text
