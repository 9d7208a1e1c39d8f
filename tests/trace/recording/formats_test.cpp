// One program, told by each profiler: the recordings agree as far as the formats tell.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/trace_formats.hpp"

namespace rung::trace {
namespace {

using ::testing::IsEmpty;

constexpr std::string_view kFill = "__amd_rocclr_fillBufferAligned";

struct Piece {
  int64_t start_ns, duration_ns;
  std::string name;
  LaunchShape launch;
  bool operator==(const Piece&) const = default;
};
void PrintTo(const Piece& piece, std::ostream* out) {
  *out << piece.start_ns << " +" << piece.duration_ns << " " << piece.name << " of " << piece.launch.grid[0] << "x"
       << piece.launch.block[0];
}

bool is_fill(const Recording& r, const Event& e) { return e.kind == EventKind::fill || r.name_of(e) == kFill; }

std::vector<Piece> kernels_of(const Recording& r) {
  std::vector<Piece> pieces;
  for (const Event& e : r.events)
    if (e.kind == EventKind::kernel && !is_fill(r, e))
      pieces.push_back({e.start_ns, e.duration_ns, std::string(r.name_of(e)), r.launches[e.detail]});
  return pieces;
}

// Starts and durations, in order.
template <class Wanted>
std::vector<std::pair<int64_t, int64_t>> times_of(const Recording& r, const Wanted& wanted) {
  std::vector<std::pair<int64_t, int64_t>> times;
  for (const Event& e : r.events)
    if (wanted(e)) times.emplace_back(e.start_ns, e.duration_ns);
  return times;
}

// For each piece of device work, when the call that its link names began; 0: none.
std::vector<int64_t> launches_of(const Recording& r) {
  std::vector<int64_t> starts;
  for (const Event& work : r.events) {
    if (!is_on_device(work.kind)) continue;
    const auto call = std::ranges::find_if(r.events, [&](const Event& e) {
      return e.kind == EventKind::runtime_call && e.link == work.link && e.link != 0;
    });
    starts.push_back(call == r.events.end() ? 0 : call->start_ns);
  }
  return starts;
}

std::vector<std::string> call_names(const Recording& r) {
  std::vector<std::string> names;
  for (const Event& e : r.events)
    if (e.kind == EventKind::runtime_call)
      names.emplace_back(r.name_of(e).substr(r.name_of(e).starts_with("cuda") ? 4 : 3));
  return names;
}

std::vector<Piece> with_grids_as_one_number(std::vector<Piece> pieces) {
  for (Piece& piece : pieces) piece.launch.grid = {piece.launch.grid[0] * piece.launch.grid[1], 1, 1};
  return pieces;
}

const Recording& kineto() {
  static const Result<Recording> recording = read_told_program("kineto.json");
  return recording.value();
}

class EveryFormat : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, EveryFormat,
                         ::testing::Values("nsys.sql", "nsys_2021.sql", "rocpd.sql", "rocprofv3_rocm6",
                                           "rocprofv3_rocm7", "rocprofv3_rocm7/host/4711_kernel_trace.csv",
                                           "rocprofv3_rocm6.json", "rocprofv3_rocm7.json", "rocprofv3.pftrace",
                                           "rocprof_sys.proto"),
                         [](const auto& format) {
                           std::string name = format.param;
                           std::ranges::replace_if(
                               name, [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

TEST_P(EveryFormat, TellsTheSameKernels) {
  const auto r = read_told_program(GetParam());
  ASSERT_TRUE(r) << r.error().message;
  std::vector<Piece> wanted = kernels_of(kineto());
  ASSERT_EQ(wanted.size(), 21u);
  if (r->launches[1].registers == 0)  // ROCm 6 does not tell
    for (Piece& piece : wanted) piece.launch.registers = 0;
  if (std::string_view(GetParam()) == "rocprofv3.pftrace") wanted = with_grids_as_one_number(wanted);
  EXPECT_EQ(kernels_of(*r), wanted);
}

TEST_P(EveryFormat, TellsTheSameCopiesAndFills) {
  const auto r = read_told_program(GetParam());
  ASSERT_TRUE(r) << r.error().message;
  const auto is_copy = [](const Event& e) { return e.kind == EventKind::copy; };
  ASSERT_EQ(times_of(kineto(), is_copy).size(), 6u);
  EXPECT_EQ(times_of(*r, is_copy), times_of(kineto(), is_copy));
  EXPECT_EQ(times_of(*r, [&](const Event& e) { return is_fill(*r, e); }),
            times_of(kineto(), [&](const Event& e) { return is_fill(kineto(), e); }));
  for (const Event& e : r->events) {
    if (e.kind != EventKind::copy) continue;
    const CopyShape& shape = r->copies[e.detail];
    EXPECT_TRUE(shape.host_to_device != shape.device_to_host);
  }
}

TEST_P(EveryFormat, TellsTheSameCallsAndWhatTheyStarted) {
  const auto r = read_told_program(GetParam());
  ASSERT_TRUE(r) << r.error().message;
  const auto is_call = [](const Event& e) { return e.kind == EventKind::runtime_call; };
  EXPECT_EQ(times_of(*r, is_call), times_of(kineto(), is_call));
  EXPECT_EQ(call_names(*r), call_names(kineto()));
  const auto launches = launches_of(kineto());
  EXPECT_EQ(std::ranges::count(launches, 0), 0);
  EXPECT_EQ(launches_of(*r), launches);
}

TEST_P(EveryFormat, TellsTheSameRangesAndLanes) {
  const auto r = read_told_program(GetParam());
  ASSERT_TRUE(r) << r.error().message;
  const auto is_range = [](const Event& e) { return e.kind == EventKind::range; };
  ASSERT_EQ(times_of(kineto(), is_range).size(), 3u);
  EXPECT_EQ(times_of(*r, is_range), times_of(kineto(), is_range));
  int host = 0;
  for (const Lane& lane : r->lanes) host += !lane.on_device && lane.process == 4711 && lane.thread == 4712;
  EXPECT_EQ(host, 1);
  const bool perfetto = std::string_view(GetParam()).find(".p") != std::string_view::npos;
  EXPECT_EQ(r->device_names.empty() ? "" : r->device_names.back(), perfetto ? "" : "Accelerator");
}

TEST(Formats, NsightSystemsTellsCopiesAsPyTorchDoes) {
  for (const auto* file : {"nsys.sql", "nsys_2021.sql"}) {
    const auto r = read_told_program(file);
    ASSERT_TRUE(r) << r.error().message;
    const auto copies = [](const Recording& from) {
      std::vector<std::pair<std::string, CopyShape>> told;
      for (const Event& e : from.events)
        if (e.kind == EventKind::copy) told.emplace_back(from.name_of(e), from.copies[e.detail]);
      return told;
    };
    EXPECT_EQ(copies(*r), copies(kineto()));
    EXPECT_EQ(r->format, "Nsight Systems");
    EXPECT_EQ(r->skipped, (decltype(r->skipped){{"waits drawn on streams: the host's calls are kept", 3}}));
  }
}

// Kernels alone, their grids as one number, and when the host handed each over.
TEST(Formats, RocprofTellsKernels) {
  for (const auto* file : {"rocprof/results.csv", "rocprof/results.stats.csv"}) {
    const auto r = read_told_program(file);
    ASSERT_TRUE(r) << r.error().message;
    const std::vector<Piece> wanted = with_grids_as_one_number(kernels_of(kineto()));
    EXPECT_EQ(kernels_of(*r), wanted);
    EXPECT_EQ(r->events.size(), 2 * wanted.size());
    EXPECT_EQ(std::ranges::count(launches_of(*r), 0), 0);
    EXPECT_EQ(r->format, "rocprof");
    EXPECT_THAT(r->skipped, IsEmpty());
  }
}

TEST(Formats, Rocprofv3SkipsNothingOfIt) {
  for (const auto* file :
       {"rocpd.sql", "rocprofv3_rocm7", "rocprofv3_rocm6.json", "rocprofv3_rocm7.json", "rocprofv3.pftrace"}) {
    const auto r = read_told_program(file);
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_EQ(r->format, "rocprofv3");
    EXPECT_THAT(r->skipped, IsEmpty());
  }
}

}  // namespace
}  // namespace rung::trace
