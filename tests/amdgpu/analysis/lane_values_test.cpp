// What follows of lanes from code alone: addresses, why accesses are narrow, bank conflicts, values that come back.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/lane_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "amdgpu/analysis/accesses.hpp"
#include "amdgpu/analysis/kernel_reading.hpp"
#include "amdgpu/code/assembly.hpp"
#include "amdgpu/run/access/memory_form.hpp"

namespace rung::amdgpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Listing listing_of(const std::string& lines) {
  auto read = read_assembly("k:\n" + lines + "\ns_endpgm\n", Isa::gfx942);
  EXPECT_TRUE(read) << read.error().message;
  if (!read) return {};
  EXPECT_EQ(read->front().listing.undecoded, 0u);
  return read->front().listing;
}

std::vector<Access> accesses_in(const Listing& listing) { return accesses_of(listing, blocks_of(listing)); }

// The address of the last access, by lane: "exact 0 4 8", "shifted 0 16 32" or "unknown".
std::string address_of(const std::string& lines) {
  const auto accesses = accesses_in(listing_of(lines));
  if (accesses.empty()) return "no access";
  const LaneValuePtr address = accesses.back().address;
  if (!address) return "unknown";
  return fmt::format("{} {} {} {} {}", address->exact ? "exact" : "shifted", address->at[0], address->at[1],
                     address->at[2], address->at[63]);
}

TEST(LaneValues, FollowFromTheLaneAndConstants) {
  EXPECT_EQ(address_of("ds_read_b32 v1, v0"), "exact 0 1 2 63");
  EXPECT_EQ(address_of("v_and_b32_e32 v1, 0x3ff, v0\nv_lshlrev_b32_e32 v1, 4, v1\nds_read_b32 v2, v1"),
            "exact 0 16 32 1008");
  EXPECT_EQ(address_of("s_movk_i32 s4, 0x104\nv_mul_u32_u24_e32 v1, s4, v0\nds_read_b32 v2, v1"),
            "exact 0 260 520 16380");
  EXPECT_EQ(address_of("v_mbcnt_lo_u32_b32 v1, -1, 0\nv_mbcnt_hi_u32_b32 v1, -1, v1\nds_read_b32 v2, v1"),
            "exact 0 1 2 63");
  EXPECT_EQ(address_of("v_mov_b32_e32 v3, 7\nv_cmp_gt_u32_e32 vcc, 2, v0\nv_cndmask_b32_e32 v1, v3, v0, vcc\n"
                       "ds_read_b32 v2, v1"),
            "exact 0 1 7 7");
}

TEST(LaneValues, MayMissAnAddendThatAllLanesShare) {
  EXPECT_EQ(address_of("s_load_dword s4, s[0:1], 0x0\nv_lshl_add_u32 v1, v0, 3, s4\nds_read_b32 v2, v1"),
            "shifted 0 8 16 504");
  EXPECT_EQ(
      address_of("v_mov_b32_e32 v1, s4\nv_add_u32_e32 v1, v1, v0\nv_lshlrev_b32_e32 v1, 2, v1\nds_read_b32 v2, v1"),
      "shifted 0 4 8 252");
  EXPECT_EQ(address_of("v_lshlrev_b32_e32 v2, 4, v0\nv_mov_b32_e32 v3, 0\nv_lshl_add_u64 v[4:5], s[2:3], 0, v[2:3]\n"
                       "global_load_dword v1, v[4:5], off"),
            "shifted 0 16 32 1008");
  // What is done bit by bit to a value whose addend is missing cannot be told.
  EXPECT_EQ(address_of("v_add_u32_e32 v1, s4, v0\nv_and_b32_e32 v1, 63, v1\nds_read_b32 v2, v1"), "unknown");
  EXPECT_EQ(address_of("v_mul_lo_u32 v1, v0, s4\nds_read_b32 v2, v1"), "unknown");
  EXPECT_EQ(address_of("v_mul_lo_u32 v1, s5, s4\nv_xor_b32_e32 v1, s4, v1\nds_read_b32 v2, v1"), "shifted 0 0 0 0");
}

TEST(LaneValues, GoThroughScalarRegisters) {
  const std::string wave = "v_readfirstlane_b32 s4, v0\ns_lshr_b32 s4, s4, 6\n";  // the first wave's number is 0
  EXPECT_EQ(address_of(wave + "v_lshlrev_b32_e32 v1, 2, v0\nv_or_b32_e32 v1, s4, v1\nds_read_b32 v2, v1"),
            "exact 0 4 8 252");
  EXPECT_EQ(address_of("ds_read_b32 v3, v0\nv_readfirstlane_b32 s4, v3\nv_add_u32_e32 v1, s4, v0\nds_read_b32 v2, v1"),
            "shifted 0 1 2 63");
  // Which lane is the first is not known behind a condition.
  EXPECT_EQ(address_of("s_and_saveexec_b64 s[2:3], vcc\nv_readfirstlane_b32 s4, v0\nv_or_b32_e32 v1, s4, v0\n"
                       "ds_read_b32 v2, v1"),
            "unknown");
}

