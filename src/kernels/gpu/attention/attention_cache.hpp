// The configurations and arguments of the attention kernels for few queries over many keys, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/attention/attention_arguments.hpp"

namespace rung::gpu {

// A team of neighbouring lanes takes one key at a time, 16 bytes of it or more a lane, or 8 of a cache of 8 bits, for
// `rows` packed query rows.
struct CacheAttentionConfig {
  static constexpr int kThreads = 128;
  static constexpr int kAhead = 4;  // keys of a team under way together

  DType type;      // of queries and results
  DType key_type;  // of keys and values: the same, or f8e4m3fn, which stands for the machine's e4m3
  int width;       // of the kernel: 64, 128 or 256; heads are padded to it with zeros
  int rows;        // 1, 4 or 8
  bool operator==(const CacheAttentionConfig&) const = default;

  constexpr int vector() const { return type == DType::f32 ? 4 : 8; }  // elements that a lane loads at a time
  constexpr int lanes() const { return width / vector() < 32 ? width / vector() : 32; }
  constexpr int vectors() const { return width / vector() / lanes(); }  // of a lane
  constexpr int teams() const { return kThreads / lanes(); }
  constexpr int keys() const { return teams() * kAhead; }           // that a block takes at a time
  static constexpr int row_floats(int width) { return width + 2; }  // sums, then the largest score and the weights' sum
};

// Split i of a key head has every splits-th run of keys from run i on; splits beyond the runs that there are have
// none, and leave no results.
struct CacheAttentionArguments {
  AttentionArguments attention;
  float* results;  // [batch, groups, splits, rows, row_floats(attention.width)]; unused if `splits` is 1
  int32_t splits;
  int32_t run, tile;  // the keys that a block takes at a time, and its packed rows
};

inline constexpr int kJoinCacheThreads = 256;  // a block joins one packed row

}  // namespace rung::gpu
