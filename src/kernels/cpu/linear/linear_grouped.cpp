// linear with constant weights of 4 or 8 bits in groups of columns: one row per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/grouped.hpp"
#include "kernels/cpu/rows.hpp"

namespace rung::cpu {
namespace {

constexpr LinearSlot kGroupedSlots[] = {LinearSlot::w, LinearSlot::group_scale, LinearSlot::group_offset};

// Returns the slot of operand `i` if rows pack it.
std::optional<LinearSlot> packed_slot(const Problem& problem, size_t i) {
  for (const LinearSlot slot : kGroupedSlots)
    if (problem.as<Linear>().slots.at(slot) == static_cast<int>(i)) return slot;
  return std::nullopt;
}

template <const gemm::GroupedKernels& micro>
struct Grouped {
  static void run(const Call& call) { gemm::run(*static_cast<const gemm::GroupedPlan*>(call.state), call); }
  static size_t scratch_bytes(const Problem& problem, const Machine&) {
    return gemm::GroupedPlan(problem, micro).x_bytes();
  }
  static size_t packed_bytes(const Problem& problem, const Machine&, size_t i) {
    const auto slot = packed_slot(problem, i);
    return slot ? gemm::packed_bytes(gemm::GroupedPlan(problem, micro), *slot) : 0;
  }
  static void pack(const Problem& problem, const Machine&, size_t i, const void* from, void* to) {
    if (const auto slot = packed_slot(problem, i)) gemm::pack(gemm::GroupedPlan(problem, micro), *slot, from, to);
  }
  static std::shared_ptr<void> prepare(const Problem& problem, const Machine&) {
    return std::make_shared<gemm::GroupedPlan>(problem, micro);
  }
  static Split split(const Problem& problem, const Machine&) {
    return {std::max(1, problem.threads) * gemm::GroupedPlan(problem, micro).pieces, 2};
  }
};

// Rows of x for which weights of a file in 4 bits, which may become floats, stay as they are: without instructions for
// bytes, numbers are made floats once for each tile of rows. Measured with AVX2 at [5632,2048] in groups of 32: one row
// 29 -> 16 ms, 64 rows 217 -> 428.
constexpr int64_t kMostRowsAsFloats = gemm::GroupedKernels::kMostRows;

Verdict supports_grouped(const Problem& problem, bool has_instructions, const char* instructions,
                         int64_t most_rows = kMostRowsAsFloats) {
  if (!has_instructions) return reject(std::string("the processor has no ") + instructions);
  const Operand* groups = problem.linear_operand(LinearSlot::group_scale);
  if (!groups) return reject("w has no groups of columns with scales of their own");
  const int64_t k = problem.inputs[0].shape.back(), group = k / groups->shape.back();
  if (group % gemm::kRun) return reject(fmt::format("groups of {}, wanted a multiple of {}", group, gemm::kRun));
  if (const int64_t rows = problem.output.rows(); groups->dtype == DType::f32 && rows > most_rows)
    return reject(fmt::format("{} rows beside scales of f32, wanted at most {}", rows, most_rows));
  for (const LinearSlot slot : kGroupedSlots)
    if (const Operand* operand = problem.linear_operand(slot); operand && !operand->constant)
      return reject(fmt::format("{} is not constant, so it cannot be packed ahead", name_of(slot)));
  if (auto verdict = supports_slots(problem, kSlotsOfGroups); !verdict) return verdict;
  return supports_linear_operands(
      problem, [](DType type) { return is_computed_float(type) || type == DType::i8 || type == DType::u8; });
}
Verdict supports_grouped_vnni(const Problem& problem, const Machine& cpu) {
  return supports_grouped(problem, cpu.avx512_vnni, "AVX-512 VNNI", INT64_MAX);
}
Verdict supports_grouped_avx512(const Problem& problem, const Machine& cpu) {
  return supports_grouped(problem, cpu.avx512, "AVX-512");
}
Verdict supports_grouped_avx2(const Problem& problem, const Machine& cpu) {
  return supports_grouped(problem, cpu.avx2, "AVX2");
}

template <const gemm::GroupedKernels& micro>
constexpr Kernel grouped_row(std::string_view name, decltype(Kernel::supports) verdict) {
  using G = Grouped<micro>;
  return {.name = name,
          .op = "linear",
          .supports = verdict,
          .run = G::run,
          .scratch_bytes = G::scratch_bytes,
          .packed_bytes = G::packed_bytes,
          .pack = G::pack,
          .prepare = G::prepare,
          .split = G::split};
}

}  // namespace

extern const Kernel linear_grouped_avx512_vnni =
    grouped_row<gemm::kGroupedAvx512Vnni>("linear_grouped_avx512_vnni", supports_grouped_vnni);
extern const Kernel linear_grouped_avx512 =
    grouped_row<gemm::kGroupedAvx512>("linear_grouped_avx512", supports_grouped_avx512);
extern const Kernel linear_grouped_avx2 = grouped_row<gemm::kGroupedAvx2>("linear_grouped_avx2", supports_grouped_avx2);

}  // namespace rung::cpu
