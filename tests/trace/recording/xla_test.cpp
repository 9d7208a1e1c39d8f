// JAX's profiles: xplane.pb and trace.json of one program say the same.
// SPDX-License-Identifier: Apache-2.0
#include "support/gzip.hpp"
#include "trace/recording/read_bytes.hpp"
#include "trace/recording/xplane_messages.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kKernelDetails =
    "regs:32 static_shared:16 dynamic_shared:1024 grid:8,2,1 block:128,1,1 occ_pct:100";
constexpr std::string_view kCopyDetails = "kind_src:pageable kind_dst:device size:4096 dest:0 async:1";

MadePlane device_plane() {
  MadePlane plane("/device:GPU:1");
  plane.line({13,
              "Stream #13(Compute)",
              1000,
              {{"gemm_fusion_dot_3",
                7'000'000,
                5'000'900,
                {{"correlation_id", "", 71}, {"kernel_details", std::string(kKernelDetails)}}},
               {"MemcpyH2D",
                1'000'000,
                500'000,
                {{"correlation_id", "", 70}, {"memcpy_details", std::string(kCopyDetails), 0, true}}},
               {"Memset", 2'000'000, 1000, {{"memset_details", "kind:device size:4"}}}}});
  plane.line({1, "XLA Ops", 1000, {{"dot.3", 7'000'000, 5'000'000}}});
  plane.stat({"core_count", "", 114}).stat({"memory_size", "", 85'045'215'232});
  return plane;
}

MadePlane host_plane() {
  MadePlane plane("/host:CPU");
  plane.line({71,
              "python",
              1000,
              {{"train", 0, 20'000'000, {{"step_num", "", 4}}},
               {"PjitFunction(step)", 100'000, 19'000'000},
               {"cuLaunchKernel", 3'000'000, 2'000'000, {{"correlation_id", "", 71}}},
               {"cudaMemcpyAsync", 500'000, 100'000, {{"correlation_id", "", 70}}},
               {"$profiler.py:91 start_trace", 0, 1000}}});
  return plane;
}

std::string space() { return host_plane().bytes() + device_plane().bytes(1) + MadePlane("/host:metadata").bytes(0); }

// The same program, in microseconds.
constexpr std::string_view kTrace = R"--({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
 {"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:1"}},
 {"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":1}},
 {"ph":"M","pid":1,"tid":13,"name":"thread_name","args":{"name":"Stream #13(Compute)"}},
 {"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"XLA Ops"}},
 {"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
 {"ph":"M","pid":701,"tid":71,"name":"thread_name","args":{"name":"python"}},
 {"ph":"X","pid":1,"tid":13,"ts":8.0,"dur":5.0009,"name":"gemm_fusion_dot_3","args":{"correlation_id":"71",
  "kernel_details":"regs:32 static_shared:16 dynamic_shared:1024 grid:8,2,1 block:128,1,1 occ_pct:100"}},
 {"ph":"X","pid":1,"tid":13,"ts":2,"dur":0.5,"name":"MemcpyH2D","args":{"correlation_id":"70",
  "memcpy_details":"kind_src:pageable kind_dst:device size:4096 dest:0 async:1"}},
 {"ph":"X","pid":1,"tid":13,"ts":3,"dur":0.001,"name":"Memset","args":{"memset_details":"kind:device size:4"}},
 {"ph":"X","pid":1,"tid":1,"ts":8.0,"dur":5,"name":"dot.3"},
 {"ph":"X","pid":701,"tid":71,"ts":1,"dur":20,"name":"train","args":{"step_num":"4"}},
 {"ph":"X","pid":701,"tid":71,"ts":1.1,"dur":19,"name":"PjitFunction(step)"},
 {"ph":"X","pid":701,"tid":71,"ts":4,"dur":2,"name":"cuLaunchKernel","args":{"correlation_id":"71"}},
 {"ph":"X","pid":701,"tid":71,"ts":1.5,"dur":0.1,"name":"cudaMemcpyAsync","args":{"correlation_id":"70"}},
 {"ph":"X","pid":701,"tid":71,"ts":1,"dur":0.001,"name":"$profiler.py:91 start_trace"},{}]})--";

