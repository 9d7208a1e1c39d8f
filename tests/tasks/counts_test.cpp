// What an emulated GPU counted: each count has its name in JSON and its place in a line.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/counts.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/bert_tiny.hpp"
#include "support/device.hpp"
#include "tasks/profile.hpp"

namespace rung::tasks {
namespace {

using Json = nlohmann::json;

amdgpu::Counts every_count() {
  amdgpu::Counts c{.waves = 2, .instructions = 78, .vector = 1, .scalar = 2, .matrix = 3, .branches = 4, .waits = 5};
  c.barriers = 6, c.global_loads = 7, c.global_stores = 8, c.lds_reads = 9, c.lds_writes = 10, c.atomics = 11;
  c.scratch = 12, c.global_bytes_read = 1000, c.global_bytes_written = 2000, c.lds_bytes = 3000, c.cache_lines = 40;
  c.bank_conflict_cycles = 50;
  for (uint64_t k = 0; k < 5; ++k) c.bytes_by_width[k] = 200 * (k + 1);
  c.by_opcode[amdgpu::Opcode::v_add_f32] = 78;
  return c;
}

TEST(Counts, EachIsNamedInJson) {
  const Json expected = {{"waves", 2},
                         {"instructions", 78},
                         {"vector", 1},
                         {"scalar", 2},
                         {"matrix", 3},
                         {"branches", 4},
                         {"waits", 5},
                         {"barriers", 6},
                         {"global_loads", 7},
                         {"global_stores", 8},
                         {"lds_reads", 9},
                         {"lds_writes", 10},
                         {"atomics", 11},
                         {"scratch", 12},
                         {"global_bytes_read", 1000},
                         {"global_bytes_written", 2000},
                         {"lds_bytes", 3000},
                         {"cache_lines", 40},
                         {"bank_conflict_cycles", 50},
                         {"bytes_by_width", {{"1-2", 200}, {"4", 400}, {"8", 600}, {"12", 800}, {"16", 1000}}},
                         {"by_opcode", {{"v_add_f32", 78}}}};
  EXPECT_EQ(to_json(every_count()), expected);
}

TEST(Counts, LinesSayWhatWasCounted) {
  const std::vector<std::string> expected{
      "78 wave instructions of 2 waves: vector 1, scalar 2, matrix 3, branches 4, waits 5, barriers 6, global_loads 7, "
      "global_stores 8, lds_reads 9, lds_writes 10, atomics 11, scratch 12",
      "global memory: 1000 bytes read, 2000 written; 200 by 1-2 a lane; 400 by 4 a lane; 600 by 8 a lane; 800 by 12 a "
      "lane; 1000 by 16 a lane; 40 lines of 128 bytes touched",
      "LDS: 3000 bytes, 50 cycles of bank conflicts"};
  EXPECT_EQ(count_lines(every_count()), expected);
}

// Of a model that runs: parts make the whole, and no access is left out.
TEST(Counts, OfAProfileAddUp) {
  ProfileTask task;
  task.model.path = kBert, task.model.device = device_named("emu:gfx942");
  task.model.shapes = {{"input_ids", {1, 9}}};
  const auto profiled = profile(task);
  if (!profiled && profiled.error().message.find("built without") != std::string::npos)
    GTEST_SKIP() << profiled.error().message;
  ASSERT_TRUE(profiled) << profiled.error().message;
  const Json json = to_json(*profiled);
  EXPECT_EQ(json["clock"], "instructions");
  EXPECT_FALSE(json["ops"][0].contains("us") || json.contains("cold_median_ms"));
  const Json& counts = json["counts"];
  uint64_t classes = 0, opcodes = 0, widths = 0;
  for (const char* name : {"vector", "scalar", "matrix", "branches", "waits", "barriers", "global_loads",
                           "global_stores", "lds_reads", "lds_writes", "atomics", "scratch"})
    classes += counts[name].get<uint64_t>();
  for (const auto& [name, count] : counts["by_opcode"].items()) opcodes += count.get<uint64_t>();
  for (const auto& [name, bytes] : counts["bytes_by_width"].items()) widths += bytes.get<uint64_t>();
  const auto bytes = counts["global_bytes_read"].get<uint64_t>() + counts["global_bytes_written"].get<uint64_t>();
  EXPECT_GT(classes, 0u);
  EXPECT_EQ(classes, counts["instructions"]);
  EXPECT_EQ(opcodes, counts["instructions"]);
  EXPECT_EQ(widths, bytes);
  EXPECT_GE(counts["cache_lines"].get<uint64_t>() * 128, bytes / 64);  // a line is read by 64 lanes at most
  EXPECT_GT(counts["lds_bytes"], 0u);
  double launches = 0;
  for (const Json& op : json["ops"]) launches += op["instructions"].get<double>();
  const auto instructions = counts["instructions"].get<double>();
  EXPECT_LE(launches, instructions);
  EXPECT_GE(launches, 0.99 * instructions);  // the rest copies inputs and outputs
}

}  // namespace
}  // namespace rung::tasks
