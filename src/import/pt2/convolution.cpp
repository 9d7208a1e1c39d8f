// Convolutions of exported programs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;
using ConvolutionCall = exported::Emit::ConvolutionCall;

// "same" puts half of what a window reaches beyond its place at each end, the odd one behind.
void pad_by_word(const Call& call, ConvolutionCall& to) {
  const std::string word = call.text("padding", "");
  if (word == "valid") return;
  if (word != "same") refuse("padding: got '{}', wanted 'same' or 'valid'", word);
  const auto& dilation = to.windows.dilation;
  for (int axis = 2; axis < call.rank(to.w); ++axis) {
    const auto at = static_cast<size_t>(axis - 2);
    const int64_t step = dilation.empty() ? 1 : dilation[std::min(at, dilation.size() - 1)];
    if (step < 1 || step > exported::kMostMade / std::max<int64_t>(1, call.shape(to.w)[axis]))
      refuse("a convolution of {} with dilation {}", call.type(to.w), step);
    to.windows.before.push_back(step * (call.shape(to.w)[axis] - 1) / 2);
    to.windows.after.push_back(step * (call.shape(to.w)[axis] - 1) - to.windows.before.back());
  }
}

Values convolved(const Call& call, bool transposed) {
  const NodeId x = call.tensor("input");
  ConvolutionCall to{.x = x, .w = call.tensor("weight"), .bias = call.optional_tensor("bias")};
  to.windows.stride = call.integers("stride", {});
  to.windows.dilation = call.integers("dilation", {});
  to.groups = call.integer("groups", 1);
  to.transposed = transposed;
  to.extra = call.integers("output_padding", {});
  const Value* padding = call.find("padding");
  if (padding && std::holds_alternative<std::string>(padding->is))
    pad_by_word(call, to);
  else
    to.windows.before = to.windows.after = call.integers("padding", {});
  const bool has_batch = call.rank(x) >= call.rank(to.w);
  if (!has_batch) to.x = call.unsqueeze(x, 0);
  const NodeId y = call.convolution(to);
  return one(has_batch ? y : call.squeeze(y, {0}));
}

}  // namespace

Values convolution(const Call& call) { return convolved(call, call.flag("transposed")); }
Values transposed_convolution(const Call& call) { return convolved(call, true); }

}  // namespace rung::pt2::operators
