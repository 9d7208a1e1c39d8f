// Layers of Pi0 (three cameras, 48 prompt tokens, 50 actions) and of a small BERT on every GPU row that takes them.
// SPDX-License-Identifier: Apache-2.0
#include "gpu_rows.hpp"

#include <algorithm>
#include <cstdio>

#include "device/gpu/peaks.hpp"
#include "ir/text.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/params_text.hpp"
#include "kernels/problem_key.hpp"
#include "measure/cost.hpp"
#include "tune/gpu_trial.hpp"

namespace rung {
namespace {

constexpr const char* kPolicy[] = {
    // the action expert
    "y = linear(x:bf16[1,51,1024], w:bf16[2560,1024], out=bf16)",
    "y = linear(x:bf16[1,51,2048], w:bf16[1024,2048], r:f32[1,51,1024], slots=residual)",
    "y = linear(x:bf16[1,51,1024], w:bf16[8192,1024], gated=true, activation=gelu_tanh, out=bf16)",
    "y = linear(x:bf16[1,51,4096], w:bf16[1024,4096], r:f32[1,51,1024], slots=residual)",
    "q: bf16[1,51,2560] = input()\np: bf16[1,816,2560] = input()\n"
    "y = attention(reshape(slice(q, axis=2, begin=0, end=2048), shape=[1,51,8,256]), mask:f32[1,1,51,867], "
    "reshape(slice(p, axis=2, begin=2048, end=2304), shape=[1,816,1,256]), "
    "reshape(slice(p, axis=2, begin=2304, end=2560), shape=[1,816,1,256]), "
    "reshape(slice(q, axis=2, begin=2048, end=2304), shape=[1,51,1,256]), "
    "reshape(slice(q, axis=2, begin=2304, end=2560), shape=[1,51,1,256]), slots=mask, segments=2, scale=0.0625)",
    "y = rope(x:bf16[1,51,9,256], c:bf16[1,51,1,256], s:bf16[1,51,1,256])",
    "y = rms_norm(x:f32[1,51,1024], w:f32[1024], weight_offset=1, out=bf16)",
    // its linears with the norms and the rotary embedding folded in
    "y = linear(x:bf16[1,51,1024], w:bf16[2560,1024], c:f32[1,51,256], s:f32[1,51,256], q:f32[1,51,32], "
    "rotated_heads=9, slots=cos+sin+squares, out=bf16)",
    "y = linear(x:bf16[1,51,2048], w:bf16[1024,2048], r:f32[1,51,1024], scale:f32[1024], "
    "slots=residual+norm_weight, norm_run=32)",
    "y = linear(x:bf16[1,51,1024], w:bf16[8192,1024], q:f32[1,51,32], gated=true, activation=gelu_tanh, "
    "slots=squares, out=bf16)",
    "y = linear(x:bf16[1,51,4096], w:bf16[1024,4096], r:f32[1,51,1024], scale:f32[1024], "
    "slots=residual+norm_weight, norm_run=32)",
    // its f32 heads
    "y = linear(x:f32[1,50,2048], w:f32[1024,2048], wb:f32[1024], slots=bias)",
    "y = linear(x:f32[1,50,1024], w:f32[1024,1024], wb:f32[1024], slots=bias)",
    "y = linear(x:f32[1,50,1024], w:f32[32,1024], wb:f32[32], slots=bias)",
    // the prefix
    "y = linear(x:bf16[1,816,2048], w:bf16[2560,2048], out=bf16)",
    "y = linear(x:bf16[1,816,2048], w:bf16[2560,2048], c:f32[1,816,256], s:f32[1,816,256], slots=cos+sin, "
    "rotated_heads=9, "
    "out=bf16)",
    "y = linear(x:bf16[1,816,2048], w:bf16[2048,2048], r:f32[1,816,2048], slots=residual)",
    "y = linear(x:bf16[1,816,2048], w:bf16[32768,2048], gated=true, activation=gelu_tanh, out=bf16)",
    "y = linear(x:bf16[1,816,16384], w:bf16[2048,16384], r:f32[1,816,2048], slots=residual)",
    "q: bf16[1,816,2560] = input()\n"
    "y = attention(reshape(slice(q, axis=2, begin=0, end=2048), shape=[1,816,8,256]), mask:f32[1,1,816,816], "
    "reshape(slice(q, axis=2, begin=2048, end=2304), shape=[1,816,1,256]), "
    "reshape(slice(q, axis=2, begin=2304, end=2560), shape=[1,816,1,256]), slots=mask, scale=0.0625)",
    "y = rms_norm(x:bf16[1,816,2048], w:f32[2048], weight_offset=1, out=bf16)",
    "y = cos(x:f32[1,1,816,256])",
    "y = select(keep:bool[1,1,816,816], a:f32[], b:f32[])",
    // SigLIP
    "y = linear(x:bf16[3,256,1152], w:bf16[3456,1152], wb:bf16[3456], slots=bias, out=bf16)",
    "y = linear(x:bf16[3,256,1152], w:bf16[1152,1152], wb:bf16[1152], r:bf16[3,256,1152], slots=bias+residual, "
    "out=bf16)",
    "y = linear(x:bf16[3,256,1152], w:bf16[4352,1152], wb:bf16[4352], slots=bias, activation=gelu_tanh, out=bf16)",
    "y = linear(x:bf16[3,256,4352], w:bf16[1152,4352], wb:bf16[1152], r:bf16[3,256,1152], slots=bias+residual, "
    "out=bf16)",
    "q: bf16[3,256,3456] = input()\n"
    "y = attention(reshape(slice(q, axis=2, begin=0, end=1152), shape=[3,256,16,72]), "
    "reshape(slice(q, axis=2, begin=1152, end=2304), shape=[3,256,16,72]), "
    "reshape(slice(q, axis=2, begin=2304, end=3456), shape=[3,256,16,72]), scale=0.11785113)",
    "y = layer_norm(x:bf16[3,256,1152], w:bf16[1152], wb:bf16[1152], eps=1e-06, out=bf16)",
};
// The same linears with products of 8 bits.
constexpr const char* kPolicyInBytes[] = {
    "y = linear(x:f8e4m3fn[1,816,2048], w:f8e4m3fn[32768,2048], wscale:f32[32768], gated=true, activation=gelu_tanh, "
    "slots=scale, out=f8e4m3fn)",
    "y = linear(x:f8e4m3fn[1,816,2048], w:f8e4m3fn[32768,2048], wscale:f32[32768], gated=true, activation=gelu_tanh, "
    "slots=scale, out=bf16)",
    "y = linear(x:f8e4m3fn[1,816,16384], w:f8e4m3fn[2048,16384], r:f32[1,816,2048], wscale:f32[2048], "
    "slots=residual+scale)",
    "y = linear(x:f8e4m3fn[1,816,16384], w:f8e4m3fn[2048,16384], r:f32[1,816,2048], wscale:f32[2048], "
    "xscale:f32[1,816], slots=residual+scale+x_scale)",
    "y = linear(x:f8e4m3fn[1,816,2048], w:f8e4m3fn[2560,2048], wscale:f32[2560], slots=scale, out=bf16)",
    "y = linear(x:f8e4m3fn[1,816,2048], w:f8e4m3fn[2560,2048], c:f32[1,816,256], s:f32[1,816,256], wscale:f32[2560], "
    "slots=cos+sin+scale, rotated_heads=9, out=bf16)",
    "y = linear(x:f8e4m3fn[1,816,2048], w:f8e4m3fn[2048,2048], r:f32[1,816,2048], wscale:f32[2048], "
    "xscale:f32[1,816], slots=residual+scale+x_scale)",
    "y = linear(x:f8e4m3fn[3,256,1152], w:f8e4m3fn[3456,1152], wb:bf16[3456], wscale:f32[3456], slots=bias+scale, "
    "out=bf16)",
    "y = linear(x:f8e4m3fn[3,256,1152], w:f8e4m3fn[1152,1152], wb:bf16[1152], r:bf16[3,256,1152], wscale:f32[1152], "
    "xscale:f32[3,256], slots=bias+residual+scale+x_scale, out=bf16)",
    "y = linear(x:f8e4m3fn[3,256,1152], w:f8e4m3fn[4352,1152], wb:bf16[4352], wscale:f32[4352], slots=bias+scale, "
    "activation=gelu_tanh, out=f8e4m3fn)",
    "y = linear(x:f8e4m3fn[3,256,4352], w:f8e4m3fn[1152,4352], wb:bf16[1152], r:bf16[3,256,1152], wscale:f32[1152], "
    "slots=bias+residual+scale, out=bf16)",
    "y = linear(x:f8e4m3fn[1,51,1024], w:f8e4m3fn[2560,1024], c:f32[1,51,256], s:f32[1,51,256], q:f32[1,51,32], "
    "wscale:f32[2560], rotated_heads=9, slots=cos+sin+squares+scale, out=bf16)",
    "y = linear(x:f8e4m3fn[1,51,2048], w:f8e4m3fn[1024,2048], r:f32[1,51,1024], wn:f32[1024], wscale:f32[1024], "
    "xscale:f32[1,51], slots=residual+norm_weight+scale+x_scale, norm_run=32, normed=f8e4m3fn)",
    "y = linear(x:f8e4m3fn[1,51,1024], w:f8e4m3fn[8192,1024], q:f32[1,51,32], wscale:f32[8192], gated=true, "
    "activation=gelu_tanh, slots=squares+scale, out=f8e4m3fn)",
    "y = linear(x:f8e4m3fn[1,51,4096], w:f8e4m3fn[1024,4096], r:f32[1,51,1024], wn:f32[1024], wscale:f32[1024], "
    "slots=residual+norm_weight+scale, norm_run=32, normed=f8e4m3fn)",
    "y = linear(x:bf16[1,1,4096], w:f8e4m3fn[14336,4096], wscale:f32[14336], slots=scale, out=bf16)",
    "y = linear(x:bf16[1,1,4096], w:i8[14336,4096], wscale:f32[14336], slots=scale, out=bf16)",
    "y = linear(x:bf16[1,1,4096], w:bf16[14336,4096], out=bf16)",
    "y = quantize(x:bf16[1,816,2048])",
    "y = quantize(x:bf16[1,816,16384])",
    "y = quantize(x:bf16[1,51,4096])",
    "y = rms_norm(x:f32[1,816,2048], w:f32[2048], weight_offset=1, out=f8e4m3fn)",
    "y = layer_norm(x:bf16[3,256,1152], w:f32[1152], wb:f32[1152], eps=1e-06, out=f8e4m3fn)",
};
constexpr const char* kEncoder[] = {
    "y = linear(x:f32[1,128,384], w:f32[1536,384], wb:f32[1536], slots=bias, activation=gelu)",
    "y = linear(x:f32[1,128,1536], w:f32[384,1536], wb:f32[384], slots=bias)",
    "y = attention(q:bf16[1,128,12,32], k:bf16[1,128,12,32], v:bf16[1,128,12,32], scale=0.17677669)",
    "y = layer_norm(x:f32[1,128,384], w:f32[384], wb:f32[384])",
};

constexpr size_t kWorkingSet = size_t{4} << 30;  // far above any cache: weights are always cold
constexpr double kSecondsEach = 0.02;

Result<double> time_us(const GpuTrialOperands& operands, const KernelCandidate& candidate) {
  RUNG_TRY(GpuTrial trial, GpuTrial::make(operands, candidate));
  RUNG_TRY(auto warm, trial.results());  // a graph takes no module load and no library set-up
  RUNG_TRY(TrialTime time, trial.time(kSecondsEach));
  return time.us;
}

class TimedRows {
 public:
  TimedRows(const Target& target, std::string filter, const gpu::GpuPeaks& peaks)
      : target_(target), filter_(std::move(filter)), peaks_(peaks) {}

