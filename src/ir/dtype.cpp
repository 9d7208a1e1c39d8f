// The one table of element types.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dtype.hpp"

#include <array>

namespace rung {
namespace {

struct Row {
  std::string_view name;
  size_t bytes;
};
constexpr std::array<Row, 10> kRows{{{"f32", 4},
                                     {"f16", 2},
                                     {"bf16", 2},
                                     {"f8e4m3fn", 1},
                                     {"f8e4m3fnuz", 1},
                                     {"i64", 8},
                                     {"i32", 4},
                                     {"i8", 1},
                                     {"u8", 1},
                                     {"bool", 1}}};

}  // namespace

size_t size_of(DType dtype) { return kRows[static_cast<size_t>(dtype)].bytes; }
std::string_view name_of(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }
std::optional<DType> dtype_named(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace rung
