// A oneDNN matmul primitive that runs on the calling thread alone: it is made once, then called with addresses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dnnl.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "base/verdict.hpp"
#include "ir/op.hpp"
#include "ir/shape.hpp"

namespace rung::cpu::gemm {

const dnnl::engine& onednn_engine();
// Adds an activation behind what a primitive computes; none: nothing.
void append_activation(dnnl::post_ops& after, Activation activation);
std::optional<dnnl::memory::data_type> onednn_type(DType type);
dnnl::memory::desc onednn_desc(DType type, const Shape& shape, const Strides& strides);

// While an object of this class lives, OpenMP regions of this thread have one thread, so no worker pool is ever made.
class OneOpenMpThread {
 public:
  OneOpenMpThread();
  ~OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_ = 1;
};

// The operands of a primitive, whose residual is a sum behind an activation that may be none.
struct OneDnnOperands {
  dnnl::memory::desc x, w, out;  // w with format any lets the library choose
  std::optional<dnnl::memory::desc> bias, residual;
  Activation activation = Activation::none;
};

// A primitive with its operands and its scratch pad: it is made once, then runs on the calling thread alone.
class OneDnnPrimitive {
 public:
  struct Addresses {
    const void* x = nullptr;
    const void* w = nullptr;
    void* out = nullptr;
    const void* bias = nullptr;
    const void* residual = nullptr;
  };
  OneDnnPrimitive(const dnnl::primitive& primitive, const OneDnnOperands& operands, const dnnl::memory::desc& pad);
  void run(const Addresses& at) const;  // throws dnnl::error

 private:
  void add(int role, const dnnl::memory::desc& desc, void* data = nullptr);

  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;      // the operands in use, in the order of Addresses
  std::vector<dnnl_exec_arg_t> arguments_;  // the same operands, then the scratch pad
  std::unique_ptr<std::byte[]> scratch_pad_;
  bool has_bias_, has_residual_;
};

class OneDnnMatmul {
 public:
  using Addresses = OneDnnPrimitive::Addresses;
  explicit OneDnnMatmul(const OneDnnOperands& operands);  // throws dnnl::error; see onednn_supports()
  dnnl::memory::desc weights() const { return weights_; }
  void run(const Addresses& at) const { primitive_->run(at); }

 private:
  dnnl::memory::desc weights_;
  std::optional<OneDnnPrimitive> primitive_;
};

Verdict onednn_supports(const OneDnnOperands& problem);
// Copies `from`, laid out as `plain`, to `to`, laid out as `packed`.
void onednn_reorder(const dnnl::memory::desc& plain, const void* from, const dnnl::memory::desc& packed, void* to);

}  // namespace rung::cpu::gemm
