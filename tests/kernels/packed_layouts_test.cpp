// The layouts that plans hold weights in: one that changes wants a new number in kFormat (plan/file.cpp), for a plan
// that was made before would be read in the new layout and give wrong numbers without a word.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <numeric>

#include "base/hash.hpp"
#include "ir/text.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/gpu/kernel.hpp"
#include "linear_case.hpp"
#include "support/machines.hpp"
#include "support/problem_in.hpp"

namespace rung {
namespace {

// A machine that has all that rows ask for; the rows of CDNA ask for one of its cards.
Machine machine_for(const Kernel& row) {
  if (row.name.ends_with("_cdna")) return testing::cdna();
  cpu::CpuInfo processor;
  processor.avx2 = processor.avx512 = processor.avx512_vnni = processor.avx512_bf16 = true;
  processor.amx_bf16 = processor.amx_int8 = true;
  gpu::GpuInfo card = testing::hopper_card();
  card.gemm_libraries = {&testing::any_gemm_library()};
  return Machine(processor, card);
}

// With tails, gated, and in heads that turn; in f32, bf16 and i8, and with i8 weights, on one thread and on two.
std::vector<Problem> layers() {
  std::vector<Problem> all{gpu::layer(4, 40, 72), gpu::layer(4, 24, 32, true), gpu::layer(512, 96, 64),
                           gpu::rotated(gpu::layer(4, 192, 32), 2, 64)};
  constexpr DType kTypes[][2] = {
      {DType::f32, DType::f32}, {DType::bf16, DType::bf16}, {DType::i8, DType::i8}, {DType::f32, DType::i8}};
  for (const auto& [x, w] : kTypes)
    for (const bool gated : {false, true})
      for (const int threads : {1, 2}) {
        const DType out = x == DType::i8 ? DType::f32 : x;
        cpu::LinearCase layer{.m = 4, .n = 72, .k = 100, .x = x, .w = w, .out = out, .threads = threads};
        layer.gated = gated;
        if (gated) layer.activation = Activation::gelu_tanh;
        all.push_back(problem_of(layer));
        all.back().inputs[1].constant = true;
      }
  return all;
}

Problem problem_of_text(const std::string& text) {
  const auto graph = parse_graph("y = " + text);
  return test::problem_in(*graph, graph->outputs()[0].node);
}

// With tails of columns, in groups, depthwise, and with windows of three by three over many channels.
std::vector<Problem> convolutions() {
  std::vector<Problem> all;
  const auto add = [&](const std::string& operands) { all.push_back(problem_of_text("conv(" + operands + ")")); };
  for (const char* type : {"f32", "bf16"})
    for (const char* operands : {"x:{0}[1,9,8,5], w:{0}[40,3,2,5]", "x:{0}[1,9,8], w:{0}[70,3,4], groups=2",
                                 "x:{0}[1,9,37], w:{0}[37,3,1], groups=37"})
      add(fmt::format(fmt::runtime(operands), type));
  add("x:f32[1,10,11,32], w:f32[40,3,3,32]");
  return all;
}

// Of each cell, with tails of units.
std::vector<Problem> recurrences() {
  std::vector<Problem> all;
  for (const char* type : {"f32", "bf16"})
    for (const char* operands : {"x:{0}[2,1,148], w:{0}[148,37], h:{0}[1,37], c:{0}[1,37]",
                                 "x:{0}[2,1,111], w:{0}[111,37], h:{0}[1,37], y:{0}[37], cell=gru",
                                 "x:{0}[2,1,37], w:{0}[37,37], h:{0}[1,37], cell=rnn"})
      all.push_back(problem_of_text(fmt::format("recurrence({})", fmt::format(fmt::runtime(operands), type))));
  return all;
}

// With scales of groups of columns, for weights of 8 bits and of 4.
std::vector<Problem> grouped_layers() {
  std::vector<Problem> all;
  for (const char* type : {"f32", "bf16"})
    for (const char* operands :
         {"x:{0}[4,192], w:i8[40,192], ws:f32[40], wg:i8[40,3], slots=scale+group_scale, out={0}",
          "x:{0}[4,192], w:u8[40,96], ws:f32[40], wg:i8[40,6], wo:i8[40,6], slots=scale+group_scale+group_offset, "
          "out={0}"})
      all.push_back(problem_of_text(fmt::format("linear({})", fmt::format(fmt::runtime(operands), type))));
  return all;
}

// The same in whole chunks of streams, gated too.
std::vector<Problem> streamed_layers() {
  std::vector<Problem> all;
  for (const char* end : {"", ", gated=true"})
    for (const char* operands :
         {"x:bf16[4,384], w:i8[40,384], ws:f32[40], wg:i8[40,3], slots=scale+group_scale, out=bf16{}",
          "x:bf16[4,768], w:u8[40,384], ws:f32[40], wg:i8[40,12], wo:i8[40,12], slots=scale+group_scale+group_offset, "
          "out=bf16{}"})
      all.push_back(problem_of_text(fmt::format("linear({})", fmt::format(fmt::runtime(operands), end))));
  return all;
}

std::vector<Problem> problems_for(const Kernel& row) {
  if (row.name.starts_with("linear_grouped")) return grouped_layers();
  if (row.name.starts_with("linear_stream")) return streamed_layers();
  return row.op == "conv" ? convolutions() : row.op == "recurrence" ? recurrences() : layers();
}

// Returns the operand that the row lays out: a weight or, where that stays, the scales of its groups.
size_t laid_out(const Kernel& row, const Problem& problem) {
  return row.name.starts_with("linear_stream") ? problem.as<Linear>().slots.before(LinearSlot::group_scale) : 1;
}

// Of the layers whose weights the row lays out: their number, and the sum of these weights. Libraries' rows lay out
// none: of them it is the bias that a plan holds in another type.
std::string sum_of_packed(const Kernel& row) {
  const Machine machine = machine_for(row);
  uint64_t sum = 0;
  int layers_taken = 0;
  for (const Problem& problem : problems_for(row)) {
    if (!row.supports(problem, machine)) continue;
    const size_t operand = laid_out(row, problem);
    const Operand& weights = problem.inputs[operand];
    std::vector<uint16_t> w(static_cast<size_t>(weights.shape.product()) * size_of(weights.dtype) / sizeof(uint16_t));
    std::iota(w.begin(), w.end(), uint16_t{1});
    std::vector<std::byte> packed(row.packed_for(problem, machine, operand));
    if (packed.empty()) continue;
    row.pack(problem, machine, operand, w.data(), packed.data());
    sum = hash_bytes(packed.data(), packed.size(), sum);
    ++layers_taken;
  }
  return fmt::format("{}: {}", layers_taken, hex64(sum));
}

TEST(PackedLayouts, AreThoseThatPlansOfThisFormatHold) {
  std::map<std::string_view, std::string> sums;
  for (auto rows : {cpu::all_kernels(), gpu::all_kernels()})
    for (const Kernel* row : rows)
      // A plan names oneDNN's version, and another is refused; gather_panels has the layouts of linears.
      if (row->pack && row->library != "onednn" && row->name != "gather_panels") sums[row->name] = sum_of_packed(*row);
  const std::map<std::string_view, std::string> of_this_format{
      {"conv_avx2", "7: 94428c627cc6a500"},
      {"conv_avx512", "7: 0fb70b194fbbf998"},
      {"conv_depthwise_avx2", "2: 9af9a1ed048a6cd9"},
      {"conv_depthwise_avx512", "2: 9af9a1ed048a6cd9"},
      {"conv_depthwise_gpu", "2: 9af9a1ed048a6cd9"},
      {"conv_depthwise_tiles", "0: 0000000000000000"},
      {"conv_few_channels", "1: 88ca5ede8a78ee5c"},
      {"conv_winograd_avx2", "1: f83114f89adfcaf7"},
      {"conv_winograd_avx512", "1: c58189af959415dc"},
      {"linear_amx_bf16", "7: daa850cf6bd1514f"},
      {"linear_amx_int8", "4: 09961e1128722569"},
      {"linear_avx2", "19: 3537b25027802947"},
      {"linear_avx512", "19: 36483ad9720e08b8"},
      {"linear_avx512_bf16", "7: cedaf600f4022284"},
      {"linear_avx512_vnni", "4: 6ca6bbff73a8f0ac"},
      {"linear_cublaslt", "0: 0000000000000000"},
      {"linear_grouped_avx2", "4: b328121f85212812"},
      {"linear_grouped_avx512", "4: ccbdf5b18d525e8c"},
      {"linear_grouped_avx512_vnni", "4: ccbdf5b18d525e8c"},
      {"linear_hipblaslt", "0: 0000000000000000"},
      {"linear_rocblas", "0: 0000000000000000"},
      {"linear_skinny_cdna", "7: 6a54751bd0b8887c"},
      {"linear_stream_sm90", "4: a51b5f47b6c2bc6d"},
      {"linear_wide_cdna", "1: 96a554bb4aca96b6"},
      {"recurrence_avx2", "6: 3984b74848fddca9"},
      {"recurrence_avx512", "6: 4314907f93e8a871"},
  };
  EXPECT_EQ(sums, of_this_format);
}

// Panels of 32 columns, or fewer, that have the outliers one after another.
TEST(PackedLayouts, HoldOutliersBesidePanels) {
  const Problem problem = problem_of_text(
      "linear(x:i8[4,64], w:i8[40,64], ws:f32[40], s:f32[4], o:f32[4,3], wo:bf16[40,3], "
      "slots=scale+x_scale+x_outliers+w_outliers, out=bf16)");
  constexpr size_t kOperand = 5, kOutliers = 3, kRows = 40;
  std::vector<uint16_t> w(kRows * kOutliers);
  std::iota(w.begin(), w.end(), uint16_t{1});
  size_t rows = 0;
  for (const Kernel* row : cpu::all_kernels()) {
    if (row->op != "linear" || !row->pack || !row->supports(problem, machine_for(*row))) continue;
    const size_t width = row->name == "linear_avx2" ? 16 : 32;
    std::vector<std::byte> packed(row->packed_for(problem, machine_for(*row), kOperand));
    ASSERT_EQ(packed.size(), (kRows + width - 1) / width * width * kOutliers * sizeof(uint16_t)) << row->name;
    row->pack(problem, machine_for(*row), kOperand, w.data(), packed.data());
    const auto* panels = reinterpret_cast<const uint16_t*>(packed.data());
    for (size_t column = 0; column < kRows; ++column)
      for (size_t i = 0; i < kOutliers; ++i)
        EXPECT_EQ(panels[(column / width * kOutliers + i) * width + column % width], w[column * kOutliers + i])
            << row->name << " " << column << " " << i;
    ++rows;
  }
  EXPECT_EQ(rows, 4u) << "linear_avx2, linear_avx512, linear_avx512_vnni, linear_amx_int8";
}

}  // namespace
}  // namespace rung
