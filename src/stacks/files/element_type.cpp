// The table of element types.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/element_type.hpp"

#include <algorithm>
#include <array>

namespace rung::stacks {
namespace {

// Rows are in the order of the enumeration. An empty word: the stack has no word for the type in these files. hipBLASLt
// describes TF32 as f32 computed as xf32.
struct TypeWords {
  double bits;
  std::array<std::string_view, 4> of;  // in the order of Words
};

constexpr std::array<TypeWords, 16> kTypeWords{{
    {32, {"f32", "float", "f32_r", "torch.float32"}},
    {32, {"tf32", "tf32", "", ""}},
    {32, {"bf16x9", "bfx9", "", ""}},
    {64, {"f64", "double", "f64_r", "torch.float64"}},
    {16, {"f16", "Half", "f16_r", "torch.float16"}},
    {16, {"bf16", "BFloat16", "bf16_r", "torch.bfloat16"}},
    {8, {"f8e4m3fn", "Float8_e4m3fn", "f8_r", "torch.float8_e4m3fn"}},
    {8, {"f8e5m2", "Float8_e5m2", "bf8_r", "torch.float8_e5m2"}},
    {8, {"f8e4m3fnuz", "Float8_e4m3fnuz", "f8_fnuz_r", "torch.float8_e4m3fnuz"}},
    {8, {"f8e5m2fnuz", "Float8_e5m2fnuz", "bf8_fnuz_r", "torch.float8_e5m2fnuz"}},
    {8, {"f8e8m0", "Float8_e8m0fnu", "", "torch.float8_e8m0fnu"}},
    {4, {"f4e2m1", "Float4_e2m1fn_x2", "f4_r", "torch.float4_e2m1fn_x2"}},
    {8, {"i8", "", "i8_r", "torch.int8"}},
    {32, {"i32", "", "i32_r", "torch.int32"}},
    {64, {"c32", "c10::complex<float>", "f32_c", "torch.complex64"}},
    {128, {"c64", "c10::complex<double>", "f64_c", "torch.complex128"}},
}};

}  // namespace

std::string_view name_of(ElementType type, Words words) {
  return kTypeWords[static_cast<size_t>(type)].of[static_cast<size_t>(words)];
}

double bits_of(ElementType type) { return kTypeWords[static_cast<size_t>(type)].bits; }

std::optional<ElementType> element_type_named(std::string_view name, Words words) {
  if (name.empty()) return {};
  for (size_t i = 0; i < kTypeWords.size(); ++i)
    if (kTypeWords[i].of[static_cast<size_t>(words)] == name) return static_cast<ElementType>(i);
  return {};
}

}  // namespace rung::stacks
