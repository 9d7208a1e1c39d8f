// The classes to which profiles and reports account time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace rung {

enum class Category : uint8_t { gemm, attention, normalisation, elementwise, copy, launch, other };
inline constexpr std::array<std::string_view, 7> kCategoryNames{"GEMM", "attention",   "normalisation", "element-wise",
                                                                "copy", "launch/host", "other"};
inline std::string_view name_of(Category c) { return kCategoryNames[static_cast<size_t>(c)]; }

}  // namespace rung
