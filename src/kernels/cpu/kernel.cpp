// The table of all CPU kernels, made from the rows of kernels.inc, and how an operand's strides read as rows.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kernel.hpp"

namespace rung::cpu {

#define RUNG_CPU_KERNEL(name) extern const Kernel name;
#include "kernels/cpu/kernels.inc"
#undef RUNG_CPU_KERNEL

namespace {

constexpr const Kernel* kRows[] = {
#define RUNG_CPU_KERNEL(name) &name,
#include "kernels/cpu/kernels.inc"
#undef RUNG_CPU_KERNEL
};

using Families = std::map<std::string_view, std::vector<const Kernel*>, std::less<>>;

const Families& families() {
  static const Families by_op = [] {
    Families map;
    for (const Kernel* row : kRows) map[row->op].push_back(row);
    return map;
  }();
  return by_op;
}

// Walks the axes before the last from the inside out: `stride` is the step that the next axis must have to continue the
// rows seen so far; 0 while none has been seen.
bool rows_stride(const Operand& x, int64_t& stride) {
  int64_t expected = -1;
  stride = x.shape.back();
  for (int axis = x.shape.rank() - 2; axis >= 0; --axis) {
    if (x.shape[axis] == 1) continue;
    if (expected < 0)
      stride = x.strides[axis];
    else if (x.strides[axis] != expected)
      return false;
    expected = x.strides[axis] * x.shape[axis];
  }
  return true;
}

}  // namespace

bool Operand::is_rows() const {
  if (shape.rank() == 0) return false;
  int64_t stride = 0;
  bool dense_last = strides.back() == 1 || shape.back() == 1;
  return dense_last && rows_stride(*this, stride);
}

int64_t Operand::row_stride() const {
  int64_t stride = 0;
  rows_stride(*this, stride);
  return stride;
}

std::span<const Kernel* const> kernels_for(std::string_view family) {
  auto found = families().find(family);
  if (found == families().end()) return {};
  return found->second;
}

std::span<const Kernel* const> all_kernels() { return kRows; }

const Kernel* kernel_named(std::string_view name) {
  for (const Kernel* row : kRows)
    if (row->name == name) return row;
  return nullptr;
}

std::string_view op_family(const Op& op) {
  return std::visit([](const auto& o) { return std::decay_t<decltype(o)>::kName; }, op);
}

}  // namespace rung::cpu
