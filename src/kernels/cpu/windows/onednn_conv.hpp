// A oneDNN convolution primitive that runs on the calling thread alone: it is made once, then called with addresses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dnnl.hpp>
#include <optional>

#include "kernels/cpu/linear/onednn.hpp"
#include "kernels/cpu/windows/window_shape.hpp"

namespace rung::cpu {

// Some lines of a problem's results along the first of I..., of all batches.
struct ConvSlice {
  int64_t begin = 0, end = 0;  // results
  int64_t x_begin = 0;         // the first element of x that they see, along that axis
  Window window;               // over the elements of x that they see
  ConvSlice(const Problem& problem, int part, int parts);
  bool empty() const { return begin == end; }
};

// The primitive that the library would make for a slice, and the layouts of its operands.
struct ConvDescription {
  dnnl::convolution_forward::primitive_desc primitive;
  gemm::OneDnnOperands operands;
  dnnl::memory::desc weights() const { return operands.w; }
  // Returns whether it has code for this processor: the library's own reference is slow.
  bool is_fast() const;
};
// `scale`: of integers, the values of their scales, which the code of a primitive holds; null: any, as layouts do not
// follow from them. Throws dnnl::error.
ConvDescription describe(const Problem& problem, const ConvSlice& slice, const float* scale = nullptr);

class OneDnnConv {
 public:
  using Addresses = gemm::OneDnnPrimitive::Addresses;
  explicit OneDnnConv(const ConvDescription& description);  // throws dnnl::error
  void run(const Addresses& at) const { primitive_->run(at); }

 private:
  std::optional<gemm::OneDnnPrimitive> primitive_;
};

// Returns the weights as they stand in the problem: [O,C,K...], or [groups,O/groups,C/groups,K...].
dnnl::memory::desc plain_weights(const Problem& problem);

}  // namespace rung::cpu
