// Times of Chrome traces: begins and ends, what cannot be meant, clocks that were set again.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "trace/recording/read_bytes.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;

Recording read_times(const std::string& events) {
  auto recording = read_bytes("[" + events + "]");
  EXPECT_TRUE(recording) << recording.error().message;
  return recording ? std::move(*recording) : Recording();
}

std::string whole(std::string_view name, std::string_view start, std::string_view duration) {
  return fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":0,"ts":{},"dur":{}}})", name, start,
                     duration);
}

// A begin or an end on a thread.
std::string end_of(char phase, std::string_view name, std::string_view time, int thread = 0) {
  return fmt::format(R"({{"ph":"{}","cat":"cpu_op","name":"{}","pid":1,"tid":{},"ts":{}}})", phase, name, thread, time);
}

std::string list(const std::vector<std::string>& events) { return fmt::format("{}", fmt::join(events, ",")); }

TEST(ChromeTimes, PairEndsWithTheirThreadsLastBegin) {
  const Recording r =
      read_times(list({end_of('B', "outer", "1"), end_of('B', "other thread", "2", 1), end_of('B', "inner", "3"),
                       end_of('E', "", "4"), end_of('E', "", "6", 1), end_of('E', "", "9")}));
  EXPECT_THAT(names_of(r), ElementsAre("outer", "other thread", "inner"));
  EXPECT_EQ(event_named(r, "outer").duration_ns, 8000);
  EXPECT_EQ(event_named(r, "other thread").duration_ns, 4000);
  EXPECT_EQ(event_named(r, "inner").duration_ns, 1000);
  EXPECT_EQ(all_skipped(r), 0);
}

TEST(ChromeTimes, GiveSkippedEventsTheirOwnEnds) {
  const Recording r =
      read_times(list({end_of('B', "kept", "1"), R"({"ph":"B","cat":"python_function","pid":1,"tid":0,"ts":2})",
                       end_of('E', "", "3"), end_of('E', "", "5")}));
  EXPECT_EQ(event_named(r, "kept").duration_ns, 4000);
  EXPECT_EQ(skipped(r, "functions of Python shorter than 1 ms"), 1);
}

TEST(ChromeTimes, HalvesWithoutTheOtherAreCounted) {
  const Recording r = read_times(list({end_of('E', "", "1"), end_of('B', "a", "2"), end_of('B', "b", "3"),
                                       end_of('E', "", "4"), end_of('E', "", "5", 8)}));
  EXPECT_THAT(names_of(r), ElementsAre("b"));
  EXPECT_EQ(skipped(r, "an end without a begin"), 2);
  EXPECT_EQ(skipped(r, "a begin without an end"), 1);
}

TEST(ChromeTimes, CountAnEarlyEndAsANegativeDuration) {
  const Recording r = read_times(list({end_of('B', "a", "5"), end_of('E', "", "4"), whole("k", "1", "1")}));
  EXPECT_THAT(names_of(r), ElementsAre("k"));
  EXPECT_EQ(skipped(r, "negative duration"), 1);
}

TEST(ChromeTimes, WhatCannotBeMeantIsCounted) {
  const Recording r = read_times(
      list({whole("k", "1", "1"), whole("before zero", "-1", "1"), whole("backwards", "1", "-0.001"),
            whole("days", "1", "86400000001"), whole("no time", "null", "1"), whole("no number", "\"soon\"", "1"),
            whole("no duration", "1", "{}"), whole("endless", "1", "1e300"), whole("infinite", "1", "Infinity"),
            whole("NaN", "NaN", "1"), whole("huge", "99999999999999999999999999", "1")}));
  EXPECT_THAT(names_of(r), ElementsAre("k"));
  EXPECT_EQ(skipped(r, "negative time"), 1);
  EXPECT_EQ(skipped(r, "negative duration"), 1);
  EXPECT_EQ(skipped(r, "longer than a day"), 1);
  EXPECT_EQ(skipped(r, "a time that is missing or no number"), 4);
  EXPECT_EQ(skipped(r, "a duration that is missing or no number"), 3);
}

TEST(ChromeTimes, MissingFieldsAreMissingTimes) {
  const Recording r =
      read_times(R"({"ph":"X","cat":"kernel"},{"ph":"B","cat":"kernel"},{"ph":"E"},{"ph":"X","cat":"kernel","ts":1},)" +
                 whole("k", "1", "1"));
  EXPECT_THAT(names_of(r), ElementsAre("k"));
  EXPECT_EQ(skipped(r, "a time that is missing or no number"), 3);
  EXPECT_EQ(skipped(r, "a duration that is missing or no number"), 1);
}

TEST(ChromeTimes, NanosecondsSince1970AreKept) {
  const Recording r = read_times(whole("k", "1790857026123456.789", "0.001"));
  EXPECT_EQ(event_named(r, "k").start_ns, 1790857026123456789);
  EXPECT_EQ(event_named(r, "k").duration_ns, 1);
}

TEST(ChromeTimes, KeepTheClockWithMoreDeviceWork) {
  const std::string day = "90000000000";  // us
  std::vector<std::string> events{whole("k1", "1", "1"), whole("k2", "3", "1")};
  for (int i = 0; i < 5; ++i)
    events.push_back(R"({"ph":"X","cat":"cpu_op","name":"o","pid":0,"tid":0,"ts":)" + day + R"(,"dur":1})");
  events.push_back(whole("late", day, "1"));
  const Recording r = read_times(list(events));
  EXPECT_THAT(names_of(r), ElementsAre("k1", "k2"));
  EXPECT_EQ(skipped(r, "more than an hour apart from the rest: another clock"), 6);
}

TEST(ChromeTimes, HoursOfWorkAreOneClock) {
  const Recording r = read_times(list({whole("long", "0", "7200000000"), whole("after", "7200000001", "1"),
                                       whole("an hour later", "10800000000", "1")}));
  EXPECT_EQ(r.events.size(), 3u);
}

TEST(ChromeTimes, DropManyThreadsThatHoldNoEvents) {
  std::string events;
  for (int thread = 0; thread < 70'000; ++thread)
    events += end_of('B', "x", "1", thread) + "," + end_of('E', "", "2", thread) + ",";
  const Recording r = read_times(events + whole("k", "1", "1"));
  EXPECT_EQ(r.lanes.size(), 65'535u);
  EXPECT_EQ(skipped(r, "streams and threads beyond what a recording holds"), 70'000 - 65'535 + 1);
}

}  // namespace
}  // namespace rung::trace
