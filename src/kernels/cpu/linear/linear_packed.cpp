// linear with constant weights in our own packed layout: one row per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/packed.hpp"
#include "kernels/cpu/linear/panel_layout.hpp"

namespace rung::cpu {
namespace {

// Chooses a row's micro-kernels by the weights' type and the panel's width; null where it has none.
using Choose = const gemm::MicroKernels* (*)(const Problem&);

bool narrow_weights(const Problem& problem) { return problem.inputs[1].dtype == DType::bf16; }

bool byte_weights(const Problem& problem) { return problem.inputs[1].dtype == DType::i8; }

// Returns whether operand i is the weights of outliers.
bool is_outliers(const Problem& problem, size_t i) {
  return problem.as<Linear>().slots.at(LinearSlot::w_outliers) == static_cast<int>(i);
}

const gemm::MicroKernels* choose_avx2(const Problem& problem) {
  if (byte_weights(problem)) return &gemm::kAvx2Int8x16;
  if (narrow_weights(problem)) return &gemm::kAvx2Bf16x16;
  return problem.param("columns", 24) == 16 ? &gemm::kAvx2F32x16 : &gemm::kAvx2F32x24;
}
const gemm::MicroKernels* choose_avx512(const Problem& problem) {
  const bool wide = problem.param("columns", 32) == 48;
  if (byte_weights(problem)) return wide ? &gemm::kAvx512Int8x48 : &gemm::kAvx512Int8x32;
  if (narrow_weights(problem)) return wide ? &gemm::kAvx512Bf16x48 : &gemm::kAvx512Bf16x32;
  return wide ? &gemm::kAvx512F32x48 : &gemm::kAvx512F32x32;
}
const gemm::MicroKernels* choose_avx512_bf16(const Problem& problem) {
  return problem.param("columns", 32) == 48 ? &gemm::kAvx512DotBf16x48 : &gemm::kAvx512DotBf16x32;
}
const gemm::MicroKernels* choose_amx_bf16(const Problem&) { return &gemm::kAmxBf16x32; }
const gemm::MicroKernels* choose_avx512_vnni(const Problem& problem) {
  return problem.param("columns", 32) == 48 ? &gemm::kAvx512DotInt8x48 : &gemm::kAvx512DotInt8x32;
}
const gemm::MicroKernels* choose_amx_int8(const Problem&) { return &gemm::kAmxInt8x32; }

template <Choose choose>
struct Packed {
  static void run(const Call& call) { gemm::run(*static_cast<const gemm::PackedPlan*>(call.state), call); }
  static size_t scratch_bytes(const Problem& problem, const Machine& cpu) {
    const gemm::PackedPlan plan(problem, *choose(problem), cpu);
    return plan.copy_bytes + plan.sums_bytes * static_cast<size_t>(std::max(1, problem.threads));
  }
  static size_t packed_bytes(const Problem& problem, const Machine& cpu, size_t i) {
    if (i != 1 && !is_outliers(problem, i)) return 0;
    const gemm::PackedPlan plan(problem, *choose(problem), cpu);
    return i == 1 ? gemm::packed_bytes(plan) : gemm::packed_outlier_bytes(plan);
  }
  static void pack(const Problem& problem, const Machine& cpu, size_t i, const void* from, void* to) {
    const gemm::PackedPlan plan(problem, *choose(problem), cpu);
    i == 1 ? gemm::pack(plan, from, to) : gemm::pack_outliers(plan, problem.inputs[i].dtype, from, to);
  }
  static KernelChoice gathered_by(const Problem& problem, const Machine&, size_t i) {
    if (i != 1 || byte_weights(problem) || problem.as<Linear>().epilogue.gated) return {};
    return {"gather_panels", gemm::panel_params(*choose(problem))};
  }
  static std::shared_ptr<void> prepare(const Problem& problem, const Machine& cpu) {
    return std::make_shared<gemm::PackedPlan>(problem, *choose(problem), cpu);
  }
  static Split split(const Problem& problem, const Machine& cpu) {
    return gemm::PackedPlan(problem, *choose(problem), cpu).split(std::max(1, problem.threads));
  }
};

bool floats_or_bytes(DType type) { return is_computed_float(type) || type == DType::i8; }

Verdict supports_packed(const Problem& problem, bool has_instructions, const char* instructions,
                        bool (*known)(DType) = floats_or_bytes) {
  if (!has_instructions) return reject(std::string("the processor has no ") + instructions);
  if (!problem.inputs[1].constant) return reject("w is not constant, so it cannot be packed ahead");
  if (const Operand* outliers = problem.linear_operand(LinearSlot::w_outliers); outliers && !outliers->constant)
    return reject("w_outliers is not constant, so it cannot be packed ahead");
  if (auto verdict = supports_slots(problem, kSlotsOfOutliers); !verdict) return verdict;
  if (problem.output.dtype == DType::i8) return reject("result is i8");
  return supports_linear_operands(problem, known);
}
Verdict wants_bf16(const Problem& problem, Verdict verdict) {
  if (verdict && !narrow_weights(problem)) return reject("w is not bf16");
  if (verdict && problem.inputs[0].dtype == DType::f16) return reject("x is f16, which bf16 would round");
  return verdict;
}
// A bias of integers is a part of the sums; other operands are not.
Verdict supports_integers(const Problem& problem) {
  const LinearSlots& slots = problem.as<Linear>().slots;
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if (problem.inputs[i].dtype == DType::i32 && slots.at(LinearSlot::bias) != static_cast<int>(i))
      return reject(fmt::format("operand {} is i32", i));
  return accept();
}
// Rows that sum products of bytes in i32.
Verdict supports_bytes(const Problem& problem, bool has_instructions, const char* instructions) {
  Verdict verdict = supports_packed(problem, has_instructions, instructions,
                                    [](DType type) { return floats_or_bytes(type) || type == DType::i32; });
  constexpr int64_t kMostDepth = (INT64_C(1) << 31) / (128 * 128) - 1;
  if (verdict) verdict = supports_integers(problem);
  if (verdict && !(byte_weights(problem) && problem.inputs[0].dtype == DType::i8)) return reject("x or w is not i8");
  if (const int64_t k = problem.inputs[0].shape.back(); verdict && k > kMostDepth)
    return reject(fmt::format("sums of {} products, wanted at most {}", k, kMostDepth));
  return verdict;
}

Verdict supports_avx2(const Problem& problem, const Machine& cpu) { return supports_packed(problem, cpu.avx2, "AVX2"); }
Verdict supports_avx512(const Problem& problem, const Machine& cpu) {
  return supports_packed(problem, cpu.avx512, "AVX-512");
}
Verdict supports_avx512_bf16(const Problem& problem, const Machine& cpu) {
  return wants_bf16(problem, supports_packed(problem, cpu.avx512_bf16, "AVX-512 BF16"));
}
Verdict supports_amx_bf16(const Problem& problem, const Machine& cpu) {
  return wants_bf16(problem, supports_packed(problem, cpu.amx_bf16, "AMX BF16"));
}
Verdict supports_avx512_vnni(const Problem& problem, const Machine& cpu) {
  return supports_bytes(problem, cpu.avx512_vnni, "AVX-512 VNNI");
}
Verdict supports_amx_int8(const Problem& problem, const Machine& cpu) {
  return supports_bytes(problem, cpu.amx_int8, "AMX INT8");
}

bool takes_strassen(const Problem& problem) {
  const bool is_f32 = problem.inputs[0].dtype == DType::f32 && problem.inputs[1].dtype == DType::f32;
  return is_f32 && !problem.as<Linear>().epilogue.gated && gemm::is_worth_strassen(LinearShape(problem));
}

// A k_block of 0 is all of k; row_threads of 0 lets the plan choose how many threads share the rows.
std::vector<Tunable> tunables_for(const Problem& problem, std::vector<int64_t> columns) {
  std::vector<Tunable> list;
  if (columns.size() > 1) list.push_back({"columns", std::move(columns)});
  constexpr int64_t kBlock = gemm::kUsualBlock;
  if (problem.inputs[0].shape.back() > kBlock / 4)
    list.push_back({"k_block", {kBlock, 0, kBlock / 2, kBlock / 4, 2 * kBlock}});
  if (problem.threads > 1) list.push_back({"row_threads", {0, 1, problem.threads}});
  list.push_back({"prefetch", {1, 0}});
  if (takes_strassen(problem)) list.push_back({"strassen", {0, 1}});
  return list;
}
std::vector<Tunable> tunables_avx2(const Problem& problem, const Machine&) {
  const bool is_wide = problem.inputs[1].dtype == DType::f32 || problem.inputs[1].dtype == DType::f16;
  return tunables_for(problem, is_wide ? std::vector<int64_t>{24, 16} : std::vector<int64_t>{16});
}
std::vector<Tunable> tunables_avx512(const Problem& problem, const Machine&) { return tunables_for(problem, {32, 48}); }
std::vector<Tunable> tunables_amx(const Problem& problem, const Machine&) { return tunables_for(problem, {32}); }

template <Choose choose>
constexpr Kernel row(std::string_view name, decltype(Kernel::supports) supports, decltype(Kernel::tunables) tunables) {
  using P = Packed<choose>;
  return {.name = name,
          .op = "linear",
          .supports = supports,
          .run = P::run,
          .scratch_bytes = P::scratch_bytes,
          .packed_bytes = P::packed_bytes,
          .pack = P::pack,
          .prepare = P::prepare,
          .tunables = tunables,
          .split = P::split,
          .gathered_by = P::gathered_by};
}

}  // namespace

extern const Kernel linear_avx2 = row<choose_avx2>("linear_avx2", supports_avx2, tunables_avx2);
extern const Kernel linear_avx512 = row<choose_avx512>("linear_avx512", supports_avx512, tunables_avx512);
extern const Kernel linear_avx512_bf16 =
    row<choose_avx512_bf16>("linear_avx512_bf16", supports_avx512_bf16, tunables_avx512);
extern const Kernel linear_amx_bf16 = row<choose_amx_bf16>("linear_amx_bf16", supports_amx_bf16, tunables_amx);
extern const Kernel linear_avx512_vnni =
    row<choose_avx512_vnni>("linear_avx512_vnni", supports_avx512_vnni, tunables_avx512);
extern const Kernel linear_amx_int8 = row<choose_amx_int8>("linear_amx_int8", supports_amx_int8, tunables_amx);

}  // namespace rung::cpu
