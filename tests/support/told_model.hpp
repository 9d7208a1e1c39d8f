// A model's step told operation by operation, as PyTorch's profiler would have recorded it, and what is found in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "support/scripted_recording.hpp"
#include "trace/findings/all_findings.hpp"

namespace rung::trace {

using Shape = std::vector<int64_t>;

inline std::string json_of(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

// Of rows that lie one after another.
inline Shape dense(const Shape& shape) {
  Shape strides(shape.size());
  std::exclusive_scan(shape.rbegin(), shape.rend(), strides.rbegin(), int64_t{1}, std::multiplies{});
  return strides;
}

struct ToldTensor {
  Shape shape;
  Shape strides = {};  // empty: dense
  std::string type = "c10::BFloat16";
};

struct ToldProduct {
  int64_t m, k, n;
  double us = 50;
  std::string kernel = "nvjet_sm90_tst_64x64_h_bz_TNT";
  std::string type = "c10::BFloat16";
  int64_t batch = 0;           // 0: no third dimension
  bool one_b_for_all = false;  // of a batch: the second operand has a stride of 0
  LaunchShape launch = {};
};

struct ToldAttention {
  Shape q, k;  // [1, heads, rows, elements]
  double us = 50;
  std::string kernel = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4> >()";
  std::string type = "c10::BFloat16";
  bool is_masked = false;
  LaunchShape launch = {};
};

class ToldModel {
 public:
  ScriptedRecording script;
  std::string device = "NVIDIA H200";

  // An operation that launches one kernel.
  ToldModel& op(std::string_view name, std::string_view kernel, double us, const std::vector<ToldTensor>& tensors,
                const LaunchShape& launch = {}) {
    script.op(
        name, [&] { script.kernel(kernel, us, launch); }, operands(tensors));
    return *this;
  }
  ToldModel& product(const ToldProduct& p) {
    ToldTensor a{{p.m, p.k}, {}, p.type}, b{{p.k, p.n}, {1, p.k}, p.type};
    if (p.batch > 0) {
      a = {{p.batch, p.m, p.k}, {}, p.type};
      b = {{p.batch, p.k, p.n}, {p.one_b_for_all ? 0 : p.k * p.n, 1, p.k}, p.type};
    }
    script.op(
        p.batch > 0 ? "aten::bmm" : "aten::mm", [&] { script.kernel(p.kernel, p.us, p.launch); }, operands({a, b}));
    return *this;
  }
  ToldModel& small(std::string_view name, double us, const std::vector<ToldTensor>& tensors) {
    return op(name, fmt::format("void at::native::vectorized_elementwise_kernel<8, {}_kernel_cuda()>()", name), us,
              tensors);
  }
  ToldModel& softmax(double us, const Shape& shape) {
    return op("aten::_softmax", "void softmax_warp_forward<float, float, float, 10>()", us, {{shape}});
  }
  // What contiguous() or reshape() does: clone() into dense rows.
  ToldModel& copy(std::string_view way, double us, const ToldTensor& from, std::string_view type = "c10::BFloat16") {
    constexpr std::string_view kKernel =
        "void at::native::elementwise_kernel<128, 4, "
        "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda()>>()";
    const ToldTensor to{from.shape, {}, std::string(type)};
    script.op(way, [&] { script.op("aten::clone", [&] { op("aten::copy_", kKernel, us, {to, from}); }); });
    return *this;
  }
  ToldModel& norm(double us, const Shape& shape) {
    return op("aten::_fused_rms_norm", "void at::native::vectorized_layer_norm_kernel<float>()", us, {{shape}});
  }
  // [1, heads, rows, 64] of queries, and of keys and values.
  ToldModel& attention(double us, const Shape& q, const Shape& k, const std::string& values = "[\"False\"]") {
    const auto texts = operands({{q}, {k}, {k}}, values);
    script.op(
        "aten::scaled_dot_product_attention",
        [&] { op("aten::_cudnn_attention_forward", "cudnn_generated_fort_native_sdpa_sm90_flash_fprop", us, {}); },
        texts);
    return *this;
  }

  // Any attention of one kernel; a mask has the pairs' shape.
  ToldModel& attention(const ToldAttention& told) {
    std::vector<ToldTensor> tensors{{told.q, {}, told.type}, {told.k, {}, told.type}, {told.k, {}, told.type}};
    if (told.is_masked) tensors.push_back({{1, 1, told.q[2], told.k[2]}, {}, told.type});
    script.op(
        "aten::scaled_dot_product_attention",
        [&] { op("aten::_attention_forward", told.kernel, told.us, {}, told.launch); },
        operands(tensors, "[\"False\"]"));
    return *this;
  }

  // Told twice, as two steps.
  static std::optional<TraceFinding> of_two_steps(std::optional<TraceFinding> (*find)(const Analysis&),
                                                  const std::function<void(ToldModel&)>& step) {
    ToldModel model;
    for (const std::string_view name : {"ProfilerStep#1", "ProfilerStep#2"})
      model.script.range(name, [&] { step(model); });
    return model.found(find);
  }
  std::optional<TraceFinding> found(std::optional<TraceFinding> (*find)(const Analysis&)) {
    Recording recording = script.finish();
    recording.device_names = {device};
    return find(analyse(recording));
  }

 private:
  OperandTexts operands(const std::vector<ToldTensor>& tensors, const std::string& values = "") {
    std::vector<std::string> shapes, strides, types;
    for (const ToldTensor& tensor : tensors) {
      shapes.push_back(json_of(tensor.shape));
      strides.push_back(json_of(tensor.strides.empty() ? dense(tensor.shape) : tensor.strides));
      types.push_back("\"" + tensor.type + "\"");
    }
    return script.operands(fmt::format("[{}]", fmt::join(shapes, ",")), fmt::format("[{}]", fmt::join(types, ",")),
                           fmt::format("[{}]", fmt::join(strides, ",")), values);
  }
};

}  // namespace rung::trace
