// What GPU rows launch on machines that are only described: every entry is one that its module has, and every block is
// one that the machine has room for. RUNG_TEST_LAUNCHES names a file that gets the launches, to compare two builds by.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <fstream>

#include "device/gpu/current_context.hpp"
#include "device/gpu/modules.hpp"
#include "gpu_harness.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/params_text.hpp"
#include "support/code_object.hpp"
#include "support/fake_gpu.hpp"
#include "support/machines.hpp"

namespace rung::test {
namespace {

// The machine that is described, and what was asked of it since.
struct Described {
  gpu::GpuInfo card;
  std::set<std::string> modules;  // that were loaded
  std::string launches;           // one line each
};
Described& described() {
  static Described state;
  return state;
}

enum Code { kNoEntry = 500, kTooLarge = 1 };

int load(gpu::Module* module, const void* image) { return *module = const_cast<void*>(image), 0; }

// What a compiled kernel allows; of NVIDIA's only what every one does.
struct Entry {
  std::string name;
  uint32_t shared_bytes = 0, most_threads = 1024;
};

int find(gpu::Function* function, gpu::Module module, const char* name) {
  static std::deque<Entry> found;
  Entry entry{name};
  if (testing::is_code_object(module)) {
    const auto kernels = testing::kernels_of(module);
    if (!kernels.contains(name)) return kNoEntry;
    entry.shared_bytes = kernels.at(name).shared_bytes, entry.most_threads = kernels.at(name).most_threads;
  } else {
    for (const auto& entries : testing::entries_of(module))
      if (!entries.contains(name)) return kNoEntry;
  }
  *function = &found.emplace_back(std::move(entry));
  return 0;
}
int launch(gpu::Function function, const gpu::Launch& shape, void**, gpu::Stream) {
  const auto& [grid, block, cluster, bytes, dependent, cooperative] = shape;
  const auto& entry = *static_cast<const Entry*>(function);
  if (bytes + entry.shared_bytes > described().card.shared_bytes_per_block ||
      block.x * block.y * block.z > entry.most_threads)
    return kTooLarge;
  described().launches += fmt::format("  {} {} {} {} of {}, {} together, {} bytes{}\n", entry.name, grid.x, grid.y,
                                      grid.z, block.x, cluster.x, bytes, dependent ? ", dependent" : "");
  return 0;
}
int describe_boxes(gpu::TileMap*, const gpu::TileShape& shape) {
  return described().launches += fmt::format("  boxes of {}\n", shape.box), 0;
}
int describe_matrix(gpu::TensorMap*, const gpu::BoxedMatrix& matrix) {
  return described().launches += fmt::format("  boxes of {} rows\n", matrix.box_rows), 0;
}

std::shared_ptr<gpu::Gpu> open(const gpu::GpuInfo& card) {
  static const gpu::Runtime table = [] {
    gpu::Runtime made = testing::fake_runtime();
    made.error_text = [](int code) { return code == kNoEntry ? "no such entry" : "a block is too large"; };
    made.describe = [](int, gpu::GpuInfo* info) { return *info = described().card, 0; };
    made.module_load = load, made.module_function = find, made.launch = launch;
    made.allow_shared_bytes = [](gpu::Function, size_t) { return 0; };
    made.tile_map = describe_boxes, made.tensor_map = describe_matrix;
    return made;
  }();
  described() = {.card = card};
  return *gpu::Gpu::open(table, 0);
}

// Every tunable at each of its values, the others at their defaults.
std::vector<Params> settings_of(const Kernel& row, const Problem& problem, const Machine& machine) {
  std::vector<Params> settings{{}};
  for (const Tunable& tunable : row.tunables_for(problem, machine))
    for (const Tunable::Values& values : tunable.values) settings.push_back(tunable.params(values));
  return settings;
}

Status enqueue(gpu::Queue& queue, const Kernel& row, const Problem& problem, const std::vector<gpu::Address>& inputs) {
  const gpu::Address output = gpu::Address{1} << 32, scratch = gpu::Address{2} << 32;
  return gpu::enqueue(row, {problem, inputs.data(), output, scratch, nullptr, scratch, queue});
}

// Operands where a plan would put them, each in memory of its own.
std::vector<gpu::Address> addresses(const Kernel& row, const Case& test) {
  std::vector<gpu::Address> inputs;
  for (NodeId operand : test.graph[test.node].operands) {
    const auto view = cpu::resolve_view(test.graph, operand);
    const auto offset = static_cast<uint64_t>(view.offset) * size_of(test.graph.type(view.base).dtype);
    const auto begin = static_cast<gpu::Address>(inputs.size() + 3) << 32;
    inputs.push_back(begin + (offset + row.alignment - 1) / row.alignment * row.alignment);
  }
  return inputs;
}

// The number of problems that some row of the machine took.
int enqueue_all(const gpu::GpuInfo& card) {
  const auto device = open(card);
  const gpu::CurrentContext current(*device);
  auto queue = gpu::Queue::make(*device);
  const Machine machine(cpu::CpuInfo{}, card);
  int taken = 0;
  for (const Case& test : unanswered_cases())
    for (const Kernel* row : gpu::all_kernels()) {
      if (row->prepare) continue;  // its code is made for the problem, when a session opens
      if (op_family(test.problem.op) != row->op || !row->supports(test.problem, machine)) continue;
      ++taken;
      for (const Params& setting : settings_of(*row, test.problem, machine)) {
        Problem problem = test.problem;
        problem.params = setting;
        const std::string text = fmt::format("{}{}: {}", row->name, params_text(setting), test.text);
        described().launches += text + "\n";
        const Status done = enqueue(**queue, *row, problem, addresses(*row, test));
        EXPECT_TRUE(done) << text << ": " << done.error().message;
      }
    }
  if (const char* file = std::getenv("RUNG_TEST_LAUNCHES")) std::ofstream(file, std::ios::app) << described().launches;
  return taken;
}

class RowLaunches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (auto missing = gpu::missing_modules_reason(gpu::Vendor::nvidia); !missing.empty()) GTEST_SKIP() << missing;
  }
};

