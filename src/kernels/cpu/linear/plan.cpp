// Plans the cut of a packed linear: blocks of k, chunks of rows, and parts.
// SPDX-License-Identifier: Apache-2.0
#include "base/divide.hpp"
#include "kernels/cpu/linear/packed.hpp"
#include "kernels/cpu/split.hpp"

namespace rung::cpu::gemm {
namespace {

// Returns the size of about equal parts of at most `limit`, a multiple of `grain`.
int64_t even_part(int64_t count, int64_t limit, int64_t grain) {
  int64_t parts = std::max<int64_t>(1, divide_up(count, limit));
  return std::max(grain, round_up(divide_up(count, parts), grain));
}

// Rows whose distance is a multiple of a page fall into the same few cache sets; x is worth copying if it is reused.
bool rows_collide(const PackedPlan& plan) {
  int64_t bytes = plan.from_stride * static_cast<int64_t>(size_of(plan.x_type));
  return bytes % 4096 == 0 && plan.shape.m >= 8 && plan.shape.n >= 256;
}

// Returns the products that a core sums up in the time of one of f32.
int64_t rate_of(const MicroKernels& micro) {
  return micro.sums_are_integers() ? 4 : micro.x_type == DType::bf16 ? 2 : 1;
}

// Chooses the split whose busiest thread takes the fewest cycles for a value of k. Weights come while it multiplies, at
// 1.5 bytes a cycle where several cores read from memory; rows of x, which other threads often wrote, come before,
// at 2. So threads share the rows where each has enough of them: BERT-base at 128 tokens on two cores of an AMD EPYC
// took 115.4 ms where they shared the columns, and takes 110.9.
int64_t choose_row_threads(const PackedPlan& plan, int64_t threads) {
  const MicroKernels& micro = *plan.micro;
  const int64_t x_bytes = static_cast<int64_t>(size_of(micro.x_type)),
                w_bytes = static_cast<int64_t>(size_of(micro.w_type)), products = 16 * rate_of(micro);
  int64_t best = 1, best_cost = INT64_MAX;
  for (int64_t rows = 1; rows <= threads; ++rows) {
    if (threads % rows != 0) continue;
    int64_t m = round_up(divide_up(plan.shape.m, rows), micro.row_grain);
    int64_t n = divide_up(plan.panels, threads / rows) * micro.width * plan.parts;
    int64_t cost = std::max(m * n / products, n * w_bytes * 2 / 3) + m * x_bytes / 2;
    if (cost < best_cost) best = rows, best_cost = cost;
  }
  return best;
}

// Returns about how long one core takes: to multiply, or to read the weights, whichever is longer.
double microseconds(const PackedPlan& plan) {
  constexpr double kReadGbps = 12;
  const auto weights = static_cast<double>(plan.shape.w_rows * plan.shape.k);
  const auto bytes = static_cast<double>(size_of(plan.micro->w_type));
  const double rate = plan.micro->sums_are_integers() ? 4 : plan.micro->w_type == DType::bf16 ? 2 : 1;
  const double multiply = 2 * static_cast<double>(plan.shape.m) * weights / (rate * kCoreGflops);
  return 1e-3 * std::max(multiply, weights * bytes / kReadGbps);
}

// Returns the bytes of x that a chunk of rows keeps in the L2, the weights beside them.
int64_t room_for_x(const Machine& machine) { return static_cast<int64_t>(machine.l2_bytes / 4); }

// Returns the most rows of a chunk. Each chunk reads all weights again; where k is cut into blocks, one block of a
// chunk has to fit.
int64_t most_rows(const PackedPlan& plan, const Machine& machine) {
  constexpr int64_t kFewest = 96, kMost = 256;
  if (plan.k_block >= plan.k_padded) return kMost;
  const int64_t row = plan.k_block * static_cast<int64_t>(size_of(plan.micro->x_type));
  return std::clamp(room_for_x(machine) / row, kFewest, kMost);
}

// Returns the part of k that a chunk of rows keeps in its room: whole blocks.
int64_t slab_of(const PackedPlan& plan, const Machine& machine) {
  const int64_t line = plan.row_chunk * static_cast<int64_t>(size_of(plan.micro->x_type));
  const int64_t room = room_for_x(machine);
  if (line * plan.k_padded <= room) return std::max<int64_t>(plan.k_padded, 1);
  return std::max<int64_t>(1, room / (line * plan.k_block)) * plan.k_block;
}

}  // namespace

Finish finish_of(const Problem& problem) {
  Finish f;
  f.activation = problem.as<Linear>().epilogue.activation;
  f.factor = problem.as<Linear>().epilogue.factor;
  f.out_type = problem.output.dtype;
  f.out_stride = problem.output.shape.back();
  if (const Operand* bias = problem.linear_operand(LinearSlot::bias)) f.bias_type = bias->dtype;
  if (const Operand* residual = problem.linear_operand(LinearSlot::residual))
    f.residual_type = residual->dtype, f.residual_stride = residual->row_stride();
  if (const Operand* outliers = problem.linear_operand(LinearSlot::w_outliers))
    f.outliers = outliers->shape.back(), f.outliers_type = outliers->dtype == DType::bf16 ? DType::bf16 : DType::f32;
  return f;
}

FinishOperands::FinishOperands(const Call& call)
    : bias(address_of(call, LinearSlot::bias)),
      residual(address_of(call, LinearSlot::residual)),
      scale(static_cast<const float*>(address_of(call, LinearSlot::scale))),
      x_scale(static_cast<const float*>(address_of(call, LinearSlot::x_scale))),
      x_outliers(static_cast<const float*>(address_of(call, LinearSlot::x_outliers))),
      out(call.output) {}

void place(Finish& finish, const FinishOperands& operands, Range rows, Range columns, int64_t n) {
  const auto element = [](const void* base, int64_t i, DType type) {
    return base ? static_cast<const std::byte*>(base) + i * static_cast<int64_t>(size_of(type)) : nullptr;
  };
  const int64_t column = columns.begin;
  finish.rows = rows.end - rows.begin, finish.columns = columns.end - column;
  finish.bias = element(operands.bias, column + (finish.gate ? n : 0), finish.bias_type);
  if (finish.gate) finish.gate_bias = element(operands.bias, column, finish.bias_type);
  if (operands.scale) finish.scale = operands.scale + column + (finish.gate ? n : 0);
  if (operands.scale && finish.gate) finish.gate_scale = operands.scale + column;
  if (operands.x_scale) finish.x_scale = operands.x_scale + rows.begin;
  if (operands.x_outliers) finish.x_outliers = operands.x_outliers + rows.begin * finish.outliers;
  finish.residual = element(operands.residual, rows.begin * finish.residual_stride + column, finish.residual_type);
  finish.out = static_cast<std::byte*>(operands.out) +
               (rows.begin * finish.out_stride + column) * static_cast<int64_t>(size_of(finish.out_type));
}

const std::byte* element_of(const Call& call, LinearSlot slot, int64_t element) {
  const Operand* operand = call.problem.linear_operand(slot);
  if (!operand) return nullptr;
  return static_cast<const std::byte*>(address_of(call, slot)) +
         element * static_cast<int64_t>(size_of(operand->dtype));
}

PackedPlan::PackedPlan(const Problem& problem, const MicroKernels& micro_kernels, const Machine& machine)
    : micro(&micro_kernels), shape(problem) {
  const Operand& x = problem.inputs[0];
  const int64_t threads = std::max(1, problem.threads);
  parts = problem.as<Linear>().epilogue.gated ? 2 : 1;
  panels = divide_up(shape.n, micro->width);
  k_padded = round_up(shape.k, micro->depth_grain);
  panel_bytes =
      round_up(micro->head_bytes() + k_padded * micro->width * static_cast<int64_t>(size_of(micro->w_type)), 64);
  from_stride = x.row_stride();
  x_type = x.dtype, w_type = problem.inputs[1].dtype;
  prefetches = problem.param("prefetch", 1) != 0;
  const int64_t k_limit = problem.param("k_block", kUsualBlock);
  k_block =
      even_part(k_padded, k_limit > 0 ? k_limit : std::max<int64_t>(k_padded, 1), std::max(32, micro->depth_grain));
  const int64_t row_threads_wanted = problem.param("row_threads", 0);
  row_threads = row_threads_wanted > 0 && threads % row_threads_wanted == 0 ? row_threads_wanted
                                                                            : choose_row_threads(*this, threads);
  strassen = strassen_cut(*this, problem, machine);
  if (strassen.is_used()) k_block = k_padded;
  const bool one_block = k_block >= k_padded;
  pieces = pieces_of_share(problem, microseconds(*this), panels / (threads / row_threads));
  const int64_t thread_rows = divide_up(shape.m, row_threads);
  row_chunk = even_part(thread_rows, most_rows(*this, machine), micro->row_grain);
  copies_x = x_type != micro->x_type || shape.k % micro->depth_grain != 0 || shape.m % micro->row_grain != 0 ||
             rows_collide(*this);
  if (strassen.is_used()) copies_x = false;
  copies_ahead = copies_x && threads > 1;
  k_slab = strassen.is_used() ? k_padded : slab_of(*this, machine);
  // The copy's rows start on cache lines, an odd number of lines apart.
  const int64_t line = 64 / static_cast<int64_t>(size_of(micro->x_type));
  x_stride = copies_x ? (divide_up(copies_ahead ? k_padded : k_slab, line) | 1) * line : from_stride;
  if (copies_x) {
    const int64_t copied_rows = copies_ahead ? round_up(shape.m, micro->row_grain) : held_rows();
    copy_bytes = static_cast<size_t>(copied_rows * x_stride) * size_of(micro->x_type);
  }
  const int64_t column_lanes = threads / row_threads;
  const int64_t held_panels = k_slab < k_padded ? divide_up(panels, column_lanes * pieces) : 1;
  sums_bytes = static_cast<size_t>(
      round_up((one_block ? micro->max_rows : held_rows()) * micro->width * parts * held_panels * 4, 64));
  if (strassen.is_used()) sums_bytes = strassen.thread_floats(micro->width) * sizeof(float);
  finish = finish_of(problem);
  finish.width = micro->width;
  outlier_bytes = static_cast<size_t>(finish.outliers * micro->width) * size_of(finish.outliers_type);
  finish.sums_are_integers = micro->sums_are_integers();
}

}  // namespace rung::cpu::gemm
