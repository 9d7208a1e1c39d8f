// rocprof's first version: the JSON and the database that it writes of a trace of HIP.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "support/made_database.hpp"
#include "trace/recording/read_bytes.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string row(int pid, const std::string& name) {
  return fmt::format(R"({{"args":{{"name":"{}"}},"ph":"M","pid":{},"name":"process_name","sort_index":0}},)", name,
                     pid);
}

const std::string kRows = row(0, "Markers and Ranges") + row(1, "COPY") + row(2, "CPU HIP API") +
                          row(3, "CPU HSA API") + row(6, "GPU0") + row(7, "GPU1");

struct MadeRow {
  int pid, tid;
};

// Numbers are strings, as it writes them; `more` of the arguments.
std::string whole(const MadeRow& row, const std::string& name, int64_t begin_ns, int64_t end_ns,
                  const std::string& more = "") {
  return fmt::format(R"({{"ph":"X","name":"{}","pid":"{}","tid":"{}","ts":"{}","dur":"{}","args":{{"BeginNs":"{}",)"
                     R"("EndNs":"{}"{}}}}},)",
                     name, row.pid, row.tid, begin_ns / 1000, (end_ns - begin_ns) / 1000, begin_ns, end_ns, more);
}

std::string arrow(int id, const MadeRow& from, int from_us, int to, int to_us) {
  const auto end = [&](char phase, int pid, int tid, int us) {
    return fmt::format(R"({{"ts":{},"ph":"{}","cat":"DataFlow","id":{},"pid":{},"tid":{},"name":"dep"}},)", us, phase,
                       id, pid, tid);
  };
  return end('s', from.pid, from.tid, from_us) + end('t', to, 0, to_us);
}

std::string document(std::string events) {
  if (events.ends_with(',')) events.pop_back();
  return "{ \"traceEvents\":[{}," + kRows + events + "]}";
}

Recording read(const std::string& events) {
  auto recording = read_bytes(document(events));
  EXPECT_TRUE(recording) << recording.error().message;
  return recording ? std::move(*recording) : Recording();
}

TEST(RocprofTrace, OfAPublicKindIsRead) {
  const auto r = read_recording(RUNG_TEST_DATA "/traces/other/rocprof_hip_trace.json");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->format, "rocprof");
  EXPECT_THAT(names_of(*r), ElementsAre("hipLaunchKernel", "gemm_kernel", "hipLaunchKernel", "gemm_kernel",
                                        "hipLaunchKernel", "gemm_kernel"));
  const Event kernel = event_named(*r, "gemm_kernel");
  EXPECT_EQ(kernel.start_ns, 1'008'000);
  EXPECT_EQ(kernel.duration_ns, 400'000);
  EXPECT_EQ(all_skipped(*r), 0);
}

TEST(RocprofTrace, RecognisesListsByTheirRowsNames) {
  const Recording r =
      read(whole({0, 5}, "step", 1000, 90'000) + whole({2, 5}, "hipMemcpyAsync", 2000, 3000, R"(,"pid":"77")") +
           whole({1, 0}, "CopyHostToDevice", 4000, 5001, R"(,"dev-id":"1","queue-id":"3")") +
           whole({1, 0}, "FillBuffer", 6000, 7000) + whole({3, 5}, "hsa_init", 1000, 2000) +
           whole({7, 0}, "k.kd", 8000, 9500, R"(,"dev-id":"1","queue-id":"3","stream-id":"9")") +
           whole({7, 0}, "<barrier packet>", 9600, 9700) + whole({2, 5}, "__hipPushCallConfiguration", 1, 2));
  EXPECT_THAT(names_of(r), ElementsAre("step", "hipMemcpyAsync", "CopyHostToDevice", "FillBuffer", "k"));
  EXPECT_EQ(event_named(r, "step").kind, EventKind::range);
  EXPECT_EQ(r.lanes[event_named(r, "hipMemcpyAsync").lane].process, 77);
  const Event copy = event_named(r, "CopyHostToDevice"), kernel = event_named(r, "k");
  EXPECT_EQ(copy.duration_ns, 1001);
  EXPECT_TRUE(r.copies[copy.detail].host_to_device);
  EXPECT_EQ(event_named(r, "FillBuffer").kind, EventKind::fill);
  EXPECT_EQ(r.lanes[kernel.lane].device, 1);
  EXPECT_EQ(r.lanes[kernel.lane].thread, 9);
  EXPECT_EQ(all_skipped(r), 3);
}

// Of two threads' calls at one time the arrow's own; a begin that lies within its call is that call's.
TEST(RocprofTrace, ArrowsLinkCallsToTheirWork) {
  const Recording r = read(whole({2, 5}, "hipLaunchKernel", 10'000, 14'000) +
                           whole({2, 6}, "hipMemcpy", 10'000, 15'000) + whole({6, 0}, "first", 20'400, 30'000) +
                           whole({6, 0}, "second", 31'000, 32'000) + whole({1, 0}, "CopyDeviceToHost", 12'000, 14'500) +
                           whole({2, 5}, "hipLaunchKernel", 40'000, 41'000) + arrow(0, {2, 5}, 14, 6, 20) +
                           arrow(1, {2, 6}, 12, 1, 12) + arrow(2, {2, 5}, 90, 6, 31) + arrow(3, {2, 8}, 14, 6, 31));
  const uint32_t launch = r.events[1].link;  // of the three that begin at 10 the longer is first
  EXPECT_EQ(r.name_of(r.events[0]), "hipMemcpy");
  EXPECT_NE(launch, 0u);
  EXPECT_EQ(event_named(r, "first").link, launch);
  EXPECT_EQ(event_named(r, "CopyDeviceToHost").link, r.events[0].link);
  EXPECT_NE(r.events[0].link, launch);
  EXPECT_EQ(event_named(r, "second").link, 0u) << "no call lies where its arrows begin";
}

TEST(RocprofTrace, DamageIsRefusedOrCounted) {
  EXPECT_THAT(error_of(R"({"traceEvents":[{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name"},)"
                       R"({"ph":"X","name":"k","pid":9,"ts":1,"dur":1,"args":{"BeginNs":"1","EndNs":"2"}}]})"),
              HasSubstr("none of which is in a list of rocprof's"));
  const std::string whole_text = document(whole({6, 0}, "k", 1000, 2000) + whole({2, 1}, "hipInit", 1, 2));
  for (size_t length = kRows.size(); length < whole_text.size(); ++length)
    EXPECT_THAT(error_of(whole_text.substr(0, length)), HasSubstr("cut short")) << length;
  const Recording r = read(whole({6, 0}, "k", 0, 0) + whole({6, 0}, "k", 5000, 1000) +
                           R"({"ph":"X","name":"k","pid":"6","args":{"BeginNs":"x"}},)" + whole({6, 0}, "good", 1, 2));
  EXPECT_THAT(names_of(r), ElementsAre("good"));
  EXPECT_EQ(all_skipped(r), 3);
}