class RowLaunchesOnCdna : public ::testing::TestWithParam<gpu::GpuInfo> {};

TEST_F(RowLaunches, OnHopperAreOfEntriesThatAreCompiled) { EXPECT_GT(enqueue_all(testing::hopper_card()), 100); }

TEST_F(RowLaunches, FollowAMachineOfLess) { EXPECT_GT(enqueue_all(testing::lesser_hopper().gpu), 100); }

TEST_P(RowLaunchesOnCdna, AreOfEntriesThatAreCompiled) {
  if (const Verdict has = gpu::has_kernels_for(GetParam().architecture); !has) GTEST_SKIP() << has.reason;
  EXPECT_GT(enqueue_all(GetParam()), 100);
}

TEST_P(RowLaunchesOnCdna, TakeEveryProblemThatAmpereTakes) {
  const Machine here(cpu::CpuInfo{}, GetParam()), ampere = testing::ampere();
  int asked = 0;
  for (const Case& test : unanswered_cases()) {
    const auto taken = [&](const Machine& machine) {
      return std::ranges::any_of(gpu::all_kernels(), [&](const Kernel* row) {
        return op_family(test.problem.op) == row->op && row->supports(test.problem, machine).yes;
      });
    };
    if (!taken(ampere) || has_another_machines_f8(test.problem, here.gpu)) continue;
    EXPECT_TRUE(taken(here)) << test.text;
    ++asked;
  }
  EXPECT_GT(asked, 100);
}

INSTANTIATE_TEST_SUITE_P(All, RowLaunchesOnCdna,
                         ::testing::Values(testing::cdna_card(0x90a), testing::cdna_card(0x942),
                                           testing::cdna_card(0x950)),
                         [](const auto& card) { return gpu::architecture_name(card.param.architecture); });

// ---- layers of Pi0 and MiniLM, as they were launched when they were measured

