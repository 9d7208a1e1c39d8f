// What is read of a machine that is planted, what is said of it, and what waiting for a quiet one does.
// SPDX-License-Identifier: Apache-2.0
#include "measure/disturbance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

// Columns of a processor in ticks of 10 ms: user nice system idle iowait irq softirq steal.
struct Planted {
  std::string allowed = "0-1";
  std::string stat =
      "cpu 9 9 9 9 9 9 9 9\ncpu0 100 0 50 800 40 5 5 0\ncpu1 200 0 0 700 0 0 0 100\ncpu2 7 7 7 7 7 7 7 7\n"
      "cpu10 7 7 7 7 7 7 7 7\n";
  std::string own = "42 (a) name)) R 1 1 1 0 -1 0 0 0 0 0 30 20 7 3 20 0 2 0 1 1";
  std::string cpu_stat = "usage_usec 1\nthrottled_usec 2500000\n";
};

class PlantedMachine : public testing::Test {
 protected:
  MachineCounters read(const Planted& planted) {
    for (const char* name : {"proc/self", "sys/fs/cgroup/job"}) std::filesystem::create_directories(folder / name);
    const std::pair<const char*, std::string> files[] = {
        {"proc/self/status", "Name:\tx\nCpus_allowed_list:\t" + planted.allowed + "\n"},
        {"proc/stat", planted.stat},
        {"proc/self/stat", planted.own},
        {"proc/cpuinfo", "cpu MHz\t\t: 3000.5\ncpu MHz\t\t: 2000.5\n"},
        {"proc/self/cgroup", "0::/job\n"},
        {"proc/self/mountinfo", "30 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
        {"sys/fs/cgroup/job/cpu.max", "150000 100000\n"},
        {"sys/fs/cgroup/job/cpu.stat", planted.cpu_stat}};
    for (const auto& [name, text] : files) EXPECT_TRUE(write_file_atomically(folder / name, text)) << name;
    return read_machine_counters(folder / "");
  }
  TemporaryDirectory folder;
};

TEST_F(PlantedMachine, IsReadAsItsFilesSay) {
  const MachineCounters counters = read({});
  EXPECT_DOUBLE_EQ(counters.total_s, 20) << "of the two processors that this process may use";
  EXPECT_DOUBLE_EQ(counters.busy_s, 1.6 + 2.0);
  EXPECT_DOUBLE_EQ(counters.steal_s, 1);
  EXPECT_DOUBLE_EQ(counters.own_s, 0.6) << "itself and children that ended";
  EXPECT_DOUBLE_EQ(counters.throttled_s, 2.5);
  EXPECT_DOUBLE_EQ(counters.megahertz, 2500.5);
  EXPECT_GT(counters.seconds, 0);
}

TEST_F(PlantedMachine, IsOfTheProcessorsThatItMayUse) {
  EXPECT_DOUBLE_EQ(read({.allowed = "1"}).steal_s, 1);
  EXPECT_DOUBLE_EQ(read({.allowed = "0"}).steal_s, 0);
  EXPECT_NEAR(read({.allowed = "1-2,10"}).steal_s, 1.14, 1e-9);
}

TEST_F(PlantedMachine, TellsTheQuotaOfTheFirstVersionToo) {
  EXPECT_DOUBLE_EQ(read({.cpu_stat = "nr_throttled 3\nthrottled_time 1500000000\n"}).throttled_s, 1.5);
  EXPECT_DOUBLE_EQ(read({.cpu_stat = "usage_usec 3\n"}).throttled_s, 0);
}

TEST(Machine, ThatTellsNothingIsAllZeros) {
  const MachineCounters counters = read_machine_counters("/nowhere");
  EXPECT_EQ(counters.total_s + counters.busy_s + counters.own_s + counters.throttled_s + counters.megahertz, 0);
  EXPECT_TRUE(Disturbance::between(counters, counters).is_quiet());
}

TEST(Machine, CountsThisProcess) {
  const MachineCounters before = read_machine_counters("");
  EXPECT_GT(before.total_s, 0);
  EXPECT_GT(before.total_s, before.busy_s);
  const MachineCounters after = read_machine_counters("");
  EXPECT_GE(after.total_s, before.total_s);
  EXPECT_GE(after.own_s, before.own_s);
  EXPECT_GE(after.preemptions, before.preemptions);
}

// Ten seconds of two processors, one of which this process had.
MachineCounters after_ten() { return {.seconds = 10, .total_s = 20, .busy_s = 10, .own_s = 10, .megahertz = 3000}; }
const MachineCounters kStart{.megahertz = 3000};

std::string said_of(void (*disturb)(MachineCounters&)) {
  MachineCounters after = after_ten();
  disturb(after);
  return Disturbance::between(kStart, after).text();
}

TEST(Disturbance, IsReportedByKindAndAboveLimits) {
  EXPECT_EQ(said_of([](MachineCounters&) {}), "") << "its own work disturbs nobody";
  EXPECT_EQ(said_of([](MachineCounters& c) { c.busy_s += 0.9; }), "");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.busy_s += 9.6; }), "other programs had 48 % of the processors");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.steal_s = 0.19; }), "");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.steal_s = 0.4; }), "the hypervisor took 2.0 % of the processors");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.throttled_s = 0.09; }), "");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.throttled_s = 2; }), "the quota stopped it for 20 % of the time");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.preemptions = 199; }), "");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.preemptions = 12470; }), "preempted 1,247 times a second");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.megahertz = 2860; }), "");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.megahertz = 2840; }), "the clock fell from 3000 to 2840 MHz");
  EXPECT_EQ(said_of([](MachineCounters& c) { c.megahertz = 4000; }), "");
}

