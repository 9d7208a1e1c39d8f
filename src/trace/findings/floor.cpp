// Computes rooflines from operands and arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/floor.hpp"

#include <algorithm>
#include <utility>

namespace rung::trace {
namespace {

constexpr std::pair<std::string_view, int> kTypeBytes[] = {
    {"f64", 8}, {"i64", 8}, {"f32", 4}, {"i32", 4}, {"bf16", 2},
    {"f16", 2}, {"i16", 2}, {"i8", 1},  {"u8", 1},  {"bool", 1},
};

int64_t in_ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

}  // namespace

const CardPeaks* peaks_of(const Analysis& analysis) {
  const auto device = static_cast<size_t>(analysis.accounting.device);
  const std::vector<std::string>& names = analysis.recording.device_names;
  return analysis.accounting.device >= 0 && device < names.size() ? peaks_of_device(names[device]) : nullptr;
}

int64_t floor_ns(const CardPeaks* peaks, const Demand& demand) {
  if (!peaks) return 0;
  return in_ns(std::max(demand.flops / (peaks->narrow_tflops * 1e12), demand.bytes / (peaks->memory_gbps * 1e9)));
}

int64_t attainable_ns(const CardPeaks* peaks, const Demand& demand) {
  if (!peaks) return 0;
  return floor_ns(peaks, {demand.flops / peaks->narrow_share, demand.bytes / peaks->memory_share});
}

int bytes_of(std::string_view type) {
  if (type.starts_with("f8")) return 1;
  const auto* found = std::ranges::find(kTypeBytes, type, &std::pair<std::string_view, int>::first);
  return found == std::end(kTypeBytes) ? 0 : found->second;
}

bool is_narrow(std::string_view type) { return type == "bf16" || type == "f16"; }

int64_t stored_elements_of(const CallOperand& operand) {
  CallOperand stored = operand;
  for (size_t i = 0; i < std::min(stored.shape.size(), stored.strides.size()); ++i)
    if (stored.strides[i] == 0) stored.shape[i] = std::min<int64_t>(stored.shape[i], 1);
  return elements_of(stored);
}

double bytes_of(const CallOperand& operand) {
  return static_cast<double>(stored_elements_of(operand)) * bytes_of(operand.type);
}

}  // namespace rung::trace
