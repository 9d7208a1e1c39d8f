// What packets of a Perfetto trace say for those after them: names by number, defaults, clocks; and when it is void.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_messages.hpp"
#include "trace/recording/read_bytes.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr uint32_t kCleared = 1, kNeedsState = 2;

Recording read(const std::string& packets) {
  auto recording = read_bytes(packets);
  EXPECT_TRUE(recording) << recording.error().message;
  return recording ? std::move(*recording) : Recording();
}

std::string names(uint32_t sequence, uint32_t flags, const std::string& kernel_named) {
  return MadePacket{
      .sequence = sequence,
      .flags = flags,
      .more =
          [&](protozero::pbf_writer& w) {
            intern(w, {{1, 1, "kernel_dispatch"}, {1, 2, "of no meaning"}, {2, 1, kernel_named}, {3, 1, "corr_id"}});
          }}
      .bytes();
}

MadeEvent numbered(uint64_t name = 1) {
  return {.more = [=](protozero::pbf_writer& w) {
    w.add_uint64(3, 2);
    w.add_uint64(3, 1);
    w.add_uint64(10, name);
    w.add_message(4, message([](protozero::pbf_writer& a) {
                    a.add_uint64(1, 1);
                    a.add_uint64(3, 77);
                  }));
  }};
}

const MadeEvent kWhole{.category = "kernel_dispatch", .name = "k"};

TEST(PerfettoState, NamesByNumberAreTheSequencesOwn) {
  const MadePacket one{.sequence = 1, .flags = kNeedsState}, two{.sequence = 2, .flags = kNeedsState};
  const Recording r = read(names(1, kCleared, "first") + names(2, kCleared, "second") + slice(1, 2, numbered(), one) +
                           slice(3, 4, numbered(), two) + slice(5, 6, numbered(9), two));
  EXPECT_THAT(names_of(r), ElementsAre("first", "second", ""));
  EXPECT_NE(r.events[0].link, 0u);
  EXPECT_THAT(r.skipped, IsEmpty());
}

TEST(PerfettoState, NumbersMayBePacked) {
  const MadeEvent packed{.more = [](protozero::pbf_writer& w) {
    const uint64_t categories[] = {2, 1};
    w.add_packed_uint64(3, categories, categories + 2);
    const uint64_t flows[] = {5};
    w.add_packed_fixed64(47, flows, flows + 1);
    w.add_string(23, "k");
  }};
  const Recording r = read(names(1, kCleared, "first") + slice(1, 2, packed));
  EXPECT_THAT(names_of(r), ElementsAre("k"));
  EXPECT_NE(r.events[0].link, 0u);
}

TEST(PerfettoState, AWriterThatBeginsAgainForgetsItsNames) {
  const MadePacket packet{.flags = kNeedsState};
  const std::string again = MadePacket{.flags = kCleared}.bytes();
  const Recording r = read(names(1, kCleared, "first") + slice(1, 2, numbered(), packet) + again +
                           slice(3, 4, numbered(), packet) + names(1, 0, "other") + slice(5, 6, numbered(), packet));
  EXPECT_THAT(names_of(r), ElementsAre("first", "other"));
  EXPECT_THAT(r.skipped, ElementsAre(Pair("events of categories that are not known", 1)));
}

TEST(PerfettoState, ForgetsNamesAfterLossUntilTheWriterRestarts) {
  const MadePacket needs{.flags = kNeedsState};
  const std::string lost = MadePacket{.more = [](protozero::pbf_writer& w) { w.add_uint32(42, 1); }}.bytes();
  const Recording r =
      read(slice(1, 2, numbered(), needs) + names(1, kCleared, "first") + slice(3, 4, numbered(), needs) +
           at(5, numbered(), needs) + lost + slice(6, 7, numbered(), needs) + names(1, kCleared, "again") +
           slice(8, 9, numbered(), needs));
  EXPECT_THAT(names_of(r), ElementsAre("first", "again"));
  EXPECT_THAT(r.skipped,
              UnorderedElementsAre(Pair("events whose names were lost", 4), Pair("begun before packets were lost", 1)));
}

TEST(PerfettoState, TheOldFieldForABeginCountsToo) {
  const std::string old = MadePacket{.more = [](protozero::pbf_writer& w) {
                            w.add_bool(41, true);
                            intern(w, {{1, 1, "kernel_dispatch"}});
                          }}.bytes();
  EXPECT_EQ(read(old + slice(1, 2, numbered(), {.flags = kNeedsState})).events.size(), 1u);
}

TEST(PerfettoState, DefaultsAreTrackAndClock) {
  const std::string defaults = MadePacket{
      .flags = kCleared, .more = [](protozero::pbf_writer& w) {
        w.add_message(59, message([](protozero::pbf_writer& d) {
                        d.add_uint32(58, 64);
                        d.add_message(11, message([](protozero::pbf_writer& e) { e.add_uint64(11, 99); }));
                      }));
      }}.bytes();
  MadeEvent begins = kWhole, ends{.type = 2};
  begins.track = ends.track = -1;
  const Recording r = read(snapshot(1, {{6, 1000}, {64, 1000, true}}) + defaults + at(5, begins) + at(7, ends) +
                           track(99, "STREAM [ 4 ]"));
  ASSERT_EQ(r.events.size(), 1u);
  EXPECT_EQ(r.events[0].start_ns, 1005);
  EXPECT_EQ(r.events[0].duration_ns, 7);
  EXPECT_EQ(r.lanes[r.events[0].lane].name, "STREAM [ 4 ]");
}

