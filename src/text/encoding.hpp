// The inputs that a text becomes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace rung {

// All of one length.
struct Encoding {
  std::vector<int64_t> ids, attention_mask, token_type_ids;
  int64_t tokens = 0, kept = 0;  // of the whole text with its special tokens; of those, kept
  bool truncated() const { return kept < tokens; }
};

}  // namespace rung
