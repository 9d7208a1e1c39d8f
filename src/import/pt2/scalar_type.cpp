// The table of PyTorch's element types.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/scalar_type.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace rung::pt2 {
namespace {

struct ScalarType {
  int64_t number;
  std::string_view name;
  std::optional<DType> dtype;  // none: the graph has no such type
};

constexpr ScalarType kScalarTypes[] = {
    {1, "uint8", DType::u8},
    {2, "int8", DType::i8},
    {3, "int16", {}},
    {4, "int32", DType::i32},
    {5, "int64", DType::i64},
    {6, "float16", DType::f16},
    {7, "float32", DType::f32},
    {8, "float64", {}},
    {9, "complex32", {}},
    {10, "complex64", {}},
    {11, "complex128", {}},
    {12, "bool", DType::boolean},
    {13, "bfloat16", DType::bf16},
    {28, "uint16", {}},
    {29, "float8_e4m3fn", DType::f8e4m3fn},
    {30, "float8_e5m2", {}},
    {31, "float8_e4m3fnuz", DType::f8e4m3fnuz},
    {32, "float8_e5m2fnuz", {}},
};

}  // namespace

Result<DType> dtype_of_number(int64_t number) {
  const auto found = std::ranges::find(kScalarTypes, number, &ScalarType::number);
  if (found == std::end(kScalarTypes)) return fail("got element type {}, which is none of PyTorch's", number);
  if (!found->dtype)
    return fail("got elements of {}, wanted float32, float16, bfloat16, bool or an integer", found->name);
  return *found->dtype;
}

}  // namespace rung::pt2
