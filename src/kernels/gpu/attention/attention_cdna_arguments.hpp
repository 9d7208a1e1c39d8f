// The configurations and arguments of CDNA's attention kernel, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/attention/attention_arguments.hpp"

namespace rung::gpu {

// A wave has 16 packed query rows for each of `row_tiles` and takes a group of 32 keys at a time. The waves of a team
// share keys, and each has its own rows; the teams of a block share rows, and each has every key_waves-th group.
struct CdnaAttentionConfig {
  static constexpr int kGroupKeys = 32;
  static constexpr int kJoinTiles = 2;  // tiles of 16 columns that teams add up at a time

  DType type;
  int width;  // of the kernel: 32, 64, 80, 128 or 256; heads are padded to it with zeros
  int row_tiles, row_waves, key_waves;
  int unit;  // elements, 8 or 4, that are read together: the heads' width and distances are multiples of the unit
  bool operator==(const CdnaAttentionConfig&) const = default;

  constexpr int rows() const { return 16 * row_tiles * row_waves; }
  constexpr int waves() const { return row_waves * key_waves; }

  // Values go through shared memory by slices of a group's keys and some columns, one for each wave. A slice has a row
  // for each column, 16 bytes apart, and 16 more after each eight: lanes that read along a row's keys or write every
  // eighth column meet no bank twice.
  constexpr int slice_columns() const { return width > 128 ? 128 : width; }
  constexpr int parts() const { return width / slice_columns(); }
  static constexpr uint32_t slice_offset(uint32_t column) { return column * (2 * kGroupKeys + 16) + column / 8 * 16; }
  constexpr uint32_t slice_bytes() const { return slice_offset(static_cast<uint32_t>(slice_columns())); }
  // The join takes some columns of the sums of all teams, and each row's largest score and sum.
  static constexpr uint32_t kJoinPitch = 16 * kJoinTiles + 4;  // elements
  constexpr uint32_t join_bytes() const {
    return key_waves == 1 ? 0 : static_cast<uint32_t>(4 * key_waves * rows()) * (kJoinPitch + 2);
  }
  constexpr uint32_t shared_bytes() const {
    const uint32_t slices = static_cast<uint32_t>(waves()) * slice_bytes();
    return slices > join_bytes() ? slices : join_bytes();
  }
};

constexpr uint32_t kJoinThreads = 256;

// Blocks are ordered by heads, then by splits, then by tiles of rows; a die takes a run of blocks, so that its L2 reads
// the keys that they share once.
struct CdnaAttentionArguments {
  AttentionArguments attention;
  // If there are several splits, each leaves for each packed row of all groups and batches the sums in f32, not divided
  // yet, and the largest score and the sum of weights.
  float* sums;
  float* statistics;  // pairs
  uint32_t tiles, splits, blocks, dies;
  int32_t keys_of_split;  // whole groups
};

}  // namespace rung::gpu
