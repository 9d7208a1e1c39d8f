// Sizes beyond which a config.json is taken for a mistake, checked before anything is allocated.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/config_fields.hpp"

namespace rung::huggingface {

inline constexpr Bounds kLayerBounds{1, 1000};
inline constexpr Bounds kWidthBounds{1, 65536};
inline constexpr Bounds kHeadBounds{1, 1024};
inline constexpr Bounds kMlpBounds{1, 1 << 20};
inline constexpr Bounds kVocabularyBounds{1, INT32_MAX};
inline constexpr Bounds kTokenBounds{1, 1 << 16};
inline constexpr double kMostParameters = 1e12;

inline Status check_parameter_count(const char* where, double parameters) {
  if (parameters <= kMostParameters) return {};
  return fail("{}: its sizes ask for {:.3g} parameters, wanted at most {:.0g}", where, parameters, kMostParameters);
}

}  // namespace rung::huggingface
