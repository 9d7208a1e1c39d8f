// rocprofv3's databases: processes, domains of calls, and what is missing, damaged or no number.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_formats.hpp"

namespace rung::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// A process with one call and a kernel of it, whose tables end in `ending`.
std::string process(const std::string& ending, int pid) {
  std::string statements =
      "CREATE TABLE rocpd_string@ (id INTEGER PRIMARY KEY, string TEXT);"
      "INSERT INTO rocpd_string@ VALUES (1, 'HIP_RUNTIME_API'), (2, 'hipLaunchKernel'), (3, 'HSA_CORE_API'),"
      " (4, 'MARKER_CORE_RANGE_API'), (5, 'KERNEL_DISPATCH'), (6, 'MEMORY_COPY_HOST_TO_DEVICE');"
      "CREATE TABLE rocpd_info_agent@ (id INT, type TEXT, absolute_index INT, name TEXT, product_name TEXT);"
      "INSERT INTO rocpd_info_agent@ VALUES (10, 'CPU', 0, 'cpu', ''), (11, 'GPU', 1, 'gfx942', '');"
      "CREATE TABLE rocpd_info_kernel_symbol@ (id INT, display_name TEXT, arch_vgpr_count INT, accum_vgpr_count INT);"
      "INSERT INTO rocpd_info_kernel_symbol@ VALUES (1, 'of_#.kd', 40, 8);"
      "CREATE TABLE rocpd_event@ (id INTEGER PRIMARY KEY, category_id INT, stack_id INT, extdata TEXT);"
      "INSERT INTO rocpd_event@ VALUES (1, 1, 12, '{}'), (2, 5, 12, '{}');"
      "CREATE TABLE rocpd_region@ (pid INT, tid INT, start INT, end INT, name_id INT, event_id INT);"
      "INSERT INTO rocpd_region@ VALUES (#, #, 10, 20, 2, 1);"
      "CREATE TABLE rocpd_kernel_dispatch@ (agent_id INT, kernel_id INT, queue_id INT, stream_id INT, start INT, end "
      "INT,"
      " workgroup_size_x INT, grid_size_x INT, event_id INT);"
      "INSERT INTO rocpd_kernel_dispatch@ VALUES (11, 1, 1, 3, 30, 40, 64, 130, 2);"
      "CREATE TABLE rocpd_memory_copy@ (src_agent_id INT, dst_agent_id INT, stream_id INT, start INT, end INT, name_id "
      "INT,"
      " size INT, event_id INT);";
  for (const auto& [mark, text] :
       {std::pair(std::string("@"), ending), std::pair(std::string("#"), std::to_string(pid))})
    for (size_t at = 0; (at = statements.find(mark, at)) != std::string::npos;) statements.replace(at, 1, text);
  return statements;
}

Result<Recording> read_rocpd_database(const std::string& statements) {
  const TemporaryDirectory folder;
  make_database(folder / "results.db", statements);
  return read_recording(folder / "results.db");
}

const Event* event_named(const Recording& r, std::string_view name) {
  for (const Event& e : r.events)
    if (r.name_of(e) == name) return &e;
  return nullptr;
}

TEST(RocpdDatabase, HasWorkCallsAndDevices) {
  const auto r = read_rocpd_database(process("_a", 7));
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 2u);
  const Event *call = event_named(*r, "hipLaunchKernel"), *kernel = event_named(*r, "of_7");
  ASSERT_TRUE(call && kernel);
  EXPECT_EQ(kernel->link, call->link);
  EXPECT_EQ(r->lanes[call->lane].process, 7);
  EXPECT_EQ(r->lanes[kernel->lane].device, 1);
  EXPECT_EQ(r->lanes[kernel->lane].thread, 3);
  EXPECT_EQ(r->launches[kernel->detail], (LaunchShape{{3, 0, 0}, {64, 0, 0}, 48, 0}));
  EXPECT_THAT(r->device_names, ElementsAre("", "gfx942"));
  EXPECT_EQ(r->format, "rocprofv3");
  EXPECT_THAT(r->skipped, IsEmpty());
}

TEST(RocpdDatabase, HasProcessesWhoseCorrelationsAreTheirOwn) {
  const auto r = read_rocpd_database(process("_a", 7) + process("_b", 8));
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 4u);
  for (const Event& call : r->events) {
    if (call.kind != EventKind::runtime_call) continue;
    const auto pid = r->lanes[call.lane].process;
    EXPECT_EQ(event_named(*r, fmt::format("of_{}", pid))->link, call.link);
    EXPECT_NE(event_named(*r, fmt::format("of_{}", 15 - pid))->link, call.link);
  }
}

TEST(RocpdDatabase, NamesRangesByTheirMessage) {
  const auto r = read_rocpd_database(process("_a", 7) +
                                     "INSERT INTO rocpd_event_a VALUES (3, 4, 13, '{\"message\": \"step 1\"}'),"
                                     " (4, 4, 14, '{\"message\": 5}'), (5, 4, 15, '{\"message\"'), (6, 4, 16, NULL);"
                                     "INSERT INTO rocpd_string_a VALUES (7, 'roctxThreadRangeA');"
                                     "INSERT INTO rocpd_region_a VALUES (7, 7, 5, 90, 7, 3), (7, 7, 6, 7, 7, 4),"
                                     " (7, 7, 7, 8, 7, 5), (7, 7, 8, 9, 7, 6), (7, 7, 9, 9, 7, 3);");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_TRUE(event_named(*r, "step 1"));
  EXPECT_EQ(event_named(*r, "step 1")->kind, EventKind::range);
  EXPECT_EQ(std::ranges::count_if(r->events, [&](const Event& e) { return r->name_of(e) == "roctxThreadRangeA"; }), 3);
  EXPECT_THAT(r->skipped, ElementsAre(Pair("instants", 1)));
}