void expect_the_program(const Recording& r) {
  EXPECT_EQ(r.format, "JAX profiler");
  EXPECT_THAT(names_of(r), ElementsAre("train", "PjitFunction(step)", "cudaMemcpyAsync", "MemcpyH2D", "Memset",
                                       "cuLaunchKernel", "gemm_fusion_dot_3"));
  const Event kernel = event_named(r, "gemm_fusion_dot_3"), copy = event_named(r, "MemcpyH2D");
  EXPECT_EQ(kernel.start_ns, 8000);
  EXPECT_NEAR(static_cast<double>(kernel.duration_ns), 5000.5, 1);
  EXPECT_EQ(kernel.link, event_named(r, "cuLaunchKernel").link);
  EXPECT_EQ(copy.link, event_named(r, "cudaMemcpyAsync").link);
  EXPECT_NE(kernel.link, copy.link);
  EXPECT_EQ(r.lanes[kernel.lane].device, 1);
  EXPECT_EQ(r.lanes[kernel.lane].thread, 13);
  const LaunchShape& launch = r.launches[kernel.detail];
  EXPECT_THAT(launch.grid, ElementsAre(8u, 2u, 1u));
  EXPECT_THAT(launch.block, ElementsAre(128u, 1u, 1u));
  EXPECT_EQ(launch.registers, 32u);
  EXPECT_EQ(launch.shared_bytes, 1040u);
  const CopyShape& shape = r.copies[copy.detail];
  EXPECT_EQ(shape.bytes, 4096);
  EXPECT_EQ(shape.from, MemoryKind::pageable);
  EXPECT_TRUE(shape.host_to_device);
  EXPECT_EQ(event_named(r, "Memset").kind, EventKind::fill);
  EXPECT_EQ(event_named(r, "train").kind, EventKind::range);
  EXPECT_EQ(event_named(r, "PjitFunction(step)").kind, EventKind::host_op);
  EXPECT_EQ(skipped(r, "functions of Python"), 1);
  EXPECT_EQ(skipped(r, "lines that the profiler derives from others"), 1);
}

TEST(Xla, XplaneTellsTheProgram) {
  const auto r = read_bytes(space());
  ASSERT_TRUE(r) << r.error().message;
  expect_the_program(*r);
  EXPECT_THAT(r->device_names, ElementsAre("", "NVIDIA H100 PCIe")) << "by its units and memory";
  EXPECT_EQ(r->lanes[event_named(*r, "train").lane].name, "python");
}

TEST(Xla, TraceJsonTellsTheSame) {
  for (const std::string& bytes : {std::string(kTrace), gzip(kTrace)}) {
    const auto r = read_bytes(bytes);
    ASSERT_TRUE(r) << r.error().message;
    expect_the_program(*r);
  }
}

TEST(Xla, XplaneThatIsCutShortIsRefused) {
  const std::string whole = space();
  const size_t first = host_plane().bytes().size();
  for (size_t length = 40; length < whole.size(); length += 7)
    if (length != first && length != first + device_plane().bytes(1).size()) {
      EXPECT_THAT(error_of(whole.substr(0, length)), HasSubstr("cut short")) << length;
    }
}

TEST(Xla, XplaneWithDamagedBytesIsSoundOrRefused) {
  const std::string whole = space();
  for (size_t at = 0; at < whole.size(); at += 3)
    for (const char byte : {'\x00', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      expect_sound_or_refused(read_bytes(damaged));
    }
}

TEST(Xla, TimesThatCannotBeMeantAreCounted) {
  MadePlane plane("/device:GPU:0");
  plane.line({1, "Stream #1", INT64_MAX, {{"far", INT64_MAX, 5000}}});
  plane.line({2, "Stream #2", 10, {{"negative", 0, -5'000'000}, {"good", 0, 1000}}});
  const auto r = read_bytes(plane.bytes());
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_THAT(names_of(*r), ElementsAre("good"));
  EXPECT_EQ(all_skipped(*r), 2);
}

TEST(Xla, ProfilesWithoutGpuOrHostAreRefused) {
  MadePlane plane("/device:TPU:0");
  plane.line({1, "XLA Ops", 0, {{"dot", 0, 1000}}});
  EXPECT_THAT(error_of(plane.bytes()), HasSubstr("got no event on a stream of a GPU"));
  EXPECT_THAT(error_of(R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}},)"
                       R"({"ph":"X","pid":9,"ts":1,"dur":1,"name":"x"}]})"),
              HasSubstr("got no event on a stream of a GPU"));
}

}  // namespace
}  // namespace rung::trace
