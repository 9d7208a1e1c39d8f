// The order in which a plan holds scales and offsets of groups for the streaming linear kernels.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_stream_groups.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ir/text.hpp"
#include "support/machines.hpp"
#include "support/problem_in.hpp"

namespace rung::gpu {
namespace {

Problem streamed_problem(const std::string& text) {
  const auto graph = parse_graph("y = linear(" + text + ")");
  return test::problem_in(*graph, graph->outputs()[0].node);
}

// Different for neighbours, and below 0 for half of them.
uint8_t value_at(size_t row, size_t group) { return static_cast<uint8_t>(row * 37 + group * 11 + 100); }

std::vector<uint8_t> packed(const Problem& problem, LinearSlot slot) {
  const auto i = static_cast<size_t>(problem.as<Linear>().slots.at(slot));
  const Shape& shape = problem.inputs[i].shape;
  std::vector<uint8_t> from, to(stream_packed_bytes(problem, testing::hopper(), i));
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t group = 0; group < shape[1]; ++group)
      from.push_back(value_at(static_cast<size_t>(row), static_cast<size_t>(group)));
  pack_stream_groups(problem, testing::hopper(), i, from.data(), to.data());
  return to;
}
uint8_t plus_128(uint8_t value) { return static_cast<uint8_t>(value + 128); }

// Tiles of eight rows, the last of which has four; two chunks of 256 columns; groups of 64.
TEST(StreamGroups, OfFourBitsStandAsLanesLoadThem) {
  const Problem problem = streamed_problem(
      "x:bf16[1,512], w:u8[12,256], ws:f32[12], wg:i8[12,8], wo:i8[12,8], slots=scale+group_scale+group_offset, "
      "out=bf16");
  const StreamConfig config = stream_config(problem);
  for (const LinearSlot slot : {LinearSlot::group_scale, LinearSlot::group_offset}) {
    const std::vector<uint8_t> bytes = packed(problem, slot);
    ASSERT_EQ(bytes.size(), 2 * 2 * 64u);
    size_t at = 0;
    for (uint32_t tile = 0; tile < 2; ++tile)
      for (uint32_t chunk = 0; chunk < 2; ++chunk)
        for (uint32_t lane = 0; lane < 32; ++lane)
          for (uint32_t half = 0; half < 2; ++half) {
            const StreamLane place(config, lane);
            const uint32_t row = tile * 8 + place.row, column = chunk * 256 + half * 128 + place.quarter * 32;
            EXPECT_EQ(bytes[at++], row < 12 ? plus_128(value_at(row, column / 64)) : 128) << row << " " << column;
          }
  }
  EXPECT_EQ(stream_packed_bytes(problem, testing::hopper(), 1), 0u) << "the numbers stay";
}

// Four columns and their partners, of gate and up and of heads of 32 columns; chunks of 128 columns.
TEST(StreamGroups, OfEightBitsFollowRowsAndTheirPartners) {
  const std::string operands = "x:bf16[1,128], w:i8[64,128], ws:f32[64], wg:i8[64,4]";
  const Problem gated = streamed_problem(operands + ", slots=scale+group_scale, gated=true, activation=silu, out=bf16");
  const Problem turned = streamed_problem(
      "x:bf16[1,128], w:i8[64,128], c:f32[1,32], s:f32[1,32], ws:f32[64], wg:i8[64,4], "
      "slots=cos+sin+scale+group_scale, rotated_heads=1, out=bf16");
  const std::vector<uint8_t> of_gated = packed(gated, LinearSlot::group_scale);
  const std::vector<uint8_t> of_turned = packed(turned, LinearSlot::group_scale);
  ASSERT_EQ(of_gated.size(), 8 * 32u);
  ASSERT_EQ(of_turned.size(), 8 * 32u);
  for (size_t at = 0; at < of_gated.size(); ++at) {
    const size_t tile = at / 32, i = at / 4 % 8, group = at % 4;
    EXPECT_EQ(of_gated[at], plus_128(value_at(tile * 4 + i % 4 + i / 4 * 32, group))) << at;
    EXPECT_EQ(of_turned[at], plus_128(value_at(tile / 4 * 32 + tile % 4 * 4 + i % 4 + i / 4 * 16, group))) << at;
  }
}

// Each lane has its own row and quarter, and the lanes that load at a time meet in no bank: of 16 bytes a lane eight
// lanes load, of 8 bytes sixteen do. The copy engine exchanges a row's units of 16 bytes by the row's number.
TEST(StreamLanes, ThatLoadTogetherMeetInNoBank) {
  for (const bool grouped : {false, true}) {
    const StreamConfig config{DType::bf16, DType::i8, StreamEnd::any, grouped};
    std::set<std::pair<uint32_t, uint32_t>> places;
    std::map<uint32_t, std::set<uint32_t>> banks;  // by the lanes that load at a time, units of 8 bytes
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const StreamLane place(config, lane);
      places.insert({place.row, place.quarter});
      if (grouped)
        banks[lane / 16].insert((place.quarter / 2 ^ place.row) % 8 * 2 + place.quarter % 2);
      else
        banks[lane / 8].insert({(place.quarter ^ place.row) * 2, (place.quarter ^ place.row) * 2 + 1});
    }
    EXPECT_EQ(places.size(), 32u);
    for (const auto& [group, taken] : banks) EXPECT_EQ(taken.size(), 16u) << group;
  }
}

}  // namespace
}  // namespace rung::gpu
