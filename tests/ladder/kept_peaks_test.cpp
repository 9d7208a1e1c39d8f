// Peaks that stand still from run to run, and files that hold none.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/kept_peaks.hpp"

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/atomic_file.hpp"
#include "base/log.hpp"
#include "ladder/profile.hpp"
#include "support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

const Peaks kFirstPeaks{.fma_f32_gflops = 100,
                        .gemm_f32_gflops = 90,
                        .gemm_bf16_gflops = 200,
                        .read_gbps = 20,
                        .handoff_us = 5,
                        .barrier_us = 3};

class KeptPeaks : public ::testing::Test {
 protected:
  KeptPeaks() {
    set_log_sink([this](int, std::string_view line) { said += std::string(line) + "\n"; }, 0);
  }
  ~KeptPeaks() override { set_log_sink({}, 0); }
  TemporaryDirectory folder;
  std::string file = folder / "cache/peaks.json", said;
};

TEST_F(KeptPeaks, AreTheBestOfAllRuns) {
  const Peaks first = best_of_kept(file, "a machine", kFirstPeaks);
  EXPECT_EQ(first.read_gbps, 20);
  Peaks disturbed = kFirstPeaks;
  disturbed.read_gbps = 7, disturbed.gemm_f32_gflops = 30, disturbed.handoff_us = 50, disturbed.fma_f32_gflops = 110;
  const Peaks second = best_of_kept(file, "a machine", disturbed);
  EXPECT_EQ(second.read_gbps, 20);
  EXPECT_EQ(second.gemm_f32_gflops, 90);
  EXPECT_EQ(second.gemm_bf16_gflops, 200);
  EXPECT_EQ(second.fma_f32_gflops, 110);
  EXPECT_EQ(second.handoff_us, 50) << "as measured: it is taken off times of this moment";
  EXPECT_EQ(best_of_kept(file, "a machine", kFirstPeaks).fma_f32_gflops, 110);
  EXPECT_EQ(said, "");
}

// One rate is better than ever while the others are disturbed: the file learns of the one and forgets none.
TEST_F(KeptPeaks, AreTheBestOfEachRateSeparately) {
  const std::vector<double Peaks::*> rates{&Peaks::fma_f32_gflops, &Peaks::gemm_f32_gflops, &Peaks::gemm_bf16_gflops,
                                           &Peaks::read_gbps};
  for (size_t better = 0; better < rates.size(); ++better) {
    const std::string machine = "machine " + std::to_string(better);
    best_of_kept(file, machine, kFirstPeaks);
    Peaks mixed;
    for (const auto rate : rates) mixed.*rate = kFirstPeaks.*rate / 2;
    mixed.*rates[better] = kFirstPeaks.*rates[better] * 2;
    best_of_kept(file, machine, mixed);
    const Peaks kept = best_of_kept(file, machine, {});
    for (size_t i = 0; i < rates.size(); ++i)
      EXPECT_EQ(kept.*rates[i], kFirstPeaks.*rates[i] * (i == better ? 2 : 1)) << machine << ", rate " << i;
  }
  EXPECT_EQ(said, "");
}

// An emulator's memory takes no time: such a rate would spoil the file for every machine in it.
TEST_F(KeptPeaks, KeepNoRateBeyondAllMachines) {
  Peaks emulated = kFirstPeaks;
  emulated.read_gbps = std::numeric_limits<double>::infinity(), emulated.gemm_f32_gflops = std::nan("");
  EXPECT_EQ(best_of_kept(file, "an emulator", emulated).read_gbps, emulated.read_gbps);
  EXPECT_EQ(best_of_kept(file, "an emulator", {}).fma_f32_gflops, kFirstPeaks.fma_f32_gflops);
  EXPECT_EQ(best_of_kept(file, "a machine", kFirstPeaks).read_gbps, kFirstPeaks.read_gbps);
  EXPECT_EQ(said, "");
}

TEST_F(KeptPeaks, AreEachMachinesOwn) {
  best_of_kept(file, "a machine", kFirstPeaks);
  EXPECT_EQ(best_of_kept(file, "another", {.read_gbps = 3}).read_gbps, 3);
  EXPECT_EQ(best_of_kept(file, "a machine", {}).read_gbps, 20) << "and a file has many";
}

TEST_F(KeptPeaks, OfNoFileAreThoseOfNow) {
  EXPECT_EQ(best_of_kept("", "a machine", kFirstPeaks).read_gbps, 20);
  EXPECT_EQ(best_of_kept("", "a machine", {.read_gbps = 3}).read_gbps, 3);
  EXPECT_EQ(peaks_beside(""), "");
  EXPECT_EQ(peaks_beside("/cache/tuning.json"), "/cache/peaks.json");
}

TEST_F(KeptPeaks, IgnoreADamagedFileAndLeaveIt) {
  std::filesystem::create_directories(folder / "cache");
  for (const std::string text :
       {"{\"version\": 1, \"machines\": {\"a machine\": {\"read_gbps\": 20", "[]", "{\"version\": 2, \"machines\": {}}",
        "{}", "{\"version\": 1}", "{\"version\": 1, \"machines\": 4}",
        R"({"version": 1, "machines": {"a machine": 3}})", R"({"version": 1, "machines": {"m": {"read_gbps": "20"}}})",
        R"({"version": 1, "machines": {"m": {"read_gbps": -1}}})", R"({"version": 1, "machines": {"m": {"gbps": 1}}})",
        R"({"version": 1, "machines": {"m": {"read_gbps": 1e300}}})"}) {
    said.clear();
    ASSERT_TRUE(write_file_atomically(file, text));
    EXPECT_EQ(best_of_kept(file, "a machine", {.read_gbps = 3}).read_gbps, 3) << text;
    EXPECT_THAT(said, HasSubstr("cache/peaks.json'")) << text;
    EXPECT_THAT(said, HasSubstr("repair or remove it")) << text;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    EXPECT_EQ(*read_text_file(file), text) << "nothing is lost";
  }
}

TEST_F(KeptPeaks, AreMeasuredEvenWithoutAWritableFile) {
  ASSERT_TRUE(write_file_atomically(folder / "file", "x"));
  EXPECT_EQ(best_of_kept(folder / "file/peaks.json", "a machine", kFirstPeaks).read_gbps, 20);
}

// The floor of one model: two processes, of which the second finds a machine that is busy.
TEST_F(KeptPeaks, LetAFloorStandStill) {
  const Graph graph = graph_of("w: f32[64,64] = constant(name=\"w\")\ny = linear(x:f32[4,64], w)");
  const auto floor_by = [&](const Peaks& peaks) {
    Profile profile{.peaks = peaks};
    const auto built = build_plan(graph, {}, {});
    EXPECT_TRUE(built);
    for (const Step& step : built->plan.steps) add_op(profile, step, 1, cpu_target());
    return profile.floor_ms;
  };
  const double quiet = floor_by(best_of_kept(file, "a machine", kFirstPeaks));
  Peaks busy = kFirstPeaks;
  busy.read_gbps /= 4, busy.gemm_f32_gflops /= 4, busy.fma_f32_gflops /= 4;
  EXPECT_EQ(floor_by(best_of_kept(file, "a machine", busy)), quiet);
  EXPECT_GT(floor_by(busy), 2 * quiet) << "the file is what keeps it";
}

}  // namespace
}  // namespace rung
