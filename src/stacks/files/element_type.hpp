// Element types of GEMM operands, and the names that each stack has for them in its files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung::stacks {

// There are more types than in ir/dtype.hpp: files name types that no kernel here computes in. Types of both have the
// same names.
enum class ElementType : uint8_t {
  f32,
  tf32,    // f32 in memory, multiplied as TF32 or XF32
  bf16x9,  // f32 in memory, multiplied as nine products of bf16
  f64,
  f16,
  bf16,
  f8e4m3fn,
  f8e5m2,
  f8e4m3fnuz,
  f8e5m2fnuz,
  f8e8m0,
  f4e2m1,
  i8,
  i32,
  c32,  // complex of two f32
  c64,
};

// The source of the names: ours, TunableOp's in names of operations, hipBLASLt's, PyTorch's for tensors, as aiter and
// gradlib print.
enum class Words : uint8_t { rung, tunableop, hipblaslt, torch };

std::string_view name_of(ElementType type, Words words = Words::rung);  // empty: that stack has no name for it
double bits_of(ElementType type);
std::optional<ElementType> element_type_named(std::string_view name, Words words = Words::rung);

}  // namespace rung::stacks