Operand dense(Shape shape, DType type = DType::bf16, bool constant = false) {
  return {type, shape, contiguous_strides(shape), constant};
}
Problem linear(int64_t m, int64_t n, int64_t k, DType type = DType::bf16) {
  return {Linear{.out = type}, {dense({m, k}, type), dense({n, k}, type, true)}, dense({m, n}, type)};
}
Problem gated(int64_t m, int64_t n, int64_t k) {
  return {Linear{.epilogue = {.gated = true, .activation = Activation::gelu_tanh}, .out = DType::bf16},
          {dense({m, k}), dense({2 * n, k}, DType::bf16, true)},
          dense({m, n})};
}
// Gives a linear's weights groups of 32 columns, and numbers of 8 or, as u8, of 4 bits.
void in_groups(Problem& problem, DType type) {
  auto& slots = std::get<Linear>(problem.op).slots;
  const int64_t rows = problem.inputs[1].shape[0], k = problem.inputs[1].shape[1];
  problem.inputs[1] = dense({rows, type == DType::u8 ? k / 2 : k}, type, true);
  slots.put(problem.inputs, LinearSlot::scale, dense({rows}, DType::f32, true));
  slots.put(problem.inputs, LinearSlot::group_scale, dense({rows, k / 32}, DType::i8, true));
  if (type == DType::u8) slots.put(problem.inputs, LinearSlot::group_offset, dense({rows, k / 32}, DType::i8, true));
}
Problem rotated(Problem plain, int64_t heads, int64_t width) {
  auto& op = std::get<Linear>(plain.op);
  op.epilogue.rotated_heads = heads;
  for (const LinearSlot slot : {LinearSlot::cos, LinearSlot::sin})
    op.slots.put(plain.inputs, slot, dense({plain.output.shape[0], width}, DType::f32));
  return plain;
}
Problem attention(int64_t queries, int64_t heads, int64_t groups, int64_t width, int64_t keys) {
  const Operand k = dense({1, keys, groups, width}), q = dense({1, queries, heads, width});
  return {Attention{}, {q, k, k}, q};
}

Problem cached_attention(int64_t queries, int64_t heads, int64_t groups, int64_t width, int64_t places) {
  Problem problem = attention(queries, heads, groups, width, places);
  Attention op;
  op.slots.add(AttentionSlot::length);
  problem.op = op;
  problem.inputs.insert(problem.inputs.begin() + 1, dense({1}, DType::i64));
  return problem;
}

// Of one token, with its heads' way to the cache.
Problem cached_attention_of(int64_t heads, int64_t groups, int64_t width, int64_t places) {
  const Operand cache = dense({places, groups, width}), angles = dense({1, width}, DType::f32);
  const Operand one = dense({1}, DType::i64), x = dense({1, 1, (heads + 2 * groups) * width});
  return {CachedAttention{}, {x, cache, cache, one, angles, angles, one}, dense({1, 1, heads, width})};
}

std::string launches_of(std::string_view name, const Problem& problem,
                        const gpu::GpuInfo& card = testing::hopper_card()) {
  const auto device = open(card);
  const gpu::CurrentContext current(*device);
  auto queue = gpu::Queue::make(*device);
  const auto rows = gpu::all_kernels();
  const Kernel& row = **std::find_if(rows.begin(), rows.end(), [&](const Kernel* each) { return each->name == name; });
  std::vector<gpu::Address> inputs;
  for (size_t i = 0; i < problem.inputs.size(); ++i) inputs.push_back(gpu::Address{i + 3} << 32);
  const Status done = enqueue(**queue, row, problem, inputs);
  return done ? described().launches : done.error().message;
}

// Of products of one row in one launch, before one whose blocks have `beside` bytes.
std::string launch_of_several(const std::vector<Problem>& problems, uint32_t beside) {
  const auto device = open(testing::hopper_card());
  const gpu::CurrentContext current(*device);
  auto queue = gpu::Queue::make(*device);
  const auto rows = gpu::all_kernels();
  const Kernel& row = **std::ranges::find(rows, "linear_stream_sm90", &Kernel::name);
  EXPECT_EQ(row.joining->count(problems, testing::hopper()), problems.size());
  const std::vector<gpu::Address> inputs{gpu::Address{1} << 32, gpu::Address{2} << 32, gpu::Address{3} << 32};
  std::vector<gpu::Call> calls;
  for (const Problem& each : problems)
    calls.push_back({each, inputs.data(), gpu::Address{4} << 32, 0, nullptr, 0, **queue});
  const Status done = gpu::enqueue_joined(row, calls, gpu::Address{5} << 32, beside);
  return done ? described().launches : done.error().message;
}

// A block has all that the next launch's leaves it; the longest row of x takes its part from the ring.
TEST_F(RowLaunches, OfSeveralLayersLeaveTheNextOneRoom) {
  const std::vector<Problem> layers{linear(1, 2048, 2048), linear(1, 512, 8192)};
  const std::string boxes = "  boxes of [64, 8, 1, 16, 1]\n  boxes of [64, 8, 1, 16, 1]\n";
  EXPECT_EQ(launch_of_several(layers, 37136),
            boxes + "  linear_chain_bf16_bf16 132 1 1 of 320, 1 together, 185344 bytes, dependent\n");
  EXPECT_EQ(launch_of_several(layers, 102672),
            boxes + "  linear_chain_bf16_bf16 132 1 1 of 320, 1 together, 119808 bytes, dependent\n");
  EXPECT_EQ(launch_of_several({layers[0]}, 37136),
            "  boxes of [64, 8, 1, 16, 1]\n"
            "  linear_chain_bf16_bf16 132 1 1 of 320, 1 together, 189440 bytes, dependent\n");
}

