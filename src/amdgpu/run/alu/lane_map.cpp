// Computes DPP's ways from lane to lane: within quads and rows of 16, from row to row, and along the wave.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/alu/lane_map.hpp"

namespace rung::amdgpu {
namespace {

enum Control : uint16_t {
  kRowShl = 0x100,
  kRowShr = 0x110,
  kRowRor = 0x120,
  kWaveShl = 0x130,
  kWaveRol = 0x134,
  kWaveShr = 0x138,
  kWaveRor = 0x13c,
  kRowMirror = 0x140,
  kRowHalfMirror = 0x141,
  kRowBcast15 = 0x142,
  kRowBcast31 = 0x143,
  kRowNewBcast = 0x150,
};

int source_in_row(uint16_t control, int lane) {
  const int row = lane & ~15, at = lane & 15, count = control & 15;
  switch (control & ~15) {
    case kRowShl:
      return at + count < 16 ? lane + count : -1;
    case kRowShr:
      return at >= count ? lane - count : -1;
    case kRowRor:
      return row | ((at - count) & 15);
    case kRowNewBcast:
      return row | count;
    default:
      return -1;
  }
}

}  // namespace

int source_lane(uint16_t control, int lane) {
  if (control < 0x100) return (lane & ~3) | (control >> (2 * (lane & 3)) & 3);
  switch (control) {
    case kWaveShl:
      return lane < 63 ? lane + 1 : -1;
    case kWaveRol:
      return (lane + 1) & 63;
    case kWaveShr:
      return lane - 1;
    case kWaveRor:
      return (lane - 1) & 63;
    case kRowMirror:
      return lane ^ 15;
    case kRowHalfMirror:
      return lane ^ 7;
    case kRowBcast15:
      return (lane & ~15) - 1;  // the last lane of the row before
    case kRowBcast31:
      return lane < 32 ? -1 : 31;
    default:
      return source_in_row(control, lane);
  }
}

LaneMap lane_map(const Dpp& dpp, uint64_t exec) {
  LaneMap map;
  for (int l = 0; l < kWaveLanes; ++l) {
    const int from = source_lane(dpp.control, l);
    const bool valid = from >= 0 && (exec >> from & 1);
    const bool asked = (dpp.row_mask >> (l / 16) & 1) && (dpp.bank_mask >> (l / 4 % 4) & 1);
    const bool written = (exec >> l & 1) && asked && (valid || dpp.bound_ctrl);
    map.from[l] = static_cast<uint8_t>(valid ? from : 0);
    map.valid |= uint64_t{valid} << l;
    map.write |= uint64_t{written} << l;
    if (valid && written) map.read |= uint64_t{1} << from;
  }
  return map;
}

}  // namespace rung::amdgpu