TEST(RocpdDatabase, LinksWorkThroughCallsOfHsa) {
  const auto r = read_rocpd_database(process("_a", 7) +
                                     "INSERT INTO rocpd_event_a VALUES (3, 3, 13, '{}'), (4, 5, 13, '{}');"
                                     "INSERT INTO rocpd_region_a VALUES (7, 7, 12, 18, 2, 3);"
                                     "UPDATE rocpd_kernel_dispatch_a SET event_id = 4;");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 2u);
  EXPECT_EQ(r->events[0].link, r->events[1].link);
  EXPECT_THAT(r->skipped, ElementsAre(Pair("calls of HSA: HIP's, above them, are kept", 1)));
}

TEST(RocpdDatabase, TellsDirectionsByAgents) {
  const auto r = read_rocpd_database(process("_a", 7) +
                                     "INSERT INTO rocpd_memory_copy_a VALUES (10, 11, 3, 50, 60, 6, 4096, 1),"
                                     " (11, 10, 3, 60, 70, 6, 'x', 1), (11, 11, 3, 70, 80, 6, 8, NULL),"
                                     " (10, 10, 3, 80, 90, 6, 8, 1), (98, 99, 3, 80, 90, 6, 8, 1);");
  ASSERT_TRUE(r) << r.error().message;
  std::vector<CopyShape> shapes;
  for (const Event& e : r->events)
    if (e.kind == EventKind::copy) shapes.push_back(r->copies[e.detail]);
  EXPECT_THAT(shapes, ElementsAre(CopyShape{.bytes = 4096, .host_to_device = true},
                                  CopyShape{.bytes = -1, .device_to_host = true}, CopyShape{.bytes = 8}));
  EXPECT_THAT(r->skipped, UnorderedElementsAre(Pair("copies from host to host", 1),
                                               Pair("work on an agent that is missing or no number", 1)));
}

TEST(RocpdDatabase, CountsWhatItDoesNotKeep) {
  const auto r = read_rocpd_database(
      process("_a", 7) +
      "INSERT INTO rocpd_kernel_dispatch_a VALUES (11, 1, 1, 3, -30, 40, 64, 130, 2), (11, 1, 1, 3, 'now', 40, 64, "
      "130, 2),"
      " (99, 1, 1, 3, 30, 40, 64, 130, 2), (11, 99, 1, NULL, 31, 40, NULL, 'x', 99);"
      "INSERT INTO rocpd_event_a VALUES (3, 5, 14, '{}');"
      "INSERT INTO rocpd_region_a VALUES (7, 7, 1, 2, 2, 3), (7, 7, 1, 2, 2, NULL);"
      "CREATE TABLE rocpd_memory_allocate_a (id INT); INSERT INTO rocpd_memory_allocate_a VALUES (1), (2);"
      "CREATE TABLE rocpd_pmc_event_a (id INT); INSERT INTO rocpd_pmc_event_a VALUES (1);"
      "CREATE TABLE rocpd_sample_a (id INT); INSERT INTO rocpd_sample_a VALUES (1);");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 3u);
  EXPECT_TRUE(event_named(*r, "(no name)"));
  EXPECT_THAT(r->skipped, UnorderedElementsAre(Pair("negative time", 1), Pair("a time that is missing or no number", 1),
                                               Pair("work on an agent that is missing or no number", 1),
                                               Pair("calls of domains that are not known", 2),
                                               Pair("allocations that the device's driver made", 2),
                                               Pair("counters", 1), Pair("samples", 1)));
}

TEST(RocpdDatabase, IsRefusedWhereATableIsNone) {
  const auto r =
      read_rocpd_database(process("_a", 7) + "DROP TABLE rocpd_region_a; CREATE TABLE rocpd_region_a (x INT);");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("table rocpd_region_a has none of the columns that are read"));
}

// Views make one table of all processes' for whoever asks in SQL; they are not run.
TEST(RocpdDatabase, IsReadByItsTables) {
  const auto r = read_rocpd_database(process("_a", 7) + "CREATE VIEW rocpd_string AS SELECT * FROM rocpd_string_a;");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 2u);
}

TEST(RocpdDatabase, MayBeCutShortAnywhere) {
  const TemporaryDirectory folder;
  make_database(folder / "x.db", "PRAGMA page_size=512;" + process("_a", 7));
  const std::string whole = content_of(folder / "x.db");
  for (size_t bytes = 0; bytes < whole.size(); bytes += 61) {
    const auto r = read_recording(folder.write("x.db", whole.substr(0, bytes)));
    if (r) {
      EXPECT_LE(r->events.size(), 2u);
    }
  }
}

}  // namespace
}  // namespace rung::trace
