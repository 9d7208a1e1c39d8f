// Follows the lengths of caches.
// SPDX-License-Identifier: Apache-2.0
#include "plan/step_bytes.hpp"

#include <algorithm>

namespace rung {

double bytes_at(const Step& step, int64_t length) {
  const auto* attention = as<Attention>(step.op);
  if (!attention || !attention->has_length()) return step.bytes;
  const Operand& keys = step.inputs[attention->first_key()].view;
  const int64_t of_place = keys.shape[2] * keys.shape[3] * static_cast<int64_t>(size_of(keys.dtype));
  return 2.0 * static_cast<double>(std::min(length, keys.shape[1]) * of_place);
}

std::optional<int64_t> full_length(const Problem& problem, size_t i) {
  const auto* attention = as<Attention>(problem.op);
  if (!attention || attention->slots.at(AttentionSlot::length) != static_cast<int>(i)) return std::nullopt;
  return std::max(problem.inputs[attention->first_key()].shape[1], problem.output.shape[1]);
}

}  // namespace rung
