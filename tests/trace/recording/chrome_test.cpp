// PyTorch's traces and rung's own: what is kept, with which times, links, lanes and details.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "support/gzip.hpp"
#include "trace/recording/read_bytes.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Recording read(const std::string& events) {
  auto recording = read_bytes("{\"traceEvents\":[" + events + "]}");
  EXPECT_TRUE(recording) << recording.error().message;
  return recording ? std::move(*recording) : Recording();
}

// A kernel at 12.345 us for 2.001 us, with other fields.
std::string kernel(const std::string& more) {
  return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":12.345,"dur":2.001)" + more + "}";
}

TEST(ChromeTrace, KernelHasTimesLaneLinkAndLaunch) {
  const Recording r = read(kernel(
      R"(,"args":{"correlation":5,"stream":9,"device":3,"grid":[1,2,3],"block":[4,5,6],
      "registers per thread":168,"shared memory":49152})"));
  ASSERT_EQ(r.events.size(), 1u);
  const Event& e = r.events[0];
  EXPECT_EQ(r.format, "PyTorch profiler");
  EXPECT_EQ(e.kind, EventKind::kernel);
  EXPECT_EQ(e.start_ns, 12345);
  EXPECT_EQ(e.duration_ns, 2001);
  EXPECT_EQ(e.link, 5u);
  EXPECT_TRUE(r.lanes[e.lane].on_device);
  EXPECT_EQ(r.lanes[e.lane].device, 3);
  EXPECT_EQ(r.lanes[e.lane].thread, 9);
  const LaunchShape& launch = r.launches[e.detail];
  EXPECT_THAT(launch.grid, ElementsAre(1u, 2u, 3u));
  EXPECT_THAT(launch.block, ElementsAre(4u, 5u, 6u));
  EXPECT_EQ(launch.registers, 168u);
  EXPECT_EQ(launch.shared_bytes, 49152u);
}

// Numbers in whose upper half stands a process or a rank.
TEST(ChromeTrace, LinksCorrelationsAbove32BitsCorrectly) {
  const auto call = [](const std::string& correlation) {
    return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":)" +
           correlation + "}}";
  };
  const std::vector<std::string> numbers = {"5", "4294967301", "8589934597", "9223372036854775807", "4294967295"};
  std::string events;
  for (const std::string& number : numbers)
    events += call(number) + "," + kernel(R"(,"args":{"correlation":)" + number + "}") + ",";
  events.pop_back();
  const Recording r = read(events);
  std::vector<uint32_t> links;
  for (const Event& e : r.events)
    if (e.kind == EventKind::kernel) links.push_back(e.link);
  std::ranges::sort(links);
  EXPECT_EQ(std::ranges::adjacent_find(links), links.end()) << "each has its own";
  ASSERT_EQ(links.size(), numbers.size());
  EXPECT_NE(links.front(), 0u);
  for (const uint32_t link : links)
    EXPECT_EQ(std::ranges::count(r.events, link, &Event::link), 2) << "the kernel and its call";
}

TEST(ChromeTrace, KernelWithoutArgumentsLiesOnItsRow) {
  const Recording r = read(kernel(""));
  ASSERT_EQ(r.events.size(), 1u);
  EXPECT_EQ(r.lanes[r.events[0].lane].device, 0);
  EXPECT_EQ(r.lanes[r.events[0].lane].thread, 7);
  EXPECT_EQ(r.events[0].link, 0u);
  EXPECT_EQ(r.events[0].detail, 0u);
}

TEST(ChromeTrace, CopyTellsDirectionMemoryAndBytes) {
  const Recording r = read(
      R"--({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":1,"dur":2,
          "args":{
  "bytes" : 4096}},
         {"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pinned)","pid":0,"tid":7,"ts":5,"dur":2},
         {"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":7,"ts":9,"dur":2})--");
  ASSERT_EQ(r.events.size(), 3u);
  const CopyShape& in = r.copies[r.events[0].detail];
  EXPECT_EQ(in, (CopyShape{4096, MemoryKind::pageable, MemoryKind::device, true, false}));
  const CopyShape& out = r.copies[r.events[1].detail];
  EXPECT_EQ(out, (CopyShape{-1, MemoryKind::device, MemoryKind::pinned, false, true}));
  EXPECT_EQ(r.events[2].kind, EventKind::fill);
  EXPECT_EQ(r.events[2].detail, 0u);
}