TEST(LaneValues, OfWhatIsLoadedAreUnknown) {
  EXPECT_EQ(address_of("global_load_dword v1, v0, s[2:3]\nds_read_b32 v2, v1"), "unknown");
  EXPECT_EQ(address_of("ds_bpermute_b32 v1, v0, v0\nds_read_b32 v2, v1"), "unknown");
  EXPECT_EQ(address_of("v_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\nds_read_b32 v2, v1"),
            "unknown");
}

TEST(LaneValues, AreShiftedWhereALoopChangesAllLanes) {
  EXPECT_EQ(address_of("v_lshlrev_b32_e32 v1, 4, v0\n.L1:\nds_read_b32 v2, v1\nv_add_u32_e32 v1, 64, v1\n"
                       "s_cbranch_scc1 .L1"),
            "shifted 0 16 32 1008");
  EXPECT_EQ(address_of("v_lshlrev_b32_e32 v1, 4, v0\n.L1:\nds_read_b32 v2, v1\nv_add_u32_e32 v1, v1, v0\n"
                       "s_cbranch_scc1 .L1"),
            "unknown");
}

TEST(LaneValues, OfSomeLanesAreForgottenWhenOthersReturn) {
  const std::string some = "v_cmp_gt_u32_e32 vcc, 7, v0\ns_and_saveexec_b64 s[2:3], vcc\nv_lshlrev_b32_e32 v1, 2, v0\n";
  EXPECT_EQ(address_of(some + "ds_read_b32 v2, v1"), "exact 0 4 8 252");
  EXPECT_EQ(address_of(some + "s_or_b64 exec, exec, s[2:3]\nds_read_b32 v2, v1"), "unknown");
  EXPECT_EQ(address_of("v_lshlrev_b32_e32 v5, 3, v0\n" + some + "s_or_b64 exec, exec, s[2:3]\nds_read_b32 v2, v5"),
            "exact 0 8 16 504");
  // After it all lanes write again.
  EXPECT_EQ(address_of(some + "s_or_b64 exec, exec, s[2:3]\nv_lshlrev_b32_e32 v6, 1, v0\n" +
                       "s_and_saveexec_b64 s[4:5], vcc\ns_or_b64 exec, exec, s[4:5]\nds_read_b32 v2, v6"),
            "exact 0 2 4 126");
  // Between then and else all lanes are there for a while.
  const std::string both = some + "s_xor_b64 s[2:3], exec, s[2:3]\ns_or_saveexec_b64 s[4:5], s[2:3]\n";
  EXPECT_EQ(address_of(both + "v_lshlrev_b32_e32 v7, 2, v0\ns_xor_b64 exec, exec, s[4:5]\nv_mov_b32_e32 v8, v0\n" +
                       "s_or_b64 exec, exec, s[4:5]\nds_read_b32 v2, v7"),
            "exact 0 4 8 252");
  EXPECT_EQ(address_of(both + "s_xor_b64 exec, exec, s[4:5]\nv_mov_b32_e32 v8, v0\ns_or_b64 exec, exec, s[4:5]\n" +
                       "ds_read_b32 v2, v8"),
            "unknown");
  // The lanes of an else did not see the then.
  EXPECT_EQ(
      address_of(some + "s_xor_b64 s[2:3], exec, s[2:3]\ns_andn2_saveexec_b64 s[2:3], s[2:3]\nds_read_b32 v2, v1"),
      "unknown");
}

std::array<uint32_t, 4> reasons_of(const std::string& body) {
  return read_listing(listing_of(".L1:\n" + body + "\ns_cbranch_scc1 .L1")).narrow_global;
}