constexpr const char* kTables =
    "CREATE TABLE HIP (BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT, args TEXT, \"Index\" "
    "INTEGER);"
    "CREATE TABLE OPS (BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER, \"queue-id\" INTEGER, Name TEXT, pid "
    "INTEGER,"
    " tid INTEGER, \"Index\" INTEGER, \"proc-id\" INTEGER);"
    "CREATE TABLE COPY (BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER, \"queue-id\" INTEGER, Name TEXT, pid "
    "INTEGER,"
    " tid INTEGER, \"Index\" INTEGER, \"proc-id\" INTEGER);";

Result<Recording> read_database(const std::string& statements) {
  const TemporaryDirectory folder;
  make_database(folder / "results.db", statements);
  return read_recording(folder / "results.db");
}

TEST(RocprofDatabase, TellsCallsWorkAndWhatStartedWhat) {
  const auto r =
      read_database(std::string(kTables) +
                    "CREATE TABLE rocTX (BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT);"
                    "CREATE TABLE HSA (BeginNs INTEGER, EndNs INTEGER, Name TEXT);"
                    "INSERT INTO HIP VALUES (10, 20, 2, 7, 'hipMemcpyAsync', '', 0), "
                    "(30, 40, 2, 7, 'hipLaunchKernel', '', 1);"
                    "INSERT INTO COPY VALUES (22, 29, 0, 1, 'CopyHostToDevice', 1, 0, 0, 77);"
                    "INSERT INTO OPS VALUES (50, 90, 1, 2, '\"k(int) [clone .kd]\"', 6, 0, 1, 77);"
                    "INSERT INTO rocTX VALUES (5, 95, 0, 7, 'step');"
                    "INSERT INTO HSA VALUES (1, 2, 'hsa_init');");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->format, "rocprof");
  EXPECT_THAT(names_of(*r), ElementsAre("step", "hipMemcpyAsync", "CopyHostToDevice", "hipLaunchKernel", "k(int)"));
  EXPECT_EQ(event_named(*r, "CopyHostToDevice").link, event_named(*r, "hipMemcpyAsync").link);
  EXPECT_EQ(event_named(*r, "k(int)").link, event_named(*r, "hipLaunchKernel").link);
  EXPECT_NE(r->events[1].link, r->events[3].link);
  EXPECT_EQ(r->lanes[event_named(*r, "k(int)").lane].device, 1);
  EXPECT_EQ(all_skipped(*r), 1);
}

TEST(RocprofDatabase, OfASecondProcessHasNoLinks) {
  const auto r = read_database(
      std::string(kTables) +
      "INSERT INTO HIP VALUES (10, 20, 2, 7, 'hipLaunchKernel', '', 0);"
      "INSERT INTO OPS VALUES (22, 29, 0, 1, 'mine', 6, 0, 0, 77), (32, 39, 0, 1, 'theirs', 6, 0, 0, 78);");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_NE(event_named(*r, "mine").link, 0u);
  EXPECT_EQ(event_named(*r, "theirs").link, 0u);
}

TEST(RocprofDatabase, OfKernelsAloneIsRead) {
  const auto r = read_database(
      "CREATE TABLE A (\"Index\" INTEGER, KernelName TEXT, \"gpu-id\" INTEGER, \"queue-id\" INTEGER,"
      " BeginNs INTEGER, EndNs INTEGER); INSERT INTO A VALUES (0, 'k.kd', 0, 1, 5, 9);");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_THAT(names_of(*r), ElementsAre("k"));
}

// A table that is called like one of its own, in a database of something else.
TEST(RocprofDatabase, IsNotToldByANameAlone) {
  const auto r = read_database("CREATE TABLE A (x INTEGER);");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("without the tables"));
}

}  // namespace
}  // namespace rung::trace
