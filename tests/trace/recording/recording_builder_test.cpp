// What a recording is put together from: numbers for what comes again, bounds, order.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/recording_builder.hpp"

#include "trace/recording/read_bytes.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Event event(int64_t start_ns, int64_t duration_ns, EventKind kind = EventKind::kernel) {
  Event made;
  made.start_ns = start_ns;
  made.duration_ns = duration_ns;
  made.kind = kind;
  return made;
}

TEST(RecordingBuilder, DetailsThatComeAgainHaveOneRow) {
  RecordingBuilder builder("test");
  EXPECT_EQ(builder.launch({}), 0u);
  const uint32_t row = builder.launch({.grid = {1, 2, 3}});
  EXPECT_NE(row, 0u);
  EXPECT_EQ(builder.launch({.grid = {1, 2, 3}}), row);
  EXPECT_NE(builder.launch({.grid = {3, 2, 1}}), row);
  EXPECT_EQ(builder.copy({}), 0u);
  EXPECT_NE(builder.copy({.bytes = 0}), 0u);
  EXPECT_EQ(builder.operands({.shapes = 1}), builder.operands({.shapes = 1}));
  EXPECT_NE(builder.operands({.shapes = 1}), builder.operands({.strides = 1}));
}

TEST(RecordingBuilder, LanesAreTheDevicesOrTheHosts) {
  RecordingBuilder builder("test");
  const uint16_t device = builder.device_lane(1, 2), host = builder.host_lane(1, 2);
  EXPECT_NE(device, host);
  EXPECT_EQ(builder.device_lane(1, 2), device);
  EXPECT_EQ(builder.host_lane(1, 2), host);
  EXPECT_EQ(builder.device_lane(-1, 0), kNoLane);
  EXPECT_EQ(builder.device_lane(1024, 0), kNoLane);
  EXPECT_EQ(builder.lanes().size(), 2u);
}

TEST(RecordingBuilder, TextThatIsNotUtf8IsMendedOnce) {
  RecordingBuilder builder("test");
  const uint32_t number = builder.text("\xff");
  EXPECT_EQ(builder.recording().strings[number], "\ufffd");
  EXPECT_EQ(builder.text("\xff"), number);
  EXPECT_EQ(builder.text("\ufffd"), number);
  EXPECT_EQ(builder.recording().strings.size(), 2u);
}

// Each of these takes 144 bytes, so that 64 MB hold 466,033 of them.
TEST(RecordingBuilder, TextsHaveABoundTogether) {
  RecordingBuilder builder("test");
  for (int i = 0; i < 470'000; ++i) builder.text(fmt::format("{:016}", i));
  const Recording r = builder.finish();
  EXPECT_EQ(r.strings.size(), 1 + kMostTextBytes / 144);
  EXPECT_EQ(skipped(r, "texts beyond 64 MB of different ones"), static_cast<int64_t>(470'000 - kMostTextBytes / 144));
}

TEST(RecordingBuilder, DetailsHaveABound) {
  RecordingBuilder builder("test");
  for (uint32_t i = 1; i <= kMostDetails + 5; ++i) builder.launch({.grid = {i, 0, 0}});
  EXPECT_EQ(builder.launch({.grid = {1, 0, 0}}), 1u);
  const Recording r = builder.finish();
  EXPECT_EQ(r.launches.size(), kMostDetails);
  EXPECT_EQ(skipped(r, "shapes beyond 500000 different ones"), 6);
}

TEST(RecordingBuilder, EventsHaveABound) {
  RecordingBuilder builder("test");
  for (size_t i = 0; i < kMostEvents + 3; ++i) builder.add(event(1, 1));
  const Recording r = builder.finish();
  EXPECT_EQ(r.events.size(), kMostEvents);
  EXPECT_EQ(skipped(r, "beyond 6000000 events"), 3);
}

TEST(RecordingBuilder, LanesHaveABound) {
  RecordingBuilder builder("test");
  for (int64_t thread = 0; thread < 65'535; ++thread) EXPECT_NE(builder.host_lane(0, thread), kNoLane);
  EXPECT_EQ(builder.host_lane(0, 65'535), kNoLane);
  EXPECT_EQ(builder.device_lane(0, 0), kNoLane);
  EXPECT_NE(builder.host_lane(0, 5), kNoLane);
  Event lost = event(1, 1);
  lost.lane = kNoLane;
  builder.add(lost);
  EXPECT_EQ(skipped(builder.finish(), "streams and threads beyond what a recording holds"), 1);
}

TEST(RecordingBuilder, TimesThatCannotBeMeantAreCounted) {
  RecordingBuilder builder("test");
  builder.add(event(-1, 1));
  builder.add(event(1, -1));
  builder.add(event(1, kLongestNs + 1));
  builder.add(event(INT64_MAX, 1));
  builder.add(event(1, INT64_MAX));
  const Recording r = builder.finish();
  EXPECT_THAT(r.events, IsEmpty());
  EXPECT_EQ(skipped(r, "negative time"), 1);
  EXPECT_EQ(skipped(r, "negative duration"), 1);
  EXPECT_EQ(skipped(r, "longer than a day"), 3);
}

TEST(RecordingBuilder, WhatEnclosesComesFirst) {
  RecordingBuilder builder("test");
  builder.add(event(1, 5, EventKind::runtime_call));
  builder.add(event(1, 5, EventKind::host_op));
  builder.add(event(1, 5, EventKind::range));
  builder.add(event(1, 9, EventKind::copy));
  builder.add(event(0, 1, EventKind::kernel));
  const Recording r = builder.finish();
  std::vector<EventKind> kinds;
  for (const Event& e : r.events) kinds.push_back(e.kind);
  EXPECT_THAT(kinds, ElementsAre(EventKind::kernel, EventKind::copy, EventKind::range, EventKind::host_op,
                                 EventKind::runtime_call));
}

TEST(RecordingBuilder, NamesAreCutAndMended) {
  RecordingBuilder builder("test");
  builder.name_device(1, std::string(1000, 'n'));
  builder.name_device(0, "\xff");
  builder.name_device(1024, "too far");
  EXPECT_THAT(builder.finish().device_names, ElementsAre("\ufffd", std::string(kLongestName, 'n')));
  EXPECT_EQ(RecordingBuilder::short_name(std::string(255, 'n') + "\u00e9"), std::string(255, 'n') + "\ufffd");
}

}  // namespace
}  // namespace rung::trace