TEST(NarrowAccesses, SayWhatKeepsThemNarrow) {
  // By: alignment, type, stride, unknown.
  EXPECT_THAT(reasons_of("global_load_dwordx4 v[4:7], v0, s[2:3]"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(reasons_of("v_lshlrev_b32_e32 v1, 2, v0\nglobal_load_dword v4, v1, s[2:3]"), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(reasons_of("v_lshlrev_b32_e32 v1, 5, v0\nglobal_load_dword v4, v1, s[2:3]"), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(reasons_of("v_lshlrev_b32_e32 v1, 4, v0\nglobal_load_dwordx2 v[4:5], v1, s[2:3]\n"
                         "global_load_dwordx2 v[6:7], v1, s[2:3] offset:8"),
              ElementsAre(2, 0, 0, 0));
  EXPECT_THAT(reasons_of("global_load_dword v1, v0, s[2:3]\nglobal_load_dword v4, v1, s[2:3]"),
              ElementsAre(0, 0, 1, 1));
  // Of other bases, of other values of the same register, they are no neighbours.
  EXPECT_THAT(reasons_of("v_lshlrev_b32_e32 v1, 4, v0\nglobal_load_dwordx2 v[4:5], v1, s[2:3]\n"
                         "global_load_dwordx2 v[6:7], v1, s[4:5] offset:8"),
              ElementsAre(0, 0, 2, 0));
  EXPECT_THAT(reasons_of("global_load_dword v4, v1, s[2:3]\nv_add_u32_e32 v1, v5, v1\n"
                         "global_load_dword v6, v1, s[2:3] offset:4"),
              ElementsAre(0, 0, 0, 2));
}

BankReading banks_of(const std::string& body) { return read_listing(listing_of(body + "\ns_cbranch_scc1 .L1")).banks; }

TEST(BankConflicts, OfConstantStrides) {
  // Lanes 4 bytes apart take a bank each; 128 bytes apart all of 32 lanes want the same, twice.
  const BankReading none = banks_of("v_lshlrev_b32_e32 v1, 2, v0\n.L1:\nds_read_b32 v2, v1");
  EXPECT_EQ(none.derived, 1u);
  EXPECT_EQ(none.conflicting, 0u);
  const BankReading all = banks_of("v_lshlrev_b32_e32 v1, 7, v0\n.L1:\nds_read_b32 v2, v1 offset:4");
  EXPECT_EQ(all.conflicting, 1u);
  EXPECT_EQ(all.cycles, 2u * 31);
  EXPECT_EQ(all.worst, "ds_read_b32 at 0x4, 62 cycles");
  // A row of padding: 132 bytes apart.
  EXPECT_EQ(banks_of("v_mul_u32_u24_e32 v1, 0x84, v0\n.L1:\nds_read_b32 v2, v1").cycles, 0u);
  // What is missing is the same for all lanes.
  EXPECT_EQ(banks_of("v_lshl_add_u32 v1, v0, 7, s4\n.L1:\nds_read_b32 v2, v1").cycles, 62u);
  const BankReading unknown = banks_of("ds_read_b32 v1, v0\n.L1:\nds_read_b32 v2, v1");
  EXPECT_EQ(unknown.accesses, 1u);
  EXPECT_EQ(unknown.derived, 0u);
}

std::vector<size_t> trips_of(const std::string& lines) {
  const Listing listing = listing_of(lines);
  return round_trips(listing, accesses_in(listing));
}

TEST(RoundTrips, AreReadsOfWhatTheLaneWroteItself) {
  const std::string write = "v_lshlrev_b32_e32 v1, 4, v0\nds_write_b128 v1, v[4:7]\n";
  EXPECT_THAT(trips_of(write + "ds_read_b128 v[8:11], v1"), ElementsAre(2u));
  EXPECT_THAT(trips_of(write + "ds_read_b64 v[8:9], v1 offset:8"), ElementsAre(2u));
  EXPECT_THAT(trips_of(write + "ds_read2_b32 v[8:9], v1 offset1:3"), ElementsAre(2u));
  EXPECT_THAT(trips_of(write + "s_barrier\nv_mul_u32_u24_e32 v2, 16, v0\nds_read_b128 v[8:11], v2"), ElementsAre(4u));
}

TEST(RoundTrips, AreNoneWhereAnotherMayHaveWritten) {
  const std::string write = "v_lshlrev_b32_e32 v1, 4, v0\nds_write_b128 v1, v[4:7]\n";
  EXPECT_THAT(trips_of(write + "s_barrier\ns_barrier\nds_read_b128 v[8:11], v1"), IsEmpty());
  EXPECT_THAT(trips_of(write + "ds_read_b128 v[8:11], v1 offset:16"), IsEmpty());
  EXPECT_THAT(trips_of(write + "ds_read2_b32 v[8:9], v1 offset1:4"), IsEmpty());
  EXPECT_THAT(trips_of(write + "ds_write_b32 v20, v4\nds_read_b128 v[8:11], v1"), IsEmpty());
  EXPECT_THAT(trips_of(write + "ds_write_b32 v1, v4 offset:20\nds_read_b128 v[8:11], v1"), IsEmpty());
  EXPECT_THAT(trips_of(write + "ds_write_b32 v1, v4 offset:1024\nds_read_b128 v[8:11], v1"), ElementsAre(3u));
  EXPECT_THAT(trips_of(write + "s_and_saveexec_b64 s[2:3], vcc\nds_read_b128 v[8:11], v1"), IsEmpty());
  EXPECT_THAT(trips_of(write + ".L1:\nds_read_b128 v[8:11], v1\ns_cbranch_scc1 .L1"), IsEmpty());
}

std::string registers(unsigned first, unsigned count) {
  return count == 1 ? "v" + std::to_string(first)
                    : "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}
// A DS instruction at v1 plus the offset, of which one with two has the first there and the second at another.
std::string text_of(const testing::Form& form, uint32_t offset, uint32_t second) {
  std::string text = form.name.substr(0, form.name.find(' '));
  if (form.results != 0) text += " " + registers(8, form.results) + ",";
  text += " v1";
  unsigned at = 12;
  for (const unsigned count : form.data) text += ", " + registers(at, count), at += count;
  const uint32_t unit = form.apart == 0 ? 1 : form.apart / testing::kSecondOffset;
  if (form.apart == 0) return text + " offset:" + std::to_string(offset) + "\n";
  return text + " offset0:" + std::to_string(offset / unit) + " offset1:" + std::to_string(second / unit) + "\n";
}

// 2 KB a lane, so that all offsets of two places are each lane's own.
TEST(RoundTrips, OfEveryFormOfAccess) {
  const std::string address = "v_lshlrev_b32_e32 v1, 11, v0\n";
  const std::string wide = address + "ds_write_b128 v1, v[4:7]\n";
  size_t reads = 0, writes = 0;
  for (const testing::Form& form : testing::memory_forms()) {
    if (form.encoding != Encoding::ds || form.space != testing::Space::lds || form.by_lane()) continue;
    if (form.name.find("_tr_") != std::string::npos) continue;  // gives lanes what others wrote
    const uint32_t unit = form.apart == 0 ? form.bytes : form.apart / testing::kSecondOffset, b = form.bytes;
    const std::string both = wide + "ds_write_b128 v1, v[4:7] offset:512\n";
    if (form.loads) {
      EXPECT_EQ(trips_of(wide + text_of(form, 0, 0)).size(), 1u) << form.name;
      EXPECT_EQ(trips_of(address + "ds_write_b32 v1, v4 offset:16\n" + text_of(form, 0, unit)).size(), 0u) << form.name;
      EXPECT_EQ(trips_of(wide + text_of(form, 512, 0)).size(), 0u) << form.name << ", the first place";
      if (form.apart != 0) {
        EXPECT_EQ(trips_of(wide + text_of(form, 0, 512)).size(), 0u) << form.name << ", the second place";
        EXPECT_EQ(trips_of(both + text_of(form, 0, 512)).size(), 1u) << form.name << ", both";
      }
      ++reads;
    } else {
      const std::string back = "ds_read_b128 v[8:11], v1\n";
      EXPECT_EQ(trips_of(wide + text_of(form, 0, 0) + back).size(),
                b == 16 && form.stores && form.data.size() == 1 ? 1u : 0u)
          << form.name;
      EXPECT_EQ(trips_of(wide + text_of(form, 512, 512) + back).size(), 1u) << form.name << ", apart";
      if (form.apart != 0) {
        EXPECT_EQ(trips_of(wide + text_of(form, 512, 0) + back).size(), 0u) << form.name << ", the second place";
        EXPECT_EQ(trips_of(wide + text_of(form, 512, 768) + back).size(), 1u) << form.name << ", both apart";
      }
      ++writes;
    }
  }
  EXPECT_GE(reads, 18u);
  EXPECT_GE(writes, 80u);
  // Equal offsets are one access, of half the registers.
  const auto equal = accesses_in(listing_of("ds_read2_b64 v[8:11], v1 offset0:3 offset1:3"));
  ASSERT_EQ(equal.size(), 1u);
  EXPECT_EQ(equal[0].bytes, 8u);
  EXPECT_EQ(equal[0].offset, 24);
  // A generic pointer may lead to LDS.
  EXPECT_THAT(trips_of(wide + "flat_store_dword v[20:21], v4\nds_read_b128 v[8:11], v1"), IsEmpty());
  EXPECT_THAT(trips_of(wide + "flat_load_dword v4, v[20:21]\nds_read_b128 v[8:11], v1"), ElementsAre(3u));
}

}  // namespace
}  // namespace rung::amdgpu
