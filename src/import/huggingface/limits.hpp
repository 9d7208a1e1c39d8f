// Sizes beyond which a config.json is taken for a mistake, checked before anything is allocated.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/exported/emit.hpp"
#include "import/huggingface/config_fields.hpp"

namespace rung::huggingface {

// Within these bounds no parameter count comes near 2^63, so counting in int64_t cannot overflow.
inline constexpr IntRange kLayerBounds{1, 1000};
inline constexpr IntRange kWidthBounds{1, 65536};
inline constexpr IntRange kHeadBounds{1, 1024};
inline constexpr IntRange kMlpBounds{1, 1 << 20};
inline constexpr IntRange kVocabularyBounds{1, INT32_MAX};
inline constexpr IntRange kBatchBounds{1, 1024};
inline constexpr IntRange kTokenBounds{1, 1 << 16};
inline constexpr int64_t kMostParameters = 1'000'000'000'000;

inline Status check_parameter_count(const char* where, int64_t parameters) {
  if (parameters <= kMostParameters) return {};
  return fail("{}: its sizes ask for {} parameters, wanted at most {}", where, parameters, kMostParameters);
}

// Checks a table of rows by columns, both within the bounds above, that the importer computes.
inline Status check_made(const char* what, int64_t rows, int64_t columns) {
  if (rows <= exported::kMostMade / columns) return {};
  return fail("config.json: {} of {} by {} elements, wanted at most {} in all", what, rows, columns,
              exported::kMostMade);
}

}  // namespace rung::huggingface
