// The row of the attention kernel for few queries whose heads share keys.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_split_kv.hpp"

#include <algorithm>

#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/attention/attention_tiles.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

using Config = SplitKvConfig;
constexpr Variant<Config> kVariants[] = {
#include "kernels/gpu/attention/attention_split_kv.inc"
};

constexpr int64_t kMostSplits = 16;  // blocks of a cluster
constexpr int64_t kMostRows = 32;    // packed rows of a block

// Returns the most packed rows of one group whose blocks all run at once, in clusters as large as all machines allow.
int64_t most_rows(const GpuInfo& gpu) { return blocks_at_once(gpu) / kPortableCluster * kMostRows; }

// Returns the fewest blocks that hold the keys together, each with as many tiles as it has room for.
int64_t fewest_splits(const Problem& problem) {
  return std::max<int64_t>(1, (key_tiles(problem) + Config::kTiles - 1) / Config::kTiles);
}

// Returns as many splits as a cluster has on all machines, but no more than tiles, and at least the fewest.
int64_t default_splits(const Problem& problem) {
  const int64_t fewest = fewest_splits(problem);
  return std::max(fewest, std::min<int64_t>(kPortableCluster, key_tiles(problem)));
}

// Returns the choices of packed rows of a block: whole groups of heads that fit in shared memory; the first is the
// default.
std::vector<int64_t> rows_of_blocks(const Problem& problem, const GpuInfo& gpu) {
  const AttentionShape shape(problem);
  std::vector<int64_t> rows;
  for (const auto& [config, symbol] : kVariants)
    if (config.type == problem.inputs[0].dtype && config.splits == 0 &&
        config.rows % (shape.heads / shape.groups) == 0 && supports_shared_bytes(config.shared_bytes(), gpu))
      rows.push_back(config.rows);
  return rows;
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  std::vector<int64_t> splits{default_splits(problem)};
  if (fewest_splits(problem) < splits[0]) splits.push_back(fewest_splits(problem));
  return {{"rows", rows_of_blocks(problem, machine.gpu)}, {"splits", splits}};
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_tiled_attention(problem, machine); !verdict) return verdict;
  const AttentionShape shape(problem);
  if (shape.width != Config::kWidth) return reject("heads not 256 wide");
  if (const int64_t ratio = shape.heads / shape.groups; ratio != 8 && ratio != 16 && ratio != 32)
    return reject("not 8, 16 or 32 heads that share a key head");
  if (const int64_t most = most_rows(machine.gpu); shape.rows() > most)
    return reject(fmt::format("more than {} rows", most));
  if (shape.keys == 0) return reject("no keys");
  if (fewest_splits(problem) > kMostSplits) return reject("more keys than a cluster holds");
  if (problem.as<Attention>().has_mask() && mask_differs_by_head(problem)) return reject("a mask of each head");
  if (!rows_of_blocks(problem, machine.gpu).empty()) return accept();
  return reject(fmt::format("no kernel of this type for blocks with {} bytes of shared memory",
                            machine.gpu.shared_bytes_per_block));
}

Status enqueue(const Call& call) {
  const int64_t most = rows_of_blocks(call.problem, call.gpu.info()).front();
  const auto rows = static_cast<int>(call.problem.param("rows", most));
  SplitKvArguments arguments{
      .attention = attention_arguments(call),
      .splits = static_cast<int32_t>(call.problem.param("splits", default_splits(call.problem)))};
  set_tiles(arguments);
  RUNG_CHECK(describe_tile(call, arguments.q, split_kv_query_tile(arguments.attention, rows)));
  RUNG_CHECK(describe_segments(call, arguments.attention, arguments.k, arguments.v, {kTileKeys, split_kv_key_tile}));
  Launch launch = attention_launch(call, rows, arguments.splits);
  launch.block = {Config::kThreads};
  launch.cluster = {static_cast<uint32_t>(arguments.splits)};
  // A kernel compiled for this split is preferred to one for any split.
  Config config{call.problem.inputs[0].dtype, rows, arguments.splits};
  if (symbol_of(kVariants, config).empty()) config.splits = 0;
  launch.shared_bytes = config.shared_bytes();
  return call.launch("attention_split_kv_sm90", symbol_of(kVariants, config), launch, arguments);
}

}  // namespace

extern const Kernel attention_split_kv;
const Kernel attention_split_kv{.name = "attention_split_kv",
                                .op = "attention",
                                .supports = supports,
                                .tunables = tunables,
                                .alignment = 16,
                                .enqueue = enqueue};

}  // namespace rung::gpu
