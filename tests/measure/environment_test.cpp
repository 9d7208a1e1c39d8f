// The environment and its noise.
// SPDX-License-Identifier: Apache-2.0
#include "measure/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(facts["rung"], rung_version());
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

TEST(Noise, ReadsCountersThatOnlyGrow) {
  NoiseSample before = read_noise_sample(), after = read_noise_sample();
  EXPECT_GT(before.total_s, 0);
  EXPECT_GE(after.total_s, before.total_s);
  EXPECT_GE(after.seconds, before.seconds);
  EXPECT_GE(after.preemptions, before.preemptions);
}

}  // namespace
}  // namespace rung