  Status time(const std::string& text) {
    RUNG_TRY(BenchProblem read, read_problem(text, 0));
    std::vector<KernelCandidate> all = candidates_for(target_, read.problem).list;
    std::erase_if(all, [&](const KernelCandidate& c) { return !wanted(*c.kernel); });
    if (all.empty()) return {};
    cost_ = cost_of(read.graph, read.node);
    const DType of_x = read.problem.inputs.empty() ? DType::f32 : read.problem.inputs[0].dtype;
    double flops = (of_x != DType::f32 ? peaks_.gemm_bf16_gflops : peaks_.gemm_f32_gflops) * 1e9;
    if (is_quantised(of_x)) flops *= 2;  // matrix units take two elements of 8 bits for one of 16
    floor_us_ = floor_seconds(cost_, flops, peaks_.read_gbps * 1e9) * 1e6;
    std::printf("%s\n", problem_key(read.problem).c_str());
    RUNG_TRY(GpuTrialOperands operands, GpuTrialOperands::make(target_, read.problem, kWorkingSet));
    for (const KernelCandidate& candidate : all)
      if (candidate.params.empty()) time_row(operands, *candidate.kernel, all);
    return {};
  }

 private:
  bool wanted(const Kernel& row) const { return row.name.find(filter_) != std::string_view::npos || row.op == filter_; }