TEST(ChromeTrace, OperationKeepsItsOperandsAsTheyAreWritten) {
  const Recording r = read(
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":1,"dur":2,"args":{
          "Input Dims": [[51, 1024], [1024,1024], []], "Input Strides":[[1024,1],[1,1024],[]],
          "Input type":["c10::BFloat16","c10::BFloat16","Scalar"],"Concrete Inputs":["","","1"]}},
         {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":5,"dur":2})");
  ASSERT_EQ(r.events.size(), 2u);
  EXPECT_EQ(r.events[0].kind, EventKind::host_op);
  const OperandTexts& texts = r.operands[r.events[0].detail];
  EXPECT_EQ(r.strings[texts.shapes], "[[51, 1024], [1024,1024], []]");
  EXPECT_EQ(r.strings[texts.strides], "[[1024,1],[1,1024],[]]");
  EXPECT_EQ(r.strings[texts.types], R"(["c10::BFloat16","c10::BFloat16","Scalar"])");
  EXPECT_EQ(r.strings[texts.values], R"(["","","1"])");
  EXPECT_EQ(r.events[1].detail, 0u);
  const Lane& lane = r.lanes[r.events[0].lane];
  EXPECT_FALSE(lane.on_device);
  EXPECT_EQ(lane.process, 1);
  EXPECT_EQ(lane.thread, 2);
}

TEST(ChromeTrace, CategoriesTellKinds) {
  const std::vector<std::pair<std::string, EventKind>> kinds{{"cpu_op", EventKind::host_op},
                                                             {"cuda_runtime", EventKind::runtime_call},
                                                             {"cuda_driver", EventKind::runtime_call},
                                                             {"kernel", EventKind::kernel},
                                                             {"gpu_memcpy", EventKind::copy},
                                                             {"gpu_memset", EventKind::fill},
                                                             {"user_annotation", EventKind::range},
                                                             {"Operator", EventKind::host_op},
                                                             {"Runtime", EventKind::runtime_call},
                                                             {"Kernel", EventKind::kernel},
                                                             {"Memcpy", EventKind::copy},
                                                             {"Memset", EventKind::fill}};
  for (const auto& [category, kind] : kinds) {
    const Recording r =
        read(fmt::format(R"({{"ph":"X","cat":"{}","name":"x","pid":0,"tid":0,"ts":1,"dur":1}})", category));
    ASSERT_EQ(r.events.size(), 1u) << category;
    EXPECT_EQ(r.events[0].kind, kind) << category;
  }
}

TEST(ChromeTrace, StepOfOldVersionsIsARange) {
  const Recording r = read(R"({"ph":"X","cat":"cpu_op","name":"ProfilerStep#3","pid":1,"tid":2,"ts":1,"dur":2})");
  ASSERT_EQ(r.events.size(), 1u);
  EXPECT_EQ(r.events[0].kind, EventKind::range);
}

TEST(ChromeTrace, CountsWhatIsLeftOutByReason) {
  const std::string rest = R"("name":"x","pid":0,"tid":0,"ts":1,"dur":1})";
  const Recording r = read(
      kernel("") + R"(,{"ph":"X","cat":"python_function",)" + rest + R"(,{"ph":"s","cat":"ac2g",)" + rest +
      R"(,{"ph":"f","cat":"ac2g",)" + rest + R"(,{"ph":"i",)" + rest + R"(,{"ph":"C",)" + rest + R"(,{"ph":"?",)" +
      rest + R"(,{"ph":5,)" + rest + ",{" + rest + R"(,{"ph":"X","cat":"nobody's",)" + rest + R"(,{"ph":"X",)" + rest);
  ASSERT_EQ(r.events.size(), 1u);
  EXPECT_EQ(skipped(r, "functions of Python shorter than 1 ms"), 1);
  EXPECT_EQ(skipped(r, "flow arrows: correlation numbers tell the same"), 2);
  EXPECT_EQ(skipped(r, "instants"), 1);
  EXPECT_EQ(skipped(r, "counters"), 1);
  EXPECT_EQ(skipped(r, "events of phases that are not known"), 3);
  EXPECT_EQ(skipped(r, "events of categories that are not known"), 2);
  EXPECT_EQ(all_skipped(r), 10);
}

TEST(ChromeTrace, NamesOfThreadsAndStreamsReachTheirLanes) {
  const Recording r = read(kernel("") +
                           R"--(,{"ph":"X","cat":"cpu_op","name":"a","pid":0,"tid":7,"ts":1,"dur":1},
         {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 \u00e9"}},
         {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"thread 7 (python)"
}
},
         {"ph":"M","name":"process_name","pid":0,"tid":7,"args":{"name":"python"}},
         {"ph":"M","name":"thread_name","pid":9,"tid":9,"args":{"name":"of no events"}})--");
  ASSERT_EQ(r.lanes.size(), 2u);
  EXPECT_EQ(r.lanes[event_named(r, "k").lane].name, "stream 7 \u00e9");
  EXPECT_EQ(r.lanes[event_named(r, "a").lane].name, "thread 7 (python)");
}

TEST(ChromeTrace, DevicesAreNamed) {
  const auto r = read_bytes(R"({"deviceProperties":[{"id":1,"name":"NVIDIA H200"},{"id":0,"name":"AMD"},{"id":-1,
    "name":"x"},{"name":"no id"},{"id":2000,"name":"far"}],"traceEvents":[)" +
                            kernel("") + "]}");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_THAT(r->device_names, ElementsAre("AMD", "NVIDIA H200"));
}