// A column has as many warps as keep the memory busy, and squares are as many as the multiprocessors need.
TEST_F(RowLaunches, OfRowsOfAnyLengthFillTheMachine) {
  EXPECT_EQ(launches_of("linear_gemv", linear(1, 2, 2048)),
            "  linear_gemv_bf16_16_1 2 1 1 of 256, 1 together, 8192 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_gemv", linear(1, 2048, 388)),
            "  linear_gemv_bf16_4_1 256 1 1 of 256, 1 together, 1552 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_gemv", linear(5, 32000, 70)),
            "  linear_gemv_bf16_4_8 264 1 1 of 256, 1 together, 2240 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_mma", linear(256, 768, 588)),
            "  linear_mma_bf16_4_4 24 8 1 of 128, 1 together, 0 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_mma", linear(2048, 2048, 130)),
            "  linear_mma_bf16_2_1 32 32 1 of 128, 1 together, 0 bytes, dependent\n");
}

// The tuner may leave room on each multiprocessor, or have w prefetched, where kernels overlap and w is large enough.
TEST_F(RowLaunches, OfLongProductsMayLeaveRoom) {
  const Kernel* row = *std::ranges::find(gpu::all_kernels(), "linear_gemv", &Kernel::name);
  const auto values_of = [&](std::string_view name, const Problem& problem, const Machine& machine) {
    for (const Tunable& tunable : row->tunables_for(problem, machine))
      if (tunable.names[0] == name) return tunable.values;
    return std::vector<Tunable::Values>{};
  };
  using All = std::vector<Tunable::Values>;
  Problem asked = linear(1, 16384, 2048);
  EXPECT_EQ(values_of("blocks", asked, testing::hopper()), (All{{4}, {3}}));
  EXPECT_EQ(values_of("prefetch", asked, testing::hopper()), (All{{0}, {8}, {24}}));
  EXPECT_EQ(values_of("prefetch", linear(1, 2048, 2048), testing::hopper()), (All{{0}, {8}}));
  gpu::GpuInfo one_by_one = testing::hopper_card();
  one_by_one.dependent_launch = false;
  for (const char* name : {"blocks", "prefetch"}) {
    EXPECT_EQ(values_of(name, linear(1, 512, 2048), testing::hopper()).size(), 1u) << name;
    EXPECT_EQ(values_of(name, asked, Machine(cpu::CpuInfo{}, one_by_one)).size(), 1u) << name;
  }
  EXPECT_EQ(launches_of("linear_gemv", asked),
            "  linear_gemv_bf16_16_1 528 1 1 of 256, 1 together, 8192 bytes, dependent\n");
  asked.params["blocks"] = 3;
  EXPECT_EQ(launches_of("linear_gemv", asked),
            "  linear_gemv_bf16_16_1 396 1 1 of 256, 1 together, 8192 bytes, dependent\n");
}

// No two blocks of a large kind share a multiprocessor, and one of a small kind has room beside it and an attention's.
TEST_F(RowLaunches, OfStreamedWeightsTakeTurnsInSize) {
  EXPECT_EQ(launches_of("linear_stream_sm90", linear(1, 16384, 2048)),
            "  boxes of [64, 8, 1, 16, 1]\n"
            "  linear_stream_bf16_bf16_any 132 1 1 of 320, 1 together, 118784 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_stream_sm90", gated(4, 64, 2048)),
            "  boxes of [64, 4, 2, 16, 1]\n"
            "  linear_stream_bf16_bf16_gated 16 1 1 of 320, 1 together, 118784 bytes, dependent\n");
  Problem feeding = linear(1, 2048, 8192, DType::bf16);
  auto& op = std::get<Linear>(feeding.op);
  op.slots.put(feeding.inputs, LinearSlot::norm_weight, dense({2048}, DType::f32));
  op.epilogue.norm_run = 8;
  op.out = feeding.output.dtype = DType::f32;
  EXPECT_EQ(launches_of("linear_stream_sm90", feeding),
            "  boxes of [64, 8, 1, 16, 1]\n"
            "  linear_stream_bf16_bf16_norm 132 1 1 of 320, 1 together, 87040 bytes, dependent\n");
  feeding.params["stages"] = 3;
  EXPECT_EQ(launches_of("linear_stream_sm90", feeding),
            "  boxes of [64, 8, 1, 16, 1]\n"
            "  linear_stream_bf16_bf16_norm 132 1 1 of 320, 1 together, 70656 bytes, dependent\n");
}

