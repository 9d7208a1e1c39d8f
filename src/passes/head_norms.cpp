// Writes and recognises the region of norms of heads.
// SPDX-License-Identifier: Apache-2.0
#include "passes/head_norms.hpp"

#include <fmt/format.h>

#include "ir/region.hpp"

namespace rung::passes {

// Registers 0 and 1 are the heads and their weights.
Region region_of_heads(const RmsNorm& norm) {
  return {
      fmt::format("r2=square(r0);r3=row_mean(r2);r4=add(r3,{});r5=rsqrt(r4);r6=mul(r0,r5);r7=add(r1,{});"
                  "r8=mul(r6,r7);return r8:{}",
                  norm.eps, norm.weight_offset, norm.out)};
}

std::optional<RmsNorm> norm_of_heads(const Region& region) {
  const auto program = parse_region(region.program, 2);
  if (!program || program->instructions.size() != 7 || program->results.size() != 1) return std::nullopt;
  const auto number = [&](size_t instruction) {
    const auto operands = operands_of(program->instructions[instruction]);
    const float* literal = operands.size() == 2 ? std::get_if<float>(&operands[1]) : nullptr;
    return literal ? *literal : 0.0f;
  };
  const RmsNorm norm{.eps = number(2), .weight_offset = number(5), .out = program->results[0].type};
  return region == region_of_heads(norm) ? std::optional(norm) : std::nullopt;
}

}  // namespace rung::passes