std::string on_devices(const std::string& properties, const std::vector<int>& devices) {
  std::string events;
  for (const int device : devices)
    events += (events.empty() ? "" : ",") + kernel(fmt::format(R"(,"args":{{"device":{}}})", device));
  return "{\"deviceProperties\":[" + properties + "],\"traceEvents\":[" + events + "]}";
}

std::vector<std::string> device_names(const std::string& properties, const std::vector<int>& devices) {
  const auto r = read_bytes(on_devices(properties, devices));
  EXPECT_TRUE(r) << r.error().message;
  return r ? r->device_names : std::vector<std::string>();
}

// ROCm counts processors before GPUs: agent 2 is the first GPU of a host with two.
TEST(ChromeTrace, NamesAgentsLikeTheGpusWhereAllEqual) {
  const std::string one = R"({"id":0,"name":"AMD Instinct MI300X"})";
  EXPECT_THAT(device_names(one, {2}), ElementsAre("", "", "AMD Instinct MI300X"));
  const auto two = device_names(one + R"(,{"id":1,"name":"AMD Instinct MI300X"})", {9});
  ASSERT_EQ(two.size(), 10u);
  EXPECT_EQ(two[9], "AMD Instinct MI300X");
}

TEST(ChromeTrace, NamesMixedAgentsOnlyWhereAllAreSeen) {
  const std::string kinds = R"({"id":0,"name":"AMD Instinct MI300X"},{"id":1,"name":"AMD Instinct MI210"})";
  EXPECT_THAT(device_names(kinds, {3, 4}), ElementsAre("", "", "", "AMD Instinct MI300X", "AMD Instinct MI210"));
  EXPECT_THAT(device_names(kinds, {4}), IsEmpty());
  EXPECT_THAT(device_names(kinds, {0, 1}), ElementsAre("AMD Instinct MI300X", "AMD Instinct MI210"));
}

TEST(ChromeTrace, NamesNamelessDevicesByUnitsAndMemory) {
  const auto named = [](int units, int64_t bytes) {
    return device_names(
        fmt::format(R"({{"id":0,"name":"","computeMajor":9,"numSms":{},"totalGlobalMem":{}}})", units, bytes), {2});
  };
  EXPECT_THAT(named(304, 206'141'652'992), ElementsAre("", "", "AMD Instinct MI300X"));
  EXPECT_THAT(named(305, 206'141'652'992), IsEmpty());
}

TEST(ChromeTrace, LosesOnlyTheNamesOfMalformedDevices) {
  for (const std::string devices : {"7", "[7]", R"([{"id":0,"id":0,"name":"twice"}])"}) {
    const auto r = read_bytes("{\"deviceProperties\":" + devices + ",\"traceEvents\":[" + kernel("") + "]}");
    ASSERT_TRUE(r) << devices << ": " << r.error().message;
    EXPECT_EQ(r->events.size(), 1u);
    EXPECT_THAT(r->device_names, IsEmpty());
  }
}

TEST(ChromeTrace, EscapesStandForWhatTheyMean) {
  const Recording r =
      read(R"({"ph":"X","cat":"kernel","name":"a\"b\\c\u00e9\ud83d\ude00\n\/","pid":0,"tid":0,"ts":1,"dur":1})");
  EXPECT_THAT(names_of(r), ElementsAre("a\"b\\c\u00e9\U0001F600\n/"));
}

TEST(ChromeTrace, KeepsInvalidEscapesAsWritten) {
  const Recording r = read(R"({"ph":"X","cat":"kernel","name":"a\qb\ud83d","pid":0,"tid":0,"ts":1,"dur":1})");
  EXPECT_THAT(names_of(r), ElementsAre(R"(a\qb\ud83d)"));
}

TEST(ChromeTrace, HostileNamesAreValidTextAndToldApart) {
  const std::string bell = "<script>\x07\x1b[31m";
  const Recording r =
      read(R"({"ph":"X","cat":"kernel","name":")" + bell +
           "\",\"pid\":0,\"tid\":0,\"ts\":1,\"dur\":1},"
           "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"\xff\xfe k\",\"pid\":0,\"tid\":0,\"ts\":2,\"dur\":1}");
  EXPECT_THAT(names_of(r), ElementsAre(bell, "\ufffd\ufffd k"));
}

TEST(ChromeTrace, EventsComeInOrderOfTimeOuterFirst) {
  const auto event = [](const char* name, int start, int duration) {
    return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":0,"tid":0,"ts":{},"dur":{}}},)", name, start,
                       duration);
  };
  const std::string events = event("late", 9, 1) + event("inner", 1, 2) + event("outer", 1, 5) + kernel("");
  EXPECT_THAT(names_of(read(events)), ElementsAre("outer", "inner", "late", "k"));
}

TEST(ChromeTrace, FieldsMayComeInAnyOrderAndTwice) {
  const Recording r = read(
      R"({"args":{"stream":1,"correlation":4,"correlation":5},"dur":"2","ts":"1.5","tid":"7","pid":0,"name":"first",
          "name":"last","cat":"kernel","ph":"X","more":{"deep":[[1],{"a":null}]}})");
  ASSERT_EQ(r.events.size(), 1u);
  EXPECT_EQ(r.name_of(r.events[0]), "last");
  EXPECT_EQ(r.events[0].start_ns, 1500);
  EXPECT_EQ(r.events[0].duration_ns, 2000);
  EXPECT_EQ(r.events[0].link, 5u);
}

