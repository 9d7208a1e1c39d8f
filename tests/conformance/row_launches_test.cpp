// What GPU rows launch on machines that are only described: every entry is one that its module has, and every block is
// one that the machine has room for.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "device/gpu/current_context.hpp"
#include "harness.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/params_text.hpp"
#include "support/cubin.hpp"
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
int find(gpu::Function* function, gpu::Module module, const char* name) {
  static std::set<std::string> names;
  for (const auto& entries : testing::entries_of(module))
    if (!entries.contains(name)) return kNoEntry;
  *function = const_cast<std::string*>(&*names.insert(name).first);
  return 0;
}
int launch(gpu::Function function, const gpu::Launch& shape, void**, gpu::Stream) {
  const auto& [grid, block, cluster, bytes, dependent, cooperative] = shape;
  constexpr uint32_t kMostThreads = 1024;
  if (bytes > described().card.shared_bytes_per_block || block.x * block.y * block.z > kMostThreads) return kTooLarge;
  described().launches +=
      fmt::format("  {} {} {} {} of {}, {} together, {} bytes{}\n", *static_cast<const std::string*>(function), grid.x,
                  grid.y, grid.z, block.x, cluster.x, bytes, dependent ? ", dependent" : "");
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
    for (int64_t value : tunable.values) settings.push_back({{std::string(tunable.name), value}});
  return settings;
}

// Operands where a plan would put them, each at an address of its own.
Status enqueue(gpu::Queue& queue, const Kernel& row, const Case& test, const Problem& problem) {
  std::vector<gpu::Address> inputs;
  for (NodeId operand : test.graph[test.node].operands) {
    const auto view = cpu::resolve_view(test.graph, operand);
    const auto offset = static_cast<uint64_t>(view.offset) * size_of(test.graph.type(view.base).dtype);
    const auto begin = static_cast<gpu::Address>(inputs.size() + 3) << 32;
    inputs.push_back(begin + (offset + row.alignment - 1) / row.alignment * row.alignment);
  }
  const gpu::Address output = gpu::Address{1} << 32, scratch = gpu::Address{2} << 32;
  return gpu::enqueue(row, {problem, inputs.data(), output, scratch, nullptr, scratch, queue});
}

// The number of problems that some row of the machine took.
int enqueue_all(const gpu::GpuInfo& card) {
  const auto device = open(card);
  const gpu::CurrentContext current(*device);
  auto queue = gpu::Queue::make(*device);
  const Machine machine(cpu::CpuInfo{}, card);
  int taken = 0;
  for (const Case& test : cases())
    for (const Kernel* row : gpu::all_kernels()) {
      if (op_family(test.problem.op) != row->op || !row->supports(test.problem, machine)) continue;
      ++taken;
      for (const Params& setting : settings_of(*row, test.problem, machine)) {
        Problem problem = test.problem;
        problem.params = setting;
        const std::string text = fmt::format("{}{}: {}", row->name, params_text(setting), test.text);
        described().launches += text + "\n";
        const Status done = enqueue(**queue, *row, test, problem);
        EXPECT_TRUE(done) << text << ": " << done.error().message;
      }
    }
  if (const char* file = std::getenv("RUNG_TEST_LAUNCHES")) {
    std::FILE* out = std::fopen(file, "a");
    std::fputs(described().launches.c_str(), out);
    std::fclose(out);
  }
  return taken;
}

class RowLaunches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu::embedded_module("copy")) GTEST_SKIP() << gpu::missing_modules_reason();
  }
};

TEST_F(RowLaunches, OnHopperAreOfEntriesThatAreCompiled) { EXPECT_GT(enqueue_all(testing::hopper_card()), 100); }

TEST_F(RowLaunches, FollowAMachineOfLess) { EXPECT_GT(enqueue_all(testing::lesser_hopper().gpu), 100); }

}  // namespace
}  // namespace rung::test
