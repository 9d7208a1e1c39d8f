// rocprofv3's JSON: tables and records in any order, several processes, HSA's calls, and files that are damaged.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "support/gzip.hpp"
#include "trace/recording/read_bytes.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

// Kinds: 0 kernels, 1 HIP's calls, 2 HSA's, 3 ranges, 4 copies, 5 RCCL's, 6 what the compiler writes. Agents: 10 is a
// processor, 20 and 30 are GPUs.
const std::string kTables = R"--("metadata":{"pid":7,"command":["a","b"]},
 "agents":[{"id":{"handle":10},"type":1,"logical_node_id":0,"name":"cpu"},
           {"id":{"handle":20},"type":2,"logical_node_id":1,"node_id":5,"name":"gfx942","product_name":"MI300X"},
           {"id":{"handle":30},"type":2,"node_id":2,"name":"gfx942","product_name":""}],
 "strings":{"callback_records":[],"buffer_records":[{"kind":"KERNEL_DISPATCH","operations":["NONE","COMPLETE"]},
   {"kind":"HIP_RUNTIME_API","operations":["hipLaunchKernel","hip\u004dalloc"]},
   {"kind":"HSA_CORE_API","operations":["hsa_signal_store_screlease"]},
   {"kind":"MARKER_CORE_RANGE_API","operations":["roctxThreadRangeA"]},
   {"kind":"MEMORY_COPY","operations":["NONE","MEMORY_COPY_HOST_TO_DEVICE","MEMORY_COPY_DEVICE_TO_DEVICE"]},
   {"kind":"RCCL_API","operations":["ncclAllReduce"]},
   {"kind":"HIP_COMPILER_API","operations":["__hipPushCallConfiguration"]}],
  "marker_api":[{"key":50,"value":"step \"1\""}],"correlation_id":{"external":[]}},
 "kernel_symbols":[{"kernel_id":1,"kernel_name":"_Z3foov.kd","formatted_kernel_name":"foo() [clone .kd]",
    "demangled_kernel_name":"foo() [clone .kd]","arch_vgpr_count":40,"accum_vgpr_count":8},
   {"kernel_id":2,"kernel_name":"Cijk.kd","demangled_kernel_name":""}])--";

std::string process(const std::string& records, const std::string& tables = kTables) {
  return fmt::format(R"({{{},"buffer_records":{{{}}}}})", tables, records);
}

std::string document(const std::string& processes) { return R"({"rocprofiler-sdk-tool":[)" + processes + "]}"; }

Recording read(const std::string& records) {
  auto recording = read_bytes(document(process(records)));
  EXPECT_TRUE(recording) << recording.error().message;
  return recording ? std::move(*recording) : Recording();
}

std::string times(int64_t start, int64_t end) {
  return fmt::format(R"("start_timestamp":{},"end_timestamp":{})", start, end);
}

std::string kernel(int64_t start, int64_t end, int correlation = 0, int agent = 20) {
  return fmt::format(
      R"({{"kind":0,"operation":1,{},"thread_id":70,"correlation_id":{{"internal":{},"external":0}},"dispatch_info":
         {{"agent_id":{{"handle":{}}},"queue_id":{{"handle":3}},"kernel_id":1,"group_segment_size":1024,
           "workgroup_size":{{"x":256,"y":2,"z":1}},"grid_size":{{"x":1000,"y":4,"z":1}}}}}})",
      times(start, end), correlation, agent);
}

std::string call(int kind, int operation, int correlation, int64_t start, int64_t end) {
  return fmt::format(R"({{"kind":{},"operation":{},"correlation_id":{{"internal":{}}},{},"thread_id":70}})", kind,
                     operation, correlation, times(start, end));
}

TEST(RocprofJson, KernelHasNameTimesLaneLinkAndLaunch) {
  const Recording r =
      read(R"("kernel_dispatch":[)" + kernel(100, 150, 9) + R"(],"hip_api":[)" + call(1, 0, 9, 90, 95) + "]");
  EXPECT_EQ(r.format, "rocprofv3");
  const Event k = event_named(r, "foo()"), launch = event_named(r, "hipLaunchKernel");
  EXPECT_EQ(k.kind, EventKind::kernel);
  EXPECT_EQ(k.start_ns, 100);
  EXPECT_EQ(k.duration_ns, 50);
  EXPECT_EQ(r.lanes[k.lane].device, 1);
  EXPECT_EQ(r.lanes[k.lane].thread, 3);
  EXPECT_EQ(r.launches[k.detail], (LaunchShape{{4, 2, 1}, {256, 2, 1}, 48, 1024}));
  EXPECT_EQ(launch.kind, EventKind::runtime_call);
  EXPECT_NE(k.link, 0u);
  EXPECT_EQ(launch.link, k.link);
  EXPECT_EQ(r.lanes[launch.lane].process, 7);
  EXPECT_EQ(r.lanes[launch.lane].thread, 70);
  EXPECT_THAT(r.device_names, ElementsAre("", "MI300X", "gfx942"));
  EXPECT_THAT(r.skipped, IsEmpty());
}