// A stage of 4 bits has 2 KiB of scales and offsets behind its 16, one of 8 bits half a KiB of scales. Rotated heads
// have a tile for four columns and their partners.
TEST_F(RowLaunches, OfStreamedGroupsHaveRoomForThem) {
  Problem four = linear(1, 4096, 14336);
  in_groups(four, DType::u8);
  EXPECT_EQ(launches_of("linear_stream_sm90", four),
            "  boxes of [64, 8, 1, 16, 1]\n"
            "  linear_stream_bf16_u8_groups_any 132 1 1 of 320, 1 together, 118784 bytes, dependent\n");
  auto& op = std::get<Linear>(four.op);
  op.slots.put(four.inputs, LinearSlot::norm_weight, dense({4096}, DType::f32));
  op.epilogue.norm_run = 8;
  op.out = four.output.dtype = DType::f32;
  EXPECT_EQ(launches_of("linear_stream_sm90", four),
            "  boxes of [64, 8, 1, 16, 1]\n"
            "  linear_stream_bf16_u8_groups_norm 132 1 1 of 320, 1 together, 89088 bytes, dependent\n");
  Problem eight = rotated(linear(1, 6144, 4096), 40, 128);
  in_groups(eight, DType::i8);
  EXPECT_EQ(launches_of("linear_stream_sm90", eight),
            "  boxes of [64, 4, 2, 16, 1]\n"
            "  linear_stream_bf16_i8_groups_rotated 132 1 1 of 320, 1 together, 118784 bytes, dependent\n");
  Problem few = rotated(linear(1, 256, 4096), 1, 128);
  EXPECT_EQ(launches_of("linear_stream_sm90", few),
            "  boxes of [64, 4, 2, 16, 1]\n"
            "  linear_stream_bf16_bf16_rotated 32 1 1 of 320, 1 together, 118784 bytes, dependent\n");
}

TEST_F(RowLaunches, OnHopperAreThoseThatWereMeasured) {
  EXPECT_EQ(launches_of("linear_skinny_sm90", linear(51, 2560, 1024)),
            "  boxes of 56 rows\n"
            "  boxes of 40 rows\n"
            "  linear_skinny_bf16_40_2_any 128 1 1 of 256, 2 together, 105472 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_skinny_sm90", linear(51, 1024, 2048)),
            "  boxes of 56 rows\n"
            "  boxes of 64 rows\n"
            "  linear_skinny_bf16_64_8_any 128 1 1 of 256, 8 together, 78592 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_skinny_sm90", gated(51, 4096, 1024)),
            "  boxes of 56 rows\n"
            "  boxes of 32 rows\n"
            "  linear_skinny_bf16_64_1_gated 128 1 1 of 256, 1 together, 109568 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_skinny_sm90", linear(197, 768, 3072)),
            "  boxes of 56 rows\n"
            "  boxes of 64 rows\n"
            "  linear_skinny_bf16_64_2_any 24 4 1 of 256, 2 together, 118784 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_wide_sm90", gated(816, 16384, 2048)),
            "  boxes of [64, 8, 2, 16, 1]\n"
            "  boxes of 136 rows\n"
            "  linear_wide_bf16_256_136_1_gated_gelu 132 1 1 of 384, 1 together, 222464 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_wide_sm90", linear(816, 2048, 16384)),
            "  boxes of [64, 8, 1, 16, 1]\n"
            "  boxes of 208 rows\n"
            "  linear_wide_bf16_128_208_2_any 128 1 1 of 384, 2 together, 216064 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_fma", linear(16, 1536, 384, DType::f32)),
            "  linear_fma_1_1 48 2 1 of 256, 1 together, 63376 bytes, dependent\n");
  EXPECT_EQ(launches_of("linear_fma_sm90", linear(50, 1024, 2048, DType::f32)),
            "  linear_fma_cluster_13_1 128 1 1 of 128, 8 together, 75600 bytes, dependent\n");
}

