// The names that safetensors headers give to element types.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/dtype.hpp"

namespace rung {

inline constexpr std::pair<std::string_view, DType> kSafetensorsDTypes[] = {
    {"F32", DType::f32},
    {"F16", DType::f16},
    {"BF16", DType::bf16},
    {"F8_E4M3", DType::f8e4m3fn},
    {"F8_E4M3FNUZ", DType::f8e4m3fnuz},
    {"I64", DType::i64},
    {"I32", DType::i32},
    {"I8", DType::i8},
    {"U8", DType::u8},
    {"BOOL", DType::boolean},
};

inline std::optional<DType> dtype_of_safetensors(std::string_view name) {
  for (auto [text, dtype] : kSafetensorsDTypes)
    if (text == name) return dtype;
  return std::nullopt;
}

inline std::string_view safetensors_name_of(DType dtype) {
  for (auto [text, candidate] : kSafetensorsDTypes)
    if (candidate == dtype) return text;
  return {};
}

inline std::string safetensors_dtypes() {
  std::string all;
  for (auto [text, dtype] : kSafetensorsDTypes) (all += all.empty() ? "" : ", ") += text;
  return all;
}

}  // namespace rung
