// What follows from the pattern of lanes' addresses, against counting by hand; patterns that come again included.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/lane_pattern.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "amdgpu/run/access/lane_access.hpp"

namespace rung::amdgpu {
namespace {

std::set<uint64_t> bytes_of(const Addresses& a, unsigned bytes) {
  std::set<uint64_t> touched;
  for (const uint64_t at : a.at)
    for (unsigned b = 0; b < bytes; ++b) touched.insert(at + b);
  return touched;
}

size_t lines_of(const std::set<uint64_t>& touched) {
  std::set<uint64_t> lines;
  for (const uint64_t byte : touched) lines.insert(byte / 128);
  return lines.size();
}

// 32 lanes go at once, 16 of 8 bytes, 8 of more; what is wanted of one bank beyond the first dword takes a cycle each.
size_t conflicts_of(const Addresses& a, unsigned bytes) {
  const int together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  size_t cycles = 0;
  for (int first = 0; first < 64; first += together) {
    std::map<uint64_t, std::set<uint64_t>> wanted;
    size_t most = 1;
    for (int l = first; l < first + together; ++l)
      for (uint64_t dword = a.at[l] / 4; a.lanes >> l & 1 && dword < a.at[l] / 4 + std::max(1u, bytes / 4); ++dword) {
        auto& bank = wanted[dword % 32];
        bank.insert(dword);
        most = std::max(most, bank.size());
      }
    cycles += most - 1;
  }
  return cycles;
}

Addresses spread(uint64_t base, int64_t stride, unsigned modulo, uint64_t lanes) {
  Addresses a;
  a.lanes = lanes;
  for (int l = 0; l < 64; ++l) a.at[l] = base + static_cast<uint64_t>(l % static_cast<int>(modulo) * stride);
  a.close();
  return a;
}

void expect_known(LanePatterns& patterns, const Addresses& a, unsigned bytes) {
  const std::set<uint64_t> touched = bytes_of(a, bytes);
  const LanePattern& global = patterns.of(a, bytes, LanePatterns::kLineBytes);
  EXPECT_EQ(global.lanes, a.lanes);
  EXPECT_EQ(global.lines, lines_of(touched));
  const uint64_t lowest = a.at[0] + static_cast<uint64_t>(global.lowest);
  EXPECT_EQ(lowest, *touched.begin());
  EXPECT_EQ(lowest + global.span, *touched.rbegin() + 1);
  std::set<uint64_t> runs;
  for (const ByteRun& run : global.runs)
    for (uint64_t b = 0; b < run.count; ++b) EXPECT_TRUE(runs.insert(lowest + run.begin + b).second);
  EXPECT_EQ(runs, touched);
  bool in_row = a.lanes == ~uint64_t{0};
  for (int l = 0; l < 64; ++l) in_row &= a.at[l] == a.at[0] + uint64_t{bytes} * static_cast<unsigned>(l);
  EXPECT_EQ(global.in_row, in_row);
  EXPECT_EQ(patterns.of(a, bytes, LanePatterns::kDwordBytes).bank_conflicts, conflicts_of(a, bytes));
}

TEST(LanePatterns, OfStridesAndOfPartsOfAWave) {
  LanePatterns patterns;
  for (const unsigned bytes : {1u, 2u, 4u, 8u, 12u, 16u})
    for (const int64_t stride : {0, 1, 2, 4, 8, 16, 36, 128, 132, -4, -16, 4096})
      for (const unsigned modulo : {64u, 16u, 5u})
        for (const uint64_t lanes : {~uint64_t{0}, uint64_t{0xff00ff0000ff00f0}, uint64_t{1} << 63})
          for (const uint64_t base : {0x10000u, 0x10004u, 0x10050u, 0x1007cu}) {
            const int64_t whole = bytes >= 4 ? stride / 4 * 4 : stride;
            expect_known(patterns, spread(base, whole, modulo, lanes), bytes);
          }
}

TEST(LanePatterns, OfAddressesAtRandomOneAfterTheOther) {
  LanePatterns patterns;
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Addresses a;
    a.lanes = round % 3 == 0 ? ~uint64_t{0} : uint64_t{random()} << 32 | random() | 1;
    for (uint64_t& at : a.at) at = 0x100000 + random() % 4096 * 4;
    a.close();
    for (int again = 0; again < 3; ++again) {
      expect_known(patterns, a, 4);
      for (uint64_t& at : a.at) at += 4 * 17;  // the same pattern elsewhere
    }
  }
}

}  // namespace
}  // namespace rung::amdgpu
