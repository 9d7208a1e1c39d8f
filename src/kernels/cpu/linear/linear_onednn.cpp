// linear by oneDNN's matmul: each thread runs its own primitive over its slice of the columns or rows. The library does
// activation and residual, or our own code does them apart, on the library's result. Products of i8 are sums of i32
// there, which our own code scales.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/best.hpp"
#include "kernels/cpu/linear/onednn.hpp"
#include "kernels/cpu/linear/packed.hpp"

namespace rung::cpu {
namespace {

using gemm::OneDnnMatmul;
using gemm::OneDnnOperands;

// Returns whether threads share the rows: the default only where each would get less than a few vectors of columns.
bool by_rows(const Problem& problem) {
  const int64_t columns = problem.output.shape.back();
  return problem.param("by_rows", columns < 64 * problem.threads ? 1 : 0) != 0;
}

bool of_bytes(const Problem& problem) { return problem.inputs[0].dtype == DType::i8; }
bool has_epilogue(const Problem& problem) {
  const auto& op = problem.as<Linear>();
  return op.epilogue.activation != Activation::none || op.has(LinearSlot::residual);
}
// Returns whether our own code does the epilogue: the library's plain product may be faster, and then a fusion should
// not cost more than its ops did alone.
bool apart(const Problem& problem) {
  return of_bytes(problem) || (has_epilogue(problem) && problem.param("apart", 0) != 0);
}
DType sums_type(const Problem& problem) { return of_bytes(problem) ? DType::i32 : DType::f32; }

// Returns whether sums need scratch, as they are rounded only after the epilogue.
bool sums_in_scratch(const Problem& problem) { return apart(problem) && problem.output.dtype != DType::f32; }
size_t scratch_bytes(const Problem& problem, const Machine&) {
  const LinearShape shape(problem);
  return sums_in_scratch(problem) ? static_cast<size_t>(shape.m * shape.n) * sizeof(float) : 0;
}

struct Slice {
  Range rows, columns;
};
Slice slice(const Problem& problem, int thread) {
  const LinearShape shape(problem);
  if (by_rows(problem)) return {share(shape.m, thread, problem.threads), {0, shape.n}};
  return {{0, shape.m}, share(shape.n, thread, problem.threads, 16)};
}

dnnl::memory::desc plain_weights(const Problem& problem, Range columns) {
  const int64_t k = problem.inputs[0].shape.back();
  return gemm::onednn_desc(problem.inputs[1].dtype, Shape{k, columns.end - columns.begin}, Strides{1, k});
}

OneDnnOperands problem_for(const Problem& problem, const Slice& part) {
  const LinearShape shape(problem);
  const int64_t m = part.rows.end - part.rows.begin, n = part.columns.end - part.columns.begin;
  OneDnnOperands p;
  p.x = gemm::onednn_desc(problem.inputs[0].dtype, Shape{m, shape.k}, Strides{problem.inputs[0].row_stride(), 1});
  p.w = plain_weights(problem, part.columns);
  if (problem.inputs[1].constant)
    p.w = {{shape.k, n}, *gemm::onednn_type(problem.inputs[1].dtype), dnnl::memory::format_tag::any};
  const DType out = apart(problem) ? sums_type(problem) : problem.output.dtype;
  p.out = gemm::onednn_desc(out, Shape{m, n}, Strides{shape.n, 1});
  if (const Operand* bias = of_bytes(problem) ? nullptr : problem.linear_operand(LinearSlot::bias))
    p.bias = gemm::onednn_desc(bias->dtype, Shape{1, n}, Strides{n, 1});
  if (apart(problem)) return p;
  p.activation = problem.as<Linear>().epilogue.activation;
  if (const Operand* residual = problem.linear_operand(LinearSlot::residual))
    p.residual = gemm::onednn_desc(residual->dtype, Shape{m, n}, Strides{residual->row_stride(), 1});
  return p;
}

bool empty(const Slice& s) { return s.rows.begin == s.rows.end || s.columns.begin == s.columns.end; }

// The parts, one per thread; a part's weights lie `weights_at` bytes into the packed operand. Threads that share rows
// share one copy, but where a thread has fewer rows, the library may want another layout, which needs its own copy.
struct Prepared {
  struct Part {
    Slice slice;
    std::unique_ptr<OneDnnMatmul> matmul;
    size_t weights_at = 0;
  };
  std::vector<Part> parts;
  size_t packed_bytes = 0;

  // Returns the first part whose weights have this layout; null: none.
  const Part* with_layout(const dnnl::memory::desc& weights) const {
    const auto found =
        std::ranges::find_if(parts, [&](const Part& part) { return part.matmul && part.matmul->weights() == weights; });
    return found == parts.end() ? nullptr : &*found;
  }

