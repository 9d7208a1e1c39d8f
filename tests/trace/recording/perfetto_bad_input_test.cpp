// Files that are no Perfetto trace, or half of one, or of nobody that is known; and traces that want too much.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "support/gzip.hpp"
#include "trace/recording/packet_window.hpp"
#include "trace/recording/perfetto_messages.hpp"
#include "trace/recording/read_bytes.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const MadeEvent kKernel{.category = "kernel_dispatch",
                        .name = "k",
                        .numbers = {{"corr_id", 5}, {"grid_size", 100}},
                        .texts = {{"agent", "Agent-1"}}};

std::string small() {
  return track(5, "STREAM [ 1 ]") + snapshot(1, {{6, 100}, {64, 100, true}}) + slice(5, 10, kKernel, {.clock = 64}) +
         deflated(slice(200, 300, kKernel));
}

TEST(PerfettoBadInput, EveryShorterFileIsCutShort) {
  const std::string whole = small();
  ASSERT_EQ(error_of(whole), "");
  size_t cut = 0;
  for (size_t bytes = 3; bytes < whole.size(); ++bytes) {
    const std::string error = error_of(whole.substr(0, bytes));
    // Between two packets nothing shows; what had begun is counted, and where nothing has ended there is nothing.
    const bool within = error.starts_with(fmt::format("ends at byte {} within a packet", bytes));
    EXPECT_TRUE(within || error.empty() || error.find("none of rocprofv3 or rocprof-sys") != error.npos) << error;
    cut += within;
  }
  EXPECT_GE(cut, whole.size() - 10);
}

TEST(PerfettoBadInput, AnyByteMayBeAnyOther) {
  const std::string whole = small();
  for (size_t at = 0; at < whole.size(); ++at)
    for (const char byte : {'\0', '\x7f', '\x80', '\xff', '\x0a', '\x08'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      expect_sound_or_refused(read_bytes(damaged));
    }
}

TEST(PerfettoBadInput, ErrorsTellTheByte) {
  const std::string whole = small();
  const size_t end = whole.size();
  EXPECT_EQ(error_of(whole + "\x08\x05"), fmt::format("byte {}: got byte 08, wanted a packet of at most 64 MB", end));
  EXPECT_EQ(error_of(whole + std::string(12, '\xff')),
            fmt::format("byte {}: got byte ff, wanted a packet of at most 64 MB", end));
  EXPECT_EQ(error_of(whole + "\x0a\xff\xff\xff\xff\x0f"),
            fmt::format("byte {}: got byte 0a, wanted a packet of at most 64 MB", end));
  EXPECT_THAT(error_of(whole + "\x0a\x02\x0b\x0b"),
              StartsWith(fmt::format("before byte {}: got a packet that is damaged: ", end + 4)));
  EXPECT_THAT(error_of(whole + "\x0a\x02\x5a\x7f"),
              StartsWith(fmt::format("before byte {}: got a packet that is damaged: ", end + 4)));
  const auto packed = MadePacket{.more = [](protozero::pbf_writer& w) { w.add_bytes(50, "no zlib"); }}.bytes();
  EXPECT_EQ(error_of(whole + packed),
            fmt::format("before byte {}: got packed packets that are damaged", end + packed.size()));
}

TEST(PerfettoBadInput, OtherFieldsOfTheTraceAreSteppedOver) {
  EXPECT_EQ(error_of(small() + message([](protozero::pbf_writer& w) { w.add_bytes(9, "anything"); }) + small()), "");
}

TEST(PerfettoBadInput, TracesOfNobodyThatIsKnownAreRefused) {
  EXPECT_EQ(
      error_of(slice(1, 2, {.category = "gfx", .name = "frame"}) + at(3, {.type = 3})),
      "got 2 track events, none of rocprofv3 or rocprof-sys; events of categories that are not known: 1; instants: 1");
  EXPECT_EQ(error_of(track(1, "alone")), "got 0 track events, none of rocprofv3 or rocprof-sys");
}

TEST(PerfettoBadInput, TextIsNotTakenForPackets) {
  EXPECT_THAT(error_of("\nhello, this is text\n"), HasSubstr("wanted one of: "));
  EXPECT_THAT(error_of("\n"), HasSubstr("wanted one of: "));
  EXPECT_THAT(error_of(std::string("\n\0\n\0", 4)), HasSubstr("wanted one of: "));
  EXPECT_EQ(error_of("\n[]"), "");
}

TEST(PerfettoBadInput, PackedFilesAreRead) {
  const auto plain = read_bytes(small()), packed = read_bytes(gzip(small()));
  ASSERT_TRUE(plain && packed);
  EXPECT_EQ(plain->events.size(), 2u);
  EXPECT_EQ(names_of(*packed), names_of(*plain));
}

TEST(PerfettoBadInput, WhatUnpacksToAlmostNothingIsRefused) {
  const std::string bomb = deflated(std::string(65'000'000, '\0') + std::string(5'000'000, '\x0a'));
  EXPECT_THAT(error_of(small() + bomb), HasSubstr("got packed packets that are damaged"));
}

TEST(PerfettoBadInput, PacketsLongerThanAChunkAreRead) {
  const auto filler =
      MadePacket{.more = [](protozero::pbf_writer& w) { w.add_bytes(900, std::string(3'000'000, 'x')); }}.bytes();
  const auto r = read_bytes(filler + small() + filler + small());
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 4u);
}

TEST(PerfettoBadInput, WritersTracksAndNamesHaveBounds) {
  std::string many;
  for (uint32_t i = 1; i <= 65'540; ++i) many += MadePacket{.sequence = i, .flags = 1}.bytes();
  for (uint64_t i = 0; i < 200'003; ++i) many += track(i, "");
  many += MadePacket{.more = [](protozero::pbf_writer& w) {
            std::vector<MadeEntry> entries;
            for (uint64_t i = 1; i <= 1'000'004; ++i) entries.push_back({3, i, "tid"});
            intern(w, entries);
          }}.bytes();
  const auto r = read_bytes(small() + many);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 2u);
  EXPECT_EQ(skipped(*r, "packets of writers beyond what a recording holds"), 4);
  EXPECT_EQ(skipped(*r, "tracks beyond what a recording holds"), 3);
  EXPECT_EQ(skipped(*r, "numbered names beyond what a recording holds"), 4);
}

TEST(PerfettoBadInput, EndlessBeginsHaveABound) {
  std::string many;
  const std::string begin = at(1, kKernel);
  for (int i = 0; i < 1'000'003; ++i) many += begin;
  const auto r = read_bytes(many + small());
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(skipped(*r, "begun, with too many begun before"), 3 + 1);
}

}  // namespace
}  // namespace rung::trace
