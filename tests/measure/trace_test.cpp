// The trace's JSON, as Perfetto wants it.
// SPDX-License-Identifier: Apache-2.0
#include "measure/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

TEST(Trace, WritesCompleteEventsWithArguments) {
  Trace trace;
  trace.add({"linear", "GEMM", 10.5, 3.25, 1, 2, {{"flops", 1e9}, {"kernel", std::string("linear_avx2")}}});
  Json event = Json::parse(trace.to_json())["traceEvents"][0];
  EXPECT_EQ(event["ph"], "X");
  EXPECT_EQ(event["name"], "linear");
  EXPECT_EQ(event["cat"], "GEMM");
  EXPECT_EQ(event["ts"], 10.5);
  EXPECT_EQ(event["dur"], 3.25);
  EXPECT_EQ(event["pid"], 1);
  EXPECT_EQ(event["tid"], 2);
  EXPECT_EQ(event["args"]["flops"], 1e9);
  EXPECT_EQ(event["args"]["kernel"], "linear_avx2");
}

TEST(Trace, NamesProcessesAndThreads) {
  Trace trace;
  trace.name_process(1, "rung");
  trace.name_thread(1, 0, "main");
  Json events = Json::parse(trace.to_json())["traceEvents"];
  EXPECT_EQ(events[0], (Json{{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "rung"}}}}));
  EXPECT_EQ(events[1],
            (Json{{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 0}, {"args", {{"name", "main"}}}}));
}

TEST(Trace, StaysValidJsonWhateverTheNamesHold) {
  Trace trace;
  trace.add({"quote \" and \xff byte\n", "", 0, 0});
  Json root = Json::parse(trace.to_json());
  EXPECT_THAT(root["traceEvents"][0]["name"].get<std::string>(), HasSubstr("quote \" and"));
  EXPECT_TRUE(Json::parse(Trace().to_json())["traceEvents"].is_array());
}

}  // namespace
}  // namespace rung