  explicit Prepared(const Problem& problem) {
    for (int thread = 0; thread < problem.threads; ++thread) {
      Part part{slice(problem, thread), nullptr};
      if (!empty(part.slice)) {
        part.matmul = std::make_unique<OneDnnMatmul>(problem_for(problem, part.slice));
        if (const Part* shared = by_rows(problem) ? with_layout(part.matmul->weights()) : nullptr) {
          part.weights_at = shared->weights_at;
        } else {
          part.weights_at = packed_bytes;
          packed_bytes += (part.matmul->weights().get_size() + 63) / 64 * 64;
        }
      }
      parts.push_back(std::move(part));
    }
  }
};

// Applies the epilogue of `apart` to the sums, which lie where the library wrote them.
void finish(const Call& call, const Slice& slice, float* sums) {
  const Problem& problem = call.problem;
  const LinearShape shape(problem);
  gemm::Finish f = gemm::finish_of(problem);
  f.sums = sums, f.width = shape.n, f.sums_are_integers = of_bytes(problem);
  gemm::FinishOperands operands(call);
  if (!of_bytes(problem)) operands.bias = nullptr;  // the library has added it
  gemm::place(f, operands, slice.rows, slice.columns, shape.n);
  gemm::best_f32(cpu_info())->finish(f);
}

void run(const Call& call) {
  const auto& part = static_cast<const Prepared*>(call.state)->parts[static_cast<size_t>(call.part)];
  if (!part.matmul) return;
  const LinearShape shape(call.problem);
  const int64_t row = part.slice.rows.begin, column = part.slice.columns.begin;
  OneDnnMatmul::Addresses a;
  a.x = gemm::element_of(call, LinearSlot::x, row * call.problem.inputs[0].row_stride());
  a.w = call.problem.inputs[1].constant ? call.in<std::byte>(1) + part.weights_at
                                        : gemm::element_of(call, LinearSlot::w, column * shape.k);
  a.out = call.out<std::byte>() + (row * shape.n + column) * static_cast<int64_t>(size_of(call.problem.output.dtype));
  if (sums_in_scratch(call.problem)) a.out = static_cast<float*>(call.scratch) + row * shape.n + column;
  if (!of_bytes(call.problem)) a.bias = gemm::element_of(call, LinearSlot::bias, column);
  if (apart(call.problem)) return part.matmul->run(a), finish(call, part.slice, static_cast<float*>(a.out));
  if (const Operand* residual = call.problem.linear_operand(LinearSlot::residual))
    a.residual = gemm::element_of(call, LinearSlot::residual, row * residual->row_stride() + column);
  part.matmul->run(a);
}

// Checks the operands of a product of i8.
Verdict supports_bytes(const Problem& problem, const Machine& cpu) {
  if (!cpu.avx512_vnni) return reject("the processor has no AVX-512 VNNI, without which oneDNN's sums of i8 saturate");
  if (Verdict slots = supports_slots(problem, kSlotsOfBytes); !slots) return slots;
  if (problem.output.dtype == DType::i8) return reject("result is i8");
  return supports_linear_operands(problem, [](DType type) { return f32_or_bf16(type) || type == DType::i8; });
}

Verdict supports(const Problem& problem, const Machine& cpu) {
  if (problem.as<Linear>().epilogue.gated) return reject("oneDNN has no gated product");
  Verdict basic = of_bytes(problem) ? supports_bytes(problem, cpu) : supports_linear(problem, f32_or_bf16);
  if (!basic) return basic;
  if (Verdict library = supports_library(problem); !library) return library;
  const Slice first = slice(problem, problem.threads - 1);
  return empty(first) ? reject("nothing to multiply") : gemm::onednn_supports(problem_for(problem, first));
}

size_t packed_bytes(const Problem& problem, const Machine&, size_t i) {
  return i == 1 ? Prepared(problem).packed_bytes : 0;
}

void pack(const Problem& problem, const Machine&, size_t, const void* from, void* to) {
  const Prepared prepared(problem);
  const int64_t row_bytes = problem.inputs[0].shape.back() * static_cast<int64_t>(size_of(problem.inputs[1].dtype));
  for (const auto& part : prepared.parts)
    if (part.matmul)
      gemm::onednn_reorder(plain_weights(problem, part.slice.columns),
                           static_cast<const std::byte*>(from) + part.slice.columns.begin * row_bytes,
                           part.matmul->weights(), static_cast<std::byte*>(to) + part.weights_at);
}

std::shared_ptr<void> prepare(const Problem& problem, const Machine&) { return std::make_shared<Prepared>(problem); }

Verdict supports_apart(Problem problem, const Machine& cpu) {
  if (of_bytes(problem)) return reject("it is always apart");
  if (!has_epilogue(problem)) return reject("nothing follows the product");
  if (!gemm::best_f32(cpu)) return reject("the processor has no AVX2");
  problem.params["apart"] = 1;
  return gemm::onednn_supports(problem_for(problem, slice(problem, problem.threads - 1)));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& cpu) {
  std::vector<Tunable> list;
  const int64_t first = by_rows(problem) ? 1 : 0;
  if (problem.threads > 1) list.push_back({"by_rows", {first, 1 - first}});
  if (supports_apart(problem, cpu)) list.push_back({"apart", {0, 1}});
  return list;
}

}  // namespace

extern const Kernel linear_onednn = {.name = "linear_onednn",
                                     .op = "linear",
                                     .supports = supports,
                                     .run = run,
                                     .scratch_bytes = scratch_bytes,
                                     .packed_bytes = packed_bytes,
                                     .pack = pack,
                                     .prepare = prepare,
                                     .tunables = tunables,
                                     .role = Role::library,
                                     .library = "onednn"};

}  // namespace rung::cpu
