// The environment and its noise.
// SPDX-License-Identifier: Apache-2.0
#include "measure/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/version.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

TEST(Environment, TellsEveryFactOrSaysUnknown) {
  auto facts = read_environment();
  for (const char* name : {"processor", "microcode", "cores", "kernel", "os", "compiler", "governor", "frequency",
                           "load", "hypervisor", "memory", "rung"})
    EXPECT_FALSE(facts[name].empty()) << name;
  EXPECT_THAT(facts["kernel"], HasSubstr("Linux"));
  EXPECT_THAT(facts["memory"], HasSubstr("GiB"));
  EXPECT_EQ(facts["rung"], kRungVersion);
}

NoiseSample quiet(double seconds) { return {.seconds = seconds, .total_s = 2 * seconds, .megahertz = 3000}; }

TEST(Noise, IsSilentOnAQuietMachine) { EXPECT_EQ(describe_noise(quiet(0), quiet(2)), ""); }

TEST(Noise, NamesStolenTimePreemptionAndAFallingClock) {
  NoiseSample noisy = quiet(2);
  noisy.steal_s = 0.4, noisy.preemptions = 300, noisy.megahertz = 2400;
  EXPECT_EQ(
      describe_noise(quiet(0), noisy),
      "noisy machine: 10 % of processor time stolen, preempted 150 times a second, clock fell from 3000 to 2400 MHz");
}

TEST(Noise, TellsEachDisturbanceAloneAndOnlyAboveItsLimit) {
  const auto said_of = [](void (*disturb)(NoiseSample&)) {
    NoiseSample after = quiet(10);
    disturb(after);
    return describe_noise(quiet(0), after);
  };
  EXPECT_EQ(said_of([](NoiseSample& s) { s.steal_s = 0.19; }), "") << "of 20 s";
  EXPECT_EQ(said_of([](NoiseSample& s) { s.steal_s = 0.3; }), "noisy machine: 2 % of processor time stolen");
  EXPECT_EQ(said_of([](NoiseSample& s) { s.preemptions = 199; }), "");
  EXPECT_EQ(said_of([](NoiseSample& s) { s.preemptions = 210; }), "noisy machine: preempted 21 times a second");
  EXPECT_EQ(said_of([](NoiseSample& s) { s.megahertz = 2860; }), "");
  EXPECT_EQ(said_of([](NoiseSample& s) { s.megahertz = 2840; }), "noisy machine: clock fell from 3000 to 2840 MHz");
  EXPECT_EQ(said_of([](NoiseSample& s) { s.megahertz = 4000; }), "");
  NoiseSample brief = quiet(0.1);
  brief.preemptions = 20;
  EXPECT_EQ(describe_noise(quiet(0), brief), "") << "too few to say how often";
}

TEST(Noise, ReadsCountersThatOnlyGrow) {
  NoiseSample before = read_noise_sample(), after = read_noise_sample();
  EXPECT_GT(before.total_s, 0);
  EXPECT_GE(after.total_s, before.total_s);
  EXPECT_GE(after.seconds, before.seconds);
  EXPECT_GE(after.preemptions, before.preemptions);
}

}  // namespace
}  // namespace rung