TEST(Disturbance, IsOneLineOfAllThatItIs) {
  EXPECT_EQ(said_of([](MachineCounters& c) { c.busy_s += 9.6, c.preemptions = 500; }),
            "other programs had 48 % of the processors, preempted 50 times a second");
}

TEST(Disturbance, OfAMomentIgnoresSingleTicks) {
  MachineCounters after{.seconds = 0.1,
                        .total_s = 0.2,
                        .busy_s = 0.14,
                        .steal_s = 0.02,
                        .own_s = 0.1,
                        .preemptions = 20,
                        .megahertz = 3000};
  EXPECT_EQ(Disturbance::between(kStart, after).text(), "");
  after.busy_s = 0.16;
  EXPECT_THAT(Disturbance::between(kStart, after).text(), HasSubstr("other programs had 30 %"));
}

// Readings of waiting: others are busy until the second that g_quiet_from says.
double g_quiet_from = 0, g_reads = 0;
MachineCounters scripted_counters() {
  const double at = g_reads++;
  const double second = std::floor(at / 2) + static_cast<int>(at) % 2;  // each window reads twice
  return {
      .seconds = second, .total_s = 2 * second, .busy_s = std::min(second, g_quiet_from), .megahertz = 3000 - 500 * at};
}

class Waiting : public testing::Test {
 protected:
  Waiting() : before_(machine_counters) { machine_counters = scripted_counters, g_reads = 0; }
  ~Waiting() override { machine_counters = before_; }
  MachineCounters (*before_)();
};

TEST_F(Waiting, EndsWithTheFirstQuietWindow) {
  g_quiet_from = 3;
  const QuietWait wait = wait_until_quiet(60, {}, 0.01);
  EXPECT_TRUE(wait.is_quiet()) << wait.text();
  EXPECT_EQ(g_reads, 8) << "three windows with others, one without";
  EXPECT_LT(wait.waited_s, 30);
  EXPECT_THAT(wait.text(), testing::StartsWith("the machine is quiet, after "));
}

TEST_F(Waiting, EndsWhenTheTimeIsOver) {
  g_quiet_from = 1e9;
  const QuietWait wait = wait_until_quiet(0.05, {}, 0.01);
  EXPECT_FALSE(wait.is_quiet());
  EXPECT_GE(wait.waited_s, 0.05);
  EXPECT_THAT(wait.text(), HasSubstr("is not quiet after"));
  EXPECT_THAT(wait.text(), HasSubstr("other programs had 50 % of the processors; going on all the same"));
}

TEST_F(Waiting, EndsWhenItIsInterrupted) {
  g_quiet_from = 1e9;
  EXPECT_LT(wait_until_quiet(60, [] { return true; }).waited_s, 30);
}

}  // namespace
}  // namespace rung
