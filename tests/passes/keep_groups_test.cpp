// Products of few rows read the file's numbers of 4 bits; others keep floats.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/block_codes.hpp"
#include "ir/grouped_weight.hpp"
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::keep_groups;

constexpr int64_t kRows = 6, kColumns = 64;

std::shared_ptr<const Weight> literal(const std::string& name, Tensor value) {
  return std::make_shared<Literal>(name, std::move(value));
}

// A weight of the file: codes of 4 bits, scales, and zero points for each block of columns.
std::shared_ptr<const Weight> weight(int64_t block, DType scales_in = DType::f32, int64_t columns = kColumns) {
  const int64_t blocks = (columns + block - 1) / block;
  Tensor packed({DType::u8, {kRows, blocks * block / 2}}), zeros({DType::u8, {kRows, blocks}});
  for (int64_t i = 0; i < packed.elements(); ++i) packed.as<uint8_t>()[i] = static_cast<uint8_t>(37 * i + 11);
  for (int64_t i = 0; i < zeros.elements(); ++i) zeros.as<uint8_t>()[i] = static_cast<uint8_t>(5 * i % 16);
  Tensor scales({DType::f32, {kRows, blocks}});
  for (int64_t i = 0; i < scales.elements(); ++i) scales.as<float>()[i] = 0.01F * static_cast<float>(1 + i % 7);
  const auto file = literal("w", std::move(packed));
  return onnx::dequantised_blocks({.codes = onnx::unpacked_codes(file, 4, Shape{kRows, blocks * block}),
                                   .scales = literal("s", convert(scales, scales_in)),
                                   .zeros = literal("z", std::move(zeros)),
                                   .zero = 8,
                                   .block = block,
                                   .packed = file},
                                  {DType::f32, {kRows, columns}});
}

// linear(x, w), or linear(x, concat(w, w)).
Graph product(int64_t rows, const std::shared_ptr<const Weight>& w, const std::shared_ptr<const Weight>& below = {}) {
  Graph graph;
  const NodeId x = graph.input("x", {DType::f32, {rows, w->type().shape[1]}});
  NodeId all = graph.constant(w);
  if (below) all = graph.add(Concat{.axis = 0}, {all, graph.constant(below)});
  graph.set_output("y", graph.add(Linear{}, {x, all}));
  return graph;
}

bool reads_groups(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const auto* linear = graph.as<Linear>(id);
    return linear && linear->has(LinearSlot::group_scale);
  });
}

bool is_kept(const Graph& graph) { return reads_groups(run_pass(keep_groups, graph).graph); }

TEST(KeepGroups, GivesTheSameAnswers) {
  for (const Graph& before : {product(3, weight(32)), product(1, weight(16), weight(16))}) {
    const Graph after = run_pass(keep_groups, before).graph;
    EXPECT_TRUE(reads_groups(after));
    expect_same_values(before, after);
  }
}

TEST(KeepGroups, LeavesProductsOfManyRows) { EXPECT_FALSE(is_kept(product(512, weight(32)))); }

TEST(KeepGroups, LeavesWeightsThatAreNotAlike) {
  EXPECT_FALSE(is_kept(product(1, weight(32), weight(16)))) << "groups of two widths";
  EXPECT_FALSE(is_kept(product(1, weight(32), literal("f", Tensor({DType::f32, {2, kColumns}}))))) << "one of floats";
}

TEST(KeepGroups, LeavesBlocksThatItHasNoFormFor) {
  EXPECT_FALSE(is_kept(product(1, weight(32, DType::f16)))) << "scales of f16";
  EXPECT_FALSE(is_kept(product(1, weight(32, DType::f32, 80)))) << "a block that is cut off";
}

}  // namespace
}  // namespace rung::test
