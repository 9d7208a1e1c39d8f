// The linear of weights of 4 or 8 bits in groups of columns, in panels (grouped_micro.hpp): its plan and its packing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/linear/grouped_micro.hpp"
#include "kernels/cpu/linear/packed.hpp"

namespace rung::cpu::gemm {

// The facts of one problem that do not change from call to call.
struct GroupedPlan {
  const GroupedKernels* micro = nullptr;
  LinearShape shape;
  GroupedForm form = GroupedForm::bits_8;
  int64_t runs = 0;    // of a row
  int64_t repeat = 1;  // runs of a group
  int64_t parts = 1;   // panels side by side: 2 when gated (gate, then up)
  int64_t panels = 0;  // panels (of `parts`) across n
  int pieces = 1;      // pieces of a thread's share of the panels; each is a part
  DType x_type = DType::f32;
  int64_t x_stride = 0;
  Finish finish;
  GroupedPlan(const Problem& problem, const GroupedKernels& micro_kernels);
  int bits() const { return bits_of(form); }
  int64_t run_bytes() const { return micro->lanes * kRun * bits() / 8; }
  int64_t scale_bytes() const { return form == GroupedForm::bits_4_f32 ? sizeof(float) : 1; }
  size_t x_bytes() const { return static_cast<size_t>(shape.m * runs * micro->x_bytes); }
};

size_t packed_bytes(const GroupedPlan& plan, LinearSlot slot);
void pack(const GroupedPlan& plan, LinearSlot slot, const void* from, void* to);
void run(const GroupedPlan& plan, const Call& call);

}  // namespace rung::cpu::gemm