TEST(ChromeTrace, ArgumentsThatAreNoObjectAreNone) {
  for (const std::string arguments : {"null", "[1,2]", "\"text\"", "5", "true"}) {
    const Recording r = read(kernel(",\"args\":" + arguments));
    EXPECT_EQ(r.events.size(), 1u) << arguments;
  }
}

TEST(ChromeTrace, ArgumentsOfTheWrongKindAreUnknown) {
  const Recording r = read(kernel(
      R"(,"args":{"correlation":"x","stream":{},"device":[0],"grid":{"x":1},"block":[1,"2",-3],"shared memory":1.5,
      "registers per thread":99999999999})"));
  ASSERT_EQ(r.events.size(), 1u);
  EXPECT_EQ(r.events[0].link, 0u);
  EXPECT_EQ(r.lanes[r.events[0].lane].device, 0);
  EXPECT_EQ(r.lanes[r.events[0].lane].thread, 7);
  EXPECT_THAT(r.launches[r.events[0].detail].block, ElementsAre(1u, 2u, 0u));
  EXPECT_THAT(r.launches[r.events[0].detail].grid, ElementsAre(0u, 0u, 0u));
  EXPECT_EQ(r.launches[r.events[0].detail].registers, 0u);
}

TEST(ChromeTrace, ThreadsThatAreNoNumbersAreToldApart) {
  const auto event = [](const char* thread) {
    return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"x","pid":"main","tid":{},"ts":1,"dur":1}})", thread);
  };
  const Recording r = read(event("\"a\"") + "," + event("\"b\"") + "," + event("\"a\"") + "," + event("-1"));
  EXPECT_EQ(r.lanes.size(), 3u);
  EXPECT_EQ(r.events.size(), 4u);
}

TEST(ChromeTrace, RungsOwnProfileIsRead) {
  const auto r = read_bytes(
      R"([{"name":"linear","cat":"step","ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"args":{"kernel":"linear_fma","problem":"m=1"}},
          {"name":"norm","ph":"X","pid":1,"tid":1,"ts":3,"dur":2,"args":{"kernel":"norm_row","problem":"n=4"}}])");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->format, "rung profile");
  EXPECT_THAT(names_of(*r), ElementsAre("linear_fma", "norm_row"));
  EXPECT_EQ(r->events[0].kind, EventKind::kernel);
}

TEST(ChromeTrace, AnArrayIsReadToo) {
  const auto r = read_bytes("\xef\xbb\xbf \r\n[" + kernel("") + "]\n\n");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 1u);
}

TEST(ChromeTrace, NoEventsAreAnEmptyRecording) {
  for (const char* text : {"[]", " [ ] ", R"({"traceEvents":[]})", R"({"a":1,"traceEvents":[ ],"b":[{}]})"}) {
    const auto r = read_bytes(text);
    ASSERT_TRUE(r) << text << ": " << r.error().message;
    EXPECT_THAT(r->events, IsEmpty());
  }
}

TEST(ChromeTrace, PackedAndPlainAreTheSame) {
  std::string events;
  for (int i = 0; i < 3000; ++i)
    events += fmt::format(R"({}{{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":0,"ts":{},"dur":1}})", i ? "," : "",
                          i % 7, i);
  const std::string text = "{\"traceEvents\":[" + events + "]}";
  const auto plain = read_bytes(text), packed = read_bytes(gzip(text));
  const auto members = read_bytes(gzip(text.substr(0, 1000)) + gzip("") + gzip(text.substr(1000)));
  ASSERT_TRUE(plain && packed && members);
  EXPECT_EQ(plain->events.size(), 3000u);
  EXPECT_EQ(names_of(*packed), names_of(*plain));
  EXPECT_EQ(names_of(*members), names_of(*plain));
}

}  // namespace
}  // namespace rung::trace
