// The rows that gather_panels reads are those that each packed linear has put into its panels.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/candidate.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/target.hpp"
#include "linear_case.hpp"

namespace rung::cpu {
namespace {

// A machine that has all that rows ask for: packing asks no processor for anything.
Machine any_processor() {
  CpuInfo processor;
  processor.avx2 = processor.avx512 = processor.avx512_bf16 = processor.amx_bf16 = true;
  return Machine(processor);
}

Problem gather_of(const Problem& linear, const Params& params) {
  Operand table = linear.inputs[1];
  return {.op = Gather{.axis = 0},
          .inputs = {table, {DType::i64, {1}, contiguous_strides({1})}},
          .output = {table.dtype, {1, table.shape[1]}, contiguous_strides({1, table.shape[1]})},
          .params = params};
}

// Values in which neighbours and rows differ, and which are finite in every type.
std::vector<uint16_t> pattern(size_t count) {
  std::vector<uint16_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint16_t>((i * 31) % 0x3c00);
  return values;
}

void expect_same_panels(const Kernel& row, const Problem& linear) {
  const Machine machine = any_processor();
  const KernelChoice choice = row.gather_for(linear, machine, 1);
  const Kernel* gather = cpu_target().kernel_named(choice.kernel);
  ASSERT_TRUE(gather);
  const Problem problem = gather_of(linear, choice.params);
  ASSERT_TRUE(gather->supports(problem, machine)) << gather->supports(problem, machine).reason;
  EXPECT_TRUE(takes_params(cpu_target(), *gather, problem, choice.params));
  std::vector<std::byte> packed(row.packed_for(linear, machine, 1)), other(gather->packed_for(problem, machine, 0));
  const auto values =
      pattern(static_cast<size_t>(linear.inputs[1].shape.product()) * size_of(linear.inputs[1].dtype) / 2);
  row.pack(linear, machine, 1, values.data(), packed.data());
  gather->pack(problem, machine, 0, values.data(), other.data());
  EXPECT_EQ(packed, other);
}

TEST(GatherPanels, KnowsThePanelsOfEveryPackedRow) {
  const Machine machine = any_processor();
  int layouts = 0;
  for (const Kernel* row : all_kernels())
    for (const DType type : {DType::f32, DType::bf16, DType::f16})
      for (const int64_t columns : {0, 16, 48}) {
        Problem linear = problem_of(LinearCase{.m = 2, .n = 101, .k = 71, .x = type, .w = type, .out = type});
        linear.inputs[1].constant = true;
        if (columns > 0) linear.params["columns"] = columns;
        if (!row->gathered_by || !row->supports(linear, machine)) continue;
        SCOPED_TRACE(fmt::format("{} of {}, {} columns", row->name, type, columns));
        expect_same_panels(*row, linear);
        ++layouts;
      }
  EXPECT_GT(layouts, 15);
}

TEST(GatherPanels, ReadsNoWeightsOfGatesOrBytes) {
  const Machine machine = any_processor();
  for (const LinearCase& c :
       {LinearCase{.m = 2, .n = 32, .k = 32, .activation = Activation::silu, .gated = true},
        LinearCase{.m = 2, .n = 32, .k = 32, .x = DType::i8, .w = DType::i8, .out = DType::f32}}) {
    Problem linear = problem_of(c);
    linear.inputs[1].constant = true;
    for (const Kernel* row : all_kernels())
      if (row->gathered_by && row->supports(linear, machine))
        EXPECT_EQ(row->gather_for(linear, machine, 1).kernel, "") << row->name;
  }
}

TEST(GatherPanels, RefusesPanelsThatNoRowHas) {
  Problem linear = problem_of(LinearCase{.m = 2, .n = 32, .k = 32});
  linear.inputs[1].constant = true;
  const Kernel* gather = cpu_target().kernel_named("gather_panels");
  ASSERT_TRUE(gather);
  const auto reason = [&](const Params& params) {
    return gather->supports(gather_of(linear, params), any_processor()).reason;
  };
  const std::string wanted = "no linear holds the table in such panels";
  EXPECT_EQ(reason({}), "a plan takes it where it holds the table for a linear, too");
  EXPECT_EQ(reason({{"width", 0}, {"grain", 1}, {"depth", 1}}), wanted);
  EXPECT_EQ(reason({{"width", 16}}), wanted);
  EXPECT_EQ(reason({{"width", int64_t{1} << 62}, {"grain", 2}, {"depth", 2}}), wanted);
}

}  // namespace
}  // namespace rung::cpu
