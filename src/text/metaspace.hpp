// SentencePiece's way with blanks, which splits texts and joins tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/json_config.hpp"

namespace rung::text {

struct Metaspace {
  enum class Prepends : uint8_t { always, first, never };

  std::string mark;  // stands for a blank: one character, such as U+2581
  Prepends prepends = Prepends::always;
  bool splits = true;
};

// Reads its settings, of which files before version 0.15 of the published library have add_prefix_space alone.
Result<Metaspace> read_metaspace_settings(const Config& part);

}  // namespace rung::text
