// Computes attention's demand from its operands: [batch, heads, rows, head] of queries, keys and values.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/fused_attention.hpp"

#include <algorithm>

#include "trace/findings/kernels.hpp"

namespace rung::trace {

std::optional<AttentionShapes> attention_shapes_of(const Analysis& analysis, const Work& work, int64_t times) {
  constexpr size_t kMask = 3, kDimensions = 4;
  const Recording& recording = analysis.recording;
  const uint32_t event = op_around(analysis, work, "scaled_dot_product");
  if (event == kNone) return std::nullopt;
  const Event& op = recording.events[event];
  const std::vector<CallOperand> operands = operands_of(recording, op);
  if (operands.size() < kMask) return std::nullopt;
  const CallOperand &q = operands[0], &k = operands[1], &v = operands[2];
  for (const CallOperand* operand : {&q, &k, &v})
    if (operand->shape.size() != kDimensions) return std::nullopt;
  const bool is_masked = operands.size() > kMask && !operands[kMask].shape.empty();
  // is_causal is among the values; if none is "True", it is false.
  const std::string_view values = recording.strings[recording.operands[op.detail].values];
  const double share = is_masked ? 0 : (values.empty() || values.find("True") != values.npos ? 0.5 : 1);
  const double pairs = double(q.shape[0]) * double(q.shape[1]) * double(q.shape[2]) * double(k.shape[2]);
  const double keys = (bytes_of(k) + bytes_of(v)) / double(std::max<int64_t>(times, 1));
  const double result = double(q.shape[0]) * double(q.shape[1]) * double(q.shape[2]) * double(v.shape[3]);
  const double flops = 2 * pairs * (double(q.shape[3]) + double(v.shape[3]));
  const double bytes = bytes_of(q) + keys + result * bytes_of(q.type);
  return AttentionShapes{q.type, q.shape, k.shape, is_masked, {share * flops, bytes}, {flops, bytes}};
}

std::optional<Demand> fused_demand_of(const Analysis& analysis, const Work& work, int64_t times) {
  const auto shapes = attention_shapes_of(analysis, work, times);
  return shapes ? std::optional(shapes->least) : std::nullopt;
}

}  // namespace rung::trace