  // Its defaults, and its fastest other setting where that is faster.
  void time_row(const GpuTrialOperands& operands, const Kernel& row, const std::vector<KernelCandidate>& all) const {
    auto us = time_us(operands, {&row, {}});
    if (!us) return (void)std::printf("  %-24s %s\n", row.name.data(), us.error().message.c_str());
    print(row, "", *us);
    double least = *us;
    std::string fastest;
    for (const KernelCandidate& candidate : all) {
      if (candidate.kernel != &row || candidate.params.empty()) continue;
      auto other = time_us(operands, candidate);
      if (other && *other < least) least = *other, fastest = params_text(candidate.params);
    }
    if (!fastest.empty()) print(row, fastest, least);
  }

  void print(const Kernel& row, const std::string& params, double us) const {
    std::printf("  %-24s %-14s %9.2f us, floor %8.2f: %3.0f %% %9.1f GB/s %8.1f TFLOP/s\n", row.name.data(),
                params.c_str(), us, floor_us_, 100 * floor_us_ / us, cost_.bytes / us * 1e-3, cost_.flops / us * 1e-6);
  }

  const Target& target_;
  std::string filter_;
  gpu::GpuPeaks peaks_;
  Cost cost_;            // of the problem in hand
  double floor_us_ = 0;  // the same
};

}  // namespace

Result<BenchProblem> read_problem(const std::string& text, int threads) {
  BenchProblem read;
  RUNG_TRY(read.graph, parse_graph(text));
  read.node = read.graph.outputs()[0].node;
  read.problem = cpu::problem_of(read.graph, read.node, threads);
  for (size_t i = 0; i < read.problem.inputs.size(); ++i) {
    NodeId base = cpu::resolve_view(read.graph, read.graph[read.node].operands[i]).base;
    read.problem.inputs[i].constant = read.graph.as<Input>(base)->name[0] == 'w';
  }
  return read;
}

Status time_gpu_rows(const std::string& device, const std::string& filter, std::vector<std::string> problems) {
  RUNG_TRY(const DeviceWord word, parse_device(device));
  RUNG_TRY(const Target* target, open_target(word));
  RUNG_TRY(gpu::GpuPeaks peaks, gpu::measure_peaks(*target->gpu, target->machine.gpu.preferred_library()));
  std::printf("%s\ncopy %.0f GB/s, GEMM bf16 %.0f TFLOP/s, f32 %.1f TFLOP/s\n", target->fingerprint.c_str(),
              peaks.read_gbps, peaks.gemm_bf16_gflops * 1e-3, peaks.gemm_f32_gflops * 1e-3);
  TimedRows rows(*target, filter, peaks);
  if (problems.empty()) {
    problems.assign(std::begin(kPolicy), std::end(kPolicy));
    problems.insert(problems.end(), std::begin(kPolicyInBytes), std::end(kPolicyInBytes));
    problems.insert(problems.end(), std::begin(kEncoder), std::end(kEncoder));
  }
  for (const std::string& text : problems) RUNG_CHECK(rows.time(text));
  return {};
}

}  // namespace rung