TEST(RocprofJson, KernelsWithoutASymbolHaveTheirNumber) {
  const auto r = read_bytes(
      document(process(R"("kernel_dispatch":[)" + kernel(1, 2) + "]", R"("agents":[{"id":20,"type":2,"node_id":4}])")));
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_THAT(names_of(*r), ElementsAre("kernel 1"));
  EXPECT_EQ(r->lanes[0].device, 4);
}

TEST(RocprofJson, NamesLoseTheSuffixOfTheDescriptor) {
  std::string second = kernel(1, 2);
  second.replace(second.find("\"kernel_id\":1"), 13, "\"kernel_id\":2");
  EXPECT_THAT(names_of(read(R"("kernel_dispatch":[)" + second + "]")), ElementsAre("Cijk"));
}

TEST(RocprofJson, StreamsAreBetterThanQueues) {
  std::string with = kernel(1, 2);
  with.insert(1, R"("stream_id":{"handle":12},)");
  const Recording r = read(R"("kernel_dispatch":[)" + with + "," + kernel(3, 4) + "]");
  EXPECT_EQ(r.lanes[r.events[0].lane].thread, 12);
  EXPECT_EQ(r.lanes[r.events[1].lane].thread, 3);
}

TEST(RocprofJson, CopiesLieOnTheGpuThatTheyConcern) {
  const auto copy = [](int operation, int from, int to, int64_t start) {
    return fmt::format(
        R"({{"kind":4,"operation":{},"correlation_id":{{"internal":0}},{},"thread_id":70,"dst_agent_id":{{"handle":{}}},
           "src_agent_id":{{"handle":{}}},"bytes":4096}})",
        operation, times(start, start + 5), to, from);
  };
  const Recording r = read(R"("memory_copy":[)" + copy(1, 10, 20, 1) + "," + copy(9, 30, 10, 2) + "," +
                           copy(2, 20, 30, 3) + "," + copy(1, 10, 10, 4) + "," + copy(1, 99, 98, 5) + "]");
  ASSERT_EQ(r.events.size(), 3u);
  const auto device = [&](size_t i) { return r.lanes[r.events[i].lane].device; };
  const auto shape = [&](size_t i) { return r.copies[r.events[i].detail]; };
  EXPECT_EQ(r.name_of(r.events[0]), "MEMORY_COPY_HOST_TO_DEVICE");
  EXPECT_EQ(device(0), 1);
  EXPECT_EQ(shape(0), (CopyShape{4096, MemoryKind::unknown, MemoryKind::unknown, true, false}));
  EXPECT_EQ(device(1), 2);
  EXPECT_TRUE(shape(1).device_to_host);
  EXPECT_EQ(r.name_of(r.events[1]), "");
  EXPECT_EQ(device(2), 2);
  EXPECT_FALSE(shape(2).host_to_device || shape(2).device_to_host);
  EXPECT_THAT(r.skipped, UnorderedElementsAre(Pair("copies from host to host", 1),
                                              Pair("work on an agent that is missing or no number", 1)));
}

TEST(RocprofJson, DomainsTellWhatACallIs) {
  const Recording r = read(R"("hip_api":[)" + call(1, 1, 1, 1, 9) + "," + call(6, 0, 2, 2, 3) + R"(],"marker_api":[)" +
                           call(3, 0, 50, 0, 20) + "," + call(3, 0, 51, 21, 25) + "," + call(3, 0, 52, 30, 30) +
                           R"(],"rccl_api":[)" + call(5, 0, 3, 4, 8) + "," + call(77, 0, 3, 4, 8) + "]");
  EXPECT_EQ(event_named(r, "hipMalloc").kind, EventKind::runtime_call);
  EXPECT_EQ(event_named(r, "step \"1\"").kind, EventKind::range);
  EXPECT_EQ(event_named(r, "step \"1\"").link, 0u);
  EXPECT_EQ(event_named(r, "roctxThreadRangeA").duration_ns, 4);
  EXPECT_EQ(event_named(r, "ncclAllReduce").kind, EventKind::host_op);
  EXPECT_THAT(r.skipped, UnorderedElementsAre(Pair("calls around a launch, which the compiler writes", 1),
                                              Pair("instants", 1), Pair("calls of domains that are not known", 1)));
}