TEST(PerfettoClocks, AreIncrementalWithinTheirSequence) {
  const MadePacket one{.clock = 64, .sequence = 1}, two{.clock = 64, .sequence = 2};
  const std::string step = MadePacket{.time = 10, .clock = 64, .sequence = 1}.bytes();  // of a packet without an event
  MadeEvent other = kWhole;
  other.track = 6;
  const Recording r = read(snapshot(1, {{6, 1000}, {64, 1, true, 1000}}) + snapshot(2, {{6, 5000}, {64, 5000, true}}) +
                           at(2, kWhole, one) + at(7, other, two) + step + at(1, {.type = 2}, one) +
                           at(3, {.type = 2, .track = 6}, two));
  ASSERT_EQ(r.events.size(), 2u);
  EXPECT_EQ(r.events[0].start_ns, 3000);
  EXPECT_EQ(r.events[0].duration_ns, 11'000);
  EXPECT_EQ(r.events[1].start_ns, 5007);
  EXPECT_EQ(r.events[1].duration_ns, 3);
}

TEST(PerfettoClocks, AreConvertedByTheDifferenceOfReadings) {
  const Recording r = read(snapshot(1, {{1, 9'000'000}, {3, 700}, {6, 1000}, {65, 5, false, 100}}) +
                           slice(710, 720, kWhole, {.clock = 3}) + slice(9'000'100, 9'000'101, kWhole, {.clock = 1}) +
                           slice(8, 9, kWhole, {.clock = 65}) + slice(1500, 1501, kWhole));
  ASSERT_EQ(r.events.size(), 4u);
  EXPECT_EQ(r.events[0].start_ns, 1010);
  EXPECT_EQ(r.events[1].start_ns, 1100);
  EXPECT_EQ(r.events[2].start_ns, 1300);
  EXPECT_EQ(r.events[2].duration_ns, 100);
  EXPECT_EQ(r.events[3].start_ns, 1500);
}

TEST(PerfettoClocks, TheTraceMayNameItsClock) {
  const std::string named = MadePacket{.more = [](protozero::pbf_writer& w) {
                              w.add_message(6, message([](protozero::pbf_writer& s) {
                                              s.add_uint32(2, 3);
                                              for (const auto& [id, time] : {std::pair{3u, 700u}, {6u, 1000u}})
                                                s.add_message(1, message([&](protozero::pbf_writer& c) {
                                                                c.add_uint32(1, id);
                                                                c.add_uint64(2, time);
                                                              }));
                                            }));
                            }}.bytes();
  const Recording r = read(named + slice(1010, 1020, kWhole, {.clock = 6}) + slice(720, 721, kWhole));
  EXPECT_EQ(r.events[0].start_ns, 710);
  EXPECT_EQ(r.events[1].start_ns, 720);
}

TEST(PerfettoClocks, MayBeReadThroughAnotherKnownClock) {
  const Recording r =
      read(snapshot(1, {{3, 700}, {6, 1000}}) + snapshot(1, {{3, 800}, {70, 5}}) + slice(6, 7, kWhole, {.clock = 70}));
  EXPECT_EQ(r.events[0].start_ns, 1101);
}

TEST(PerfettoClocks, WhatNoSnapshotNames) {
  const Recording r = read(slice(1, 2, kWhole, {.clock = 3}) + slice(3, 4, kWhole, {.clock = 64}) + at(-1, kWhole) +
                           at(-1, {.type = 2}));
  EXPECT_EQ(r.events.size(), 1u);
  EXPECT_THAT(r.skipped, ElementsAre(Pair("a time that is missing or of a clock that is not known", 4)));
}

TEST(PerfettoClocks, NumbersThatOverflowAreNoTimes) {
  const uint64_t huge = UINT64_MAX;
  const Recording r = read(
      slice(1, 2, kWhole) + snapshot(1, {{6, 1}, {64, huge - 1, true, 1}, {65, 1, false, huge}, {66, 0, false, 0}}) +
      at(5, kWhole, {.clock = 64}) + at(5, kWhole, {.clock = 65}) + slice(3, 4, kWhole, {.clock = 66}) +
      snapshot(2, {{6, huge}, {64, 5}}) + at(INT64_MAX, kWhole, {.clock = 6}));
  EXPECT_EQ(r.events.size(), 2u);
  EXPECT_EQ(r.events[1].start_ns, 4);
  EXPECT_EQ(skipped(r, "a time that is missing or of a clock that is not known"), 2);
}

TEST(PerfettoState, PackedPacketsAreReadInTheirPlace) {
  const Recording r = read(names(1, kCleared, "first") + deflated(slice(1, 2, numbered()) + slice(3, 4, numbered())) +
                           slice(5, 6, numbered()) + deflated(deflated(slice(7, 8, numbered()))) +
                           MadePacket{.more = [](protozero::pbf_writer& w) { w.add_bytes(133, "zstd"); }}.bytes());
  EXPECT_EQ(r.events.size(), 3u);
  EXPECT_THAT(r.skipped, UnorderedElementsAre(Pair("packets packed twice", 1), Pair("packets packed by zstd", 1)));
}

}  // namespace
}  // namespace rung::trace
