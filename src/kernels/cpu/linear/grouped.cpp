// Packs weights in groups, and multiplies by them panel after panel.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/grouped.hpp"

#include <cstring>

#include "base/divide.hpp"
#include "kernels/cpu/split.hpp"

namespace rung::cpu::gemm {
namespace {

constexpr int64_t kMostLanes = 16;
constexpr int64_t kChunk = 64;  // rows of x that stay in the second cache while all panels pass

// Returns about how long one core takes: to read the weights, or to multiply.
double grouped_microseconds(const GroupedPlan& plan) {
  constexpr double kReadGbps = 12;
  const auto weights = static_cast<double>(plan.shape.w_rows * plan.shape.k);
  const double multiply = 2 * static_cast<double>(plan.shape.m) * weights / kCoreGflops;
  return 1e-3 * std::max(multiply, weights * plan.bits() / 8 / kReadGbps);
}

// Calls f with the index in w of each panel's column and its place in the packed panels; lanes beyond n have none.
template <class F>
void each_column(const GroupedPlan& plan, F&& f) {
  const int64_t lanes = plan.micro->lanes;
  for (int64_t p = 0; p < plan.panels; ++p)
    for (int64_t part = 0; part < plan.parts; ++part)
      for (int64_t lane = 0; lane < lanes && p * lanes + lane < plan.shape.n; ++lane)
        f(part * plan.shape.n + p * lanes + lane, p * plan.parts + part, lane);
}

// Returns the word of four numbers of 8 bits, or of eight of 4 bits, which begin at `row`.
uint32_t word_of(const uint8_t* row, int bits) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t byte =
        bits == 8 ? row[i] ^ 0x80u : (row[i / 2] >> (i % 2 * 4) & 15u) | (row[2 + i / 2] >> (i % 2 * 4) & 15u) << 4;
    word |= byte << (8 * i);
  }
  return word;
}

void pack_numbers(const GroupedPlan& plan, const uint8_t* from, std::byte* to) {
  const int64_t lanes = plan.micro->lanes, row_bytes = plan.shape.k * plan.bits() / 8;
  each_column(plan, [&](int64_t column, int64_t panel, int64_t lane) {
    for (int64_t word = 0; word < row_bytes / 4; ++word) {
      const uint32_t value = word_of(from + column * row_bytes + 4 * word, plan.bits());
      std::memcpy(to + ((panel * row_bytes / 4 + word) * lanes + lane) * 4, &value, sizeof value);
    }
  });
}

template <class T>
void pack_groups(const GroupedPlan& plan, const T* from, T* to) {
  const int64_t lanes = plan.micro->lanes, groups = plan.runs / plan.repeat;
  each_column(plan, [&](int64_t column, int64_t panel, int64_t lane) {
    for (int64_t run = 0; run < plan.runs; ++run)
      to[(panel * plan.runs + run) * lanes + lane] = from[column * groups + run / plan.repeat];
  });
}

// A part of the result: some of the panels, all rows.
struct GroupedWorker {
  const GroupedPlan& plan;
  const Call& call;
  FinishOperands operands{call};
  const uint8_t* w = call.in<uint8_t>(1);
  const std::byte* scales = static_cast<const std::byte*>(address_of(call, LinearSlot::group_scale));
  const int8_t* offsets = static_cast<const int8_t*>(address_of(call, LinearSlot::group_offset));

  void run(Range panels) const {
    for (int64_t first = 0; first < plan.shape.m; first += kChunk) {
      const Range chunk{first, std::min(plan.shape.m, first + kChunk)};
      for (int64_t p = panels.begin; p < panels.end; ++p)
        for (int64_t row = chunk.begin; row < chunk.end; row += GroupedKernels::kMostRows)
          multiply(p, {row, std::min(chunk.end, row + GroupedKernels::kMostRows)});
    }
  }

  void multiply(int64_t p, Range rows) const {
    const GroupedKernels& micro = *plan.micro;
    alignas(64) float sums[2][GroupedKernels::kMostRows * kMostLanes];
    for (int64_t part = 0; part < plan.parts; ++part) {
      const int64_t begin = (p * plan.parts + part) * plan.runs;
      GroupedTile t;
      t.x = static_cast<const std::byte*>(call.scratch) + rows.begin * plan.runs * micro.x_bytes;
      t.runs = plan.runs;
      t.w = w + begin * plan.run_bytes();
      t.scales = scales + begin * micro.lanes * plan.scale_bytes();
      t.offsets = offsets ? offsets + begin * micro.lanes : nullptr;
      t.sums = sums[part];
      micro.tiles[static_cast<size_t>(plan.form)][plan.x_type == DType::f32][rows.count()](t);
    }
    Finish f = plan.finish;
    f.sums = sums[plan.parts - 1];
    if (plan.parts == 2) f.gate = sums[0];
    const int64_t column = p * micro.lanes;
    place(f, operands, rows, {column, std::min(column + micro.lanes, plan.shape.n)}, plan.shape.n);
    micro.finish(f);
  }
};

}  // namespace

GroupedPlan::GroupedPlan(const Problem& problem, const GroupedKernels& micro_kernels)
    : micro(&micro_kernels), shape(problem), finish(finish_of(problem)) {
  if (problem.as<Linear>().has(LinearSlot::group_offset))
    form = problem.linear_operand(LinearSlot::group_scale)->dtype == DType::f32 ? GroupedForm::bits_4_f32
                                                                                : GroupedForm::bits_4;
  runs = shape.k / kRun;
  repeat = runs / problem.linear_operand(LinearSlot::group_scale)->shape.back();
  parts = problem.as<Linear>().epilogue.gated ? 2 : 1;
  panels = divide_up(shape.n, int64_t{micro->lanes});
  x_type = problem.inputs[0].dtype;
  x_stride = problem.inputs[0].row_stride();
  pieces = pieces_of_share(problem, grouped_microseconds(*this), panels / std::max(1, problem.threads));
  finish.width = micro->lanes;
}

size_t packed_bytes(const GroupedPlan& plan, LinearSlot slot) {
  const int64_t of_scales = slot == LinearSlot::group_scale ? plan.scale_bytes() : 1;
  const int64_t of_run = slot == LinearSlot::w ? plan.run_bytes() : plan.micro->lanes * of_scales;
  return static_cast<size_t>(plan.panels * plan.parts * plan.runs * of_run);
}

void pack(const GroupedPlan& plan, LinearSlot slot, const void* from, void* to) {
  std::memset(to, 0, packed_bytes(plan, slot));
  if (slot == LinearSlot::w) return pack_numbers(plan, static_cast<const uint8_t*>(from), static_cast<std::byte*>(to));
  if (slot == LinearSlot::group_scale && plan.form == GroupedForm::bits_4_f32)
    return pack_groups(plan, static_cast<const float*>(from), static_cast<float*>(to));
  pack_groups(plan, static_cast<const int8_t*>(from), static_cast<int8_t*>(to));
}

void run(const GroupedPlan& plan, const Call& call) {
  if (call.phase == 0) {
    const Range own = share(plan.shape.m * plan.runs, call.part, call.parts);
    return plan.micro->copy_rows({.type = plan.x_type,
                                  .from = call.inputs[0],
                                  .from_stride = plan.x_stride,
                                  .runs = plan.runs,
                                  .begin = own.begin,
                                  .end = own.end,
                                  .to = call.scratch});
  }
  GroupedWorker{plan, call}.run(share(plan.panels, call.part, call.parts));
}

}  // namespace rung::cpu::gemm