// HSA's call within HIP's is what the kernel and the copy name; they are HIP's, wherever in the file they stand.
TEST(RocprofJson, LinksHsasWorkToTheEnclosingHipCall) {
  const std::string copy =
      R"({"kind":4,"operation":1,"correlation_id":{"internal":12},"start_timestamp":210,"end_timestamp":220,
          "dst_agent_id":{"handle":20},"src_agent_id":{"handle":10},"bytes":1})";
  const Recording r =
      read(R"("kernel_dispatch":[)" + kernel(100, 150, 11) + R"(],"hip_api":[)" + call(1, 0, 1, 90, 95) + "," +
           call(1, 1, 2, 200, 205) + R"(],"hsa_api":[)" + call(2, 0, 11, 91, 94) + "," + call(2, 0, 12, 201, 204) +
           "," + call(2, 0, 13, 300, 301) + R"(],"memory_copy":[)" + copy + "]");
  EXPECT_EQ(event_named(r, "foo()").link, event_named(r, "hipLaunchKernel").link);
  EXPECT_EQ(event_named(r, "MEMORY_COPY_HOST_TO_DEVICE").link, event_named(r, "hipMalloc").link);
  EXPECT_THAT(r.skipped, ElementsAre(Pair("calls of HSA: HIP's, above them, are kept", 3)));
}

TEST(RocprofJson, ProcessesKeepTheirCorrelationsApart) {
  const std::string one =
      process(R"("kernel_dispatch":[)" + kernel(100, 150, 9) + R"(],"hip_api":[)" + call(1, 0, 9, 90, 95) + "]");
  std::string other = one;
  other.replace(other.find("\"pid\":7"), 7, "\"pid\":8");
  const auto r = read_bytes(document(one + "," + other));
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 4u);
  EXPECT_NE(r->events[0].link, r->events[1].link);
  EXPECT_NE(r->lanes[r->events[0].lane].process, r->lanes[r->events[1].lane].process);
}

TEST(RocprofJson, WhatIsNotKeptIsCounted) {
  const Recording r = read(R"("kernel_dispatch":[)" + kernel(0, 0) + "," + kernel(-1, 4) + "," + kernel(9, 4) + "," +
                           kernel(1, 2, 0, 99) + R"(,{}],"memory_allocation":[{},{}],"scratch_memory":[5],
    "pc_sample_host_trap":[null],"hip_graph":[{"a":[1]}])");
  EXPECT_THAT(r.events, IsEmpty());
  EXPECT_THAT(r.skipped, UnorderedElementsAre(Pair("work whose times the profiler did not get", 1),
                                              Pair("negative time", 1), Pair("negative duration", 1),
                                              Pair("work on an agent that is missing or no number", 1),
                                              Pair("a time that is missing or no number", 1),
                                              Pair("allocations that the device's driver made", 3), Pair("samples", 1),
                                              Pair("records of lists that are not known", 1)));
}

TEST(RocprofJson, CountersAreCounted) {
  const auto r = read_bytes(document(R"({"callback_records":{"counter_collection":[{"a":1},[2]]},"buffer_records":
    {"kernel_dispatch":[]}})"));
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_THAT(r->skipped, ElementsAre(Pair("counters", 2)));
}

TEST(RocprofJson, TablesOfTheWrongKindAreNotUnderstood) {
  const auto r = read_bytes(document(
      process(R"("kernel_dispatch":[)" + kernel(1, 2) + "]",
              R"("metadata":[],"agents":[1,{"id":"x"},{"id":{"handle":20},"type":2,"node_id":1},{"id":{"handle":20}}],
         "kernel_symbols":["x",{"kernel_id":-1}],"strings":{"buffer_records":[5,{"operations":5},{"kind":{}}],
         "marker_api":[{"value":"no key"}]})")));
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 1u);
  EXPECT_EQ(skipped(*r, "agents that are not understood"), 3);
  EXPECT_EQ(skipped(*r, "kernels' symbols that are not understood"), 2);
  EXPECT_EQ(skipped(*r, "texts of ranges that are not understood"), 1);
}

TEST(RocprofJson, FilesWithoutTimesSayHowToGetThem) {
  for (const std::string& text :
       {document(""), document("{}"), document(process("")), document(process(R"("kfd":[])"))})
    EXPECT_THAT(error_of(text), HasSubstr("got no lists of kernels, copies or calls with their times")) << text;
}

TEST(RocprofJson, EveryShorterFileIsCutShort) {
  const std::string text = document(
      process(R"("kernel_dispatch":[)" + kernel(100, 150, 9) + R"(],"hip_api":[)" + call(1, 0, 9, 90, 95) + "]"));
  ASSERT_EQ(error_of(text), "");
  for (size_t bytes = 24; bytes < text.size(); ++bytes)
    EXPECT_THAT(error_of(text.substr(0, bytes)), StartsWith(fmt::format("ends at byte {} within ", bytes)));
  EXPECT_THAT(error_of(gzip(text).substr(0, 300)), HasSubstr("gzip data ends early"));
}

TEST(RocprofJson, AnyByteMayBeAnyOther) {
  const std::string text = document(process(R"("kernel_dispatch":[)" + kernel(100, 150, 9) + "]"));
  for (size_t at = 0; at < text.size(); at += 3)
    for (const char byte : {'\0', '"', "{]9\xff"[at % 4]}) {
      std::string damaged = text;
      damaged[at] = byte;
      expect_sound_or_refused(read_bytes(damaged));
    }
}

}  // namespace
}  // namespace rung::trace
