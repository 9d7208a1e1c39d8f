// The row of gather that reads rows of a table in the panels of a packed linear: a plan holds a table of tokens once
// where its head multiplies by the same table.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/numeric.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/panel_layout.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

using gemm::PanelLayout;

// Only a plan that holds the panels for a linear asks for this row, and says which panels they are.
Verdict supports(const Problem& p, const Machine&) {
  const Operand &table = p.inputs[0], &indices = p.inputs[1];
  if (!table.constant) return reject("the table is not constant, so no linear holds it in panels");
  if (table.shape.rank() != 2 || axis_of(p.as<Gather>().axis, table.shape) != 0)
    return reject("it takes something else than rows of a matrix");
  if (!table.contiguous() || !indices.contiguous()) return reject("the table or the indices are not contiguous");
  if (!is_computed_float(table.dtype)) return reject("no linear holds this type in panels");
  if (p.params.empty()) return reject("a plan takes it where it holds the table for a linear, too");
  const bool is_held = std::ranges::any_of(gemm::panel_values(), [&](const Tunable::Values& values) {
    return p.params == Tunable{gemm::kPanelParams}.params(values);
  });
  return is_held ? accept() : reject("no linear holds the table in such panels");
}

size_t packed_bytes(const Problem& p, const Machine&, size_t i) { return i == 0 ? PanelLayout(p).bytes() : 0; }

void pack(const Problem& p, const Machine&, size_t, const void* from, void* to) { PanelLayout(p).pack(from, to); }

std::vector<Tunable> tunables(const Problem&, const Machine&) {
  Tunable panels{gemm::kPanelParams};
  panels.values = gemm::panel_values();
  panels.tried = 0;
  return {panels};
}

std::shared_ptr<void> prepare(const Problem& p, const Machine&) { return std::make_shared<PanelLayout>(p); }

// Reads the `count` values of a row: `group` of them lie side by side, groups a panel's line apart.
template <class From, class To>
void read_row(const PanelLayout& layout, const std::byte* from, To* to) {
  const int64_t line = layout.width * layout.grain;
  const auto* values = reinterpret_cast<const From*>(from);
  for (int64_t i = 0; i < layout.k; i += layout.grain, values += line)
    for (int64_t j = 0; j < std::min(layout.grain, layout.k - i); ++j) to[i + j] = static_cast<To>(values[j]);
}

void read_row(const PanelLayout& layout, const std::byte* from, std::byte* to) {
  if (layout.type == DType::bf16)
    read_row<uint16_t>(layout, from, reinterpret_cast<uint16_t*>(to));
  else if (layout.type == DType::f16)
    read_row<float>(layout, from, reinterpret_cast<f16*>(to));
  else
    read_row<float>(layout, from, reinterpret_cast<float*>(to));
}

template <class Index>
void read_share(const Call& call, const PanelLayout& layout) {
  const size_t bytes = static_cast<size_t>(layout.k) * size_of(layout.type);
  const Range mine = share(call.problem.inputs[1].shape.product(), call.part, call.parts);
  for (int64_t i = mine.begin; i < mine.end; ++i) {
    std::byte* to = call.out<std::byte>() + static_cast<size_t>(i) * bytes;
    const auto row = static_cast<int64_t>(call.in<Index>(1)[i]);
    if (row >= 0 && row < layout.rows) {
      read_row(layout, call.in<std::byte>(0) + layout.offset_of(row), to);
    } else {
      std::memset(to, 0, bytes);
      call.fault->store(Fault::index_out_of_range, std::memory_order_relaxed);
    }
  }
}

void run(const Call& call) {
  const auto& layout = *static_cast<const PanelLayout*>(call.state);
  call.problem.inputs[1].dtype == DType::i64 ? read_share<int64_t>(call, layout) : read_share<int32_t>(call, layout);
}

}  // namespace

extern const Kernel gather_panels{.name = "gather_panels",
                                  .op = "gather",
                                  .supports = supports,
                                  .run = run,
                                  .packed_bytes = packed_bytes,
                                  .pack = pack,
                                  .prepare = prepare,
                                  .tunables = tunables};

}  // namespace rung::cpu
