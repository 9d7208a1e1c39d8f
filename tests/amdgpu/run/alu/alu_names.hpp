// Names of all instructions, and families of them that one test goes through.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "amdgpu/isa/instruction.hpp"

namespace rung::amdgpu {

inline std::span<const std::string_view> opcode_names() {
  static constexpr std::string_view kNames[] = {
#define RUNG_AMD_OPCODE(name) #name,
#include "amdgpu/isa/opcode_names.inc"
#undef RUNG_AMD_OPCODE
  };
  return kNames;
}
inline Opcode opcode_named(std::string_view name) {
  size_t at = 0;
  while (opcode_names()[at] != name) ++at;
  return static_cast<Opcode>(at);
}

inline bool is_vector_comparison(std::string_view name) {
  return (name.starts_with("v_cmp_") || name.starts_with("v_cmpx_")) && name.find("_class_") == std::string_view::npos;
}
inline bool is_scalar_comparison(std::string_view name) {
  return name.starts_with("s_cmp_") || name.starts_with("s_cmpk_");
}
// Between f32, f16 or bf16 and numbers of 8, 6 or 4 bits with a scale.
inline bool is_scaled_conversion(std::string_view name) { return name.starts_with("v_cvt_scalef32_"); }

}  // namespace rung::amdgpu