TEST_F(RowLaunches, OfAttentionOnHopperAreThoseMeasured) {
  EXPECT_EQ(launches_of("attention_split_kv", attention(51, 8, 1, 256, 816)),
            "  boxes of [64, 8, 4, 2, 1]\n"
            "  boxes of [64, 64, 2, 1, 1]\n"
            "  boxes of [64, 64, 4, 1, 1]\n"
            "  attention_split_kv_bf16_32_8 104 1 1 of 256, 8 together, 149576 bytes, dependent\n");
  EXPECT_EQ(launches_of("attention_cache", cached_attention(1, 32, 8, 64, 16384)),
            "  attention_cache_bf16_64_4 48 8 1 of 128, 1 together, 0 bytes, dependent\n"
            "  attention_cache_join_bf16 4 8 1 of 256, 1 together, 0 bytes, dependent\n");
  EXPECT_EQ(launches_of("attention_cache", cached_attention(1, 32, 8, 64, 50)),
            "  attention_cache_bf16_64_4 1 8 1 of 128, 1 together, 0 bytes, dependent\n");
  EXPECT_EQ(launches_of("attention_cache", attention(1, 8, 8, 64, 1500)),
            "  attention_cache_bf16_64_1 24 8 1 of 128, 1 together, 0 bytes, dependent\n"
            "  attention_cache_join_bf16 1 8 1 of 256, 1 together, 0 bytes, dependent\n");
  EXPECT_EQ(launches_of("cached_attention_sm90", cached_attention_of(32, 8, 64, 4096)),
            "  boxes of [64, 16, 1, 1, 1]\n"
            "  boxes of [64, 16, 1, 1, 1]\n"
            "  cached_attention_sm90_bf16_64 8 8 1 of 256, 8 together, 103424 bytes, dependent\n");
  EXPECT_EQ(launches_of("cached_attention_sm90", cached_attention_of(32, 8, 64, 1280)),
            "  boxes of [64, 16, 1, 1, 1]\n"
            "  boxes of [64, 16, 1, 1, 1]\n"
            "  cached_attention_sm90_bf16_64 8 8 1 of 256, 8 together, 37888 bytes, dependent\n")
      << "a short cache wants a short ring";
  EXPECT_EQ(launches_of("cached_attention_sm90", cached_attention_of(32, 2, 128, 4096)),
            "  boxes of [64, 16, 2, 1, 1]\n"
            "  boxes of [64, 16, 2, 1, 1]\n"
            "  cached_attention_sm90_bf16_128 8 2 2 of 128, 8 together, 106496 bytes, dependent\n");
  EXPECT_EQ(launches_of("cached_attention_sm90", cached_attention_of(32, 32, 256, 4096)),
            "  cached_attention_sm90_bf16_256 4 32 1 of 96, 4 together, 112656 bytes, dependent\n");
  EXPECT_EQ(launches_of("attention_wgmma", attention(816, 8, 1, 256, 816)),
            "  boxes of [64, 8, 8, 4, 1]\n"
            "  boxes of [64, 64, 4, 1, 1]\n"
            "  boxes of [64, 64, 4, 1, 1]\n"
            "  attention_wgmma_bf16_256_2_none 102 1 1 of 384, 2 together, 231008 bytes, dependent\n");
  EXPECT_EQ(launches_of("attention_mma", attention(128, 12, 12, 32, 128)),
            "  attention_mma_bf16_32_1_4 8 12 1 of 128, 1 together, 42240 bytes, dependent\n");
}

// In multiples of the eight dies. Where keys are split, a second launch adds up what the blocks have left.
TEST_F(RowLaunches, OnCdnaAreTwoWhereKeysAreSplit) {
  const gpu::GpuInfo card = testing::cdna_card(0x942);
  Problem asked = attention(51, 8, 1, 256, 867);
  EXPECT_EQ(launches_of("attention_cdna", asked, card),
            "  attention_cdna_bf16_256_1_1_4 32 1 1 of 256, 1 together, 0 bytes\n");
  asked.params["splits"] = 8;
  EXPECT_EQ(launches_of("attention_cdna", asked, card),
            "  attention_cdna_bf16_256_1_1_4 184 1 1 of 256, 1 together, 0 bytes\n"
            "  attention_join_cdna_bf16 102 1 1 of 256, 1 together, 0 bytes\n");
}

}  // namespace
}  // namespace rung::test
