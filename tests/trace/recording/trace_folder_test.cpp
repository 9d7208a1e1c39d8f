// A folder of traces is one recording: what each rank calls by the same number stays apart.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "support/gzip.hpp"
#include "trace/recording/read_bytes.hpp"
#include "trace/recording/xplane_messages.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// A launch and its kernel, on device 0 of process 1, whatever the rank.
std::string rank(const std::string& kernel, int at_us, const std::string& card = "NVIDIA H200") {
  return fmt::format(
      R"({{"deviceProperties":[{{"id":0,"name":"{}"}}],"traceEvents":[)"
      R"({{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":{},"dur":9,"args":{{"Input Dims":[[1,2],[2,3]]}}}},)"
      R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":{},"dur":2,"args":{{"correlation":7}}}},)"
      R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":5,"args":{{"correlation":7,"device":0,"stream":7,)"
      R"("grid":[4,1,1],"block":[64,1,1]}}}}]}})",
      card, at_us, at_us + 1, kernel, at_us + 4);
}

TEST(TraceFolder, RanksOfOneNumberStayApart) {
  const TemporaryDirectory folder;
  folder.write("rank0.json", rank("first", 10));
  folder.write("rank1.json.gz", gzip(rank("second", 11, "NVIDIA H100 80GB HBM3")));
  folder.write("config.json", R"({"model_type": "bert"})");
  folder.write("notes.txt", "not a trace");
  const auto r = read_recording(folder.path());
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->format, "PyTorch profiler");
  EXPECT_THAT(r->events, SizeIs(6));
  const Event first = event_named(*r, "first"), second = event_named(*r, "second");
  EXPECT_NE(first.link, second.link);
  for (const uint32_t link : {first.link, second.link}) EXPECT_EQ(std::ranges::count(r->events, link, &Event::link), 2);
  EXPECT_EQ(r->lanes[first.lane].device, 0);
  EXPECT_EQ(r->lanes[second.lane].device, 1);
  EXPECT_THAT(r->device_names, ElementsAre("NVIDIA H200", "NVIDIA H100 80GB HBM3"));
  EXPECT_THAT(r->launches[second.detail].grid, ElementsAre(4u, 1u, 1u));
  std::vector<int64_t> processes;
  for (const Lane& lane : r->lanes)
    if (!lane.on_device) processes.push_back(lane.process);
  EXPECT_THAT(processes, SizeIs(2));
  EXPECT_NE(processes[0], processes[1]);
  const Event& op = r->events[1];
  EXPECT_EQ(r->strings[r->operands[op.detail].shapes], "[[1,2],[2,3]]");
}

TEST(TraceFolder, OfOneTraceIsThatTrace) {
  const TemporaryDirectory folder;
  folder.write("trace.json", rank("k", 10));
  const auto r = read_recording(folder.path());
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_THAT(r->events, SizeIs(3));
}

TEST(TraceFolder, OfJaxGivesTheLastSessionsHostsOnce) {
  const TemporaryDirectory folder;
  const auto session = [&](const std::string& name, const std::string& kernel) {
    MadePlane plane("/device:GPU:0");
    plane.line({1, "Stream #1", 0, {{kernel, 0, 1000}}});
    const std::string path = "plugins/profile/" + name;
    std::filesystem::create_directories(folder / path);
    folder.write(path + "/host.xplane.pb", plane.bytes());
    folder.write(path + "/host.trace.json.gz", gzip(rank("the same again", 5)));
  };
  session("2026_01_02", "later");
  session("2026_01_01", "earlier");
  const auto r = read_recording(folder.path());
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_THAT(names_of(*r), ElementsAre("later"));
}

TEST(TraceFolder, SaysWhatIsWrong) {
  const TemporaryDirectory folder, mixed;
  folder.write("a.json", rank("k", 10));
  folder.write("b.json", rank("k", 10).substr(0, 300));
  const auto damaged = read_recording(folder.path());
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr("b.json': "));
  MadePlane plane("/device:GPU:0");
  mixed.write("a.json", rank("k", 10));
  mixed.write("b.xplane.pb", plane.line({1, "Stream #1", 0, {{"k", 0, 1000}}}).bytes());
  const auto two = read_recording(mixed.path());
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("traces of PyTorch profiler and of JAX profiler in one folder"));
}

}  // namespace
}  // namespace rung::trace
