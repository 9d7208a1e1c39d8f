// The row of attention on CDNA: it cuts rows and keys into blocks, and launches them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/attention/attention_cdna_arguments.hpp"
#include "kernels/gpu/cdna/machine.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {

static Tunable::Values parameters_of(const CdnaAttentionConfig& block) { return {block.rows(), block.key_waves}; }

namespace {

using Config = CdnaAttentionConfig;
constexpr Variant<Config> kVariants[] = {
#include "kernels/gpu/attention/attention_cdna.inc"
};
constexpr int64_t kMostSplits = 16;
// Blocks with more keys than this are split: a second launch takes about as long as a block takes for this many keys.
constexpr int64_t kKeysOfBlock = 1024;
constexpr int64_t kMostOfFours = 32;  // the widest heads that are read four elements at a time

int64_t divide_up(int64_t x, int64_t by) { return (x + by - 1) / by; }

// The cut of the work into blocks, by the problem's parameters "rows", "key_waves" and "splits", or by default.
constexpr std::string_view kParameters[] = {"rows", "key_waves"};
struct Cut {
  AttentionShape shape;
  int64_t units;                              // compute units
  std::vector<Config> blocks;                 // the blocks of the narrowest width that holds a head, best first
  std::vector<int64_t> splits_worth_a_trial;  // for `block`, best first
  Config block{};
  int64_t splits = 1;

  Cut(const Problem& problem, const GpuInfo& gpu) : shape(problem), units(std::max<int64_t>(gpu.multiprocessors, 1)) {
    const int64_t unit = attention_unit(problem);
    for (const auto& [config, symbol] : kVariants)
      if (config.type == problem.inputs[0].dtype && config.unit == unit && config.width >= shape.width &&
          (blocks.empty() || config.width == blocks[0].width) && config.shared_bytes() <= gpu.shared_bytes_per_block)
        blocks.push_back(config);
    if (blocks.empty()) return;
    std::ranges::stable_sort(blocks, {}, [&](const Config& each) { return cost(each); });
    const Config* asked = find_asked(problem, kParameters, blocks);
    block = asked ? *asked : blocks[0];
    splits_worth_a_trial = splits_of(block);
    splits = std::clamp<int64_t>(problem.param("splits", splits_worth_a_trial[0]), 1, kMostSplits);
  }

  int64_t groups() const { return std::max<int64_t>(divide_up(shape.keys, Config::kGroupKeys), 1); }
  int64_t tiles(const Config& config) const { return divide_up(shape.rows(), config.rows()); }
  int64_t all_rows() const { return shape.rows() * shape.groups * shape.batch; }
  int64_t keys_of_split() const { return divide_up(groups(), splits) * Config::kGroupKeys; }
  // Returns the splits that have keys, which may be fewer than `splits`.
  int64_t used_splits() const { return std::max<int64_t>(divide_up(shape.keys, keys_of_split()), 1); }

 private:
  // Returns powers of two, as long as every team of a block has keys. The first is the least whose blocks have at most
  // kKeysOfBlock keys or fill the machine.
  std::vector<int64_t> splits_of(const Config& config) const {
    std::vector<int64_t> values;
    for (int64_t each = 1; each <= kMostSplits && (each == 1 || each * config.key_waves <= groups()); each *= 2)
      values.push_back(each);
    const int64_t all = tiles(config) * shape.groups * shape.batch;
    auto best = std::ranges::find_if(
        values, [&](int64_t each) { return shape.keys <= each * kKeysOfBlock || all * each >= units; });
    if (best == values.end()) --best;
    std::rotate(values.begin(), best, best + 1);
    return values;
  }

  // Estimates clocks of a compute unit, which no machine has confirmed: a wave's matrix instructions and 600 other
  // instructions for each group, or the reading of keys and values at 64 bytes a clock.
  int64_t cost(const Config& config) const {
    constexpr int64_t kProduct = 16, kOthers = 4 * 600, kBytes = 64;
    const int64_t products = config.row_tiles * (divide_up(config.width, 32) * 4 + config.width / 8);
    const int64_t multiply = divide_up(groups(), config.key_waves) * (products * kProduct + kOthers);
    const int64_t read = groups() * Config::kGroupKeys * 2 * config.width * (1 + config.row_waves) / kBytes;
    return divide_up(tiles(config) * shape.groups * shape.batch, units) * std::max(multiply, read);
  }
};

// The kernel reads elements of 16 bits, eight together, or four of narrow heads.
Verdict supports_elements(const Problem& problem, const Machine& machine) {
  const bool in_fours = size_of(problem.inputs[0].dtype) == 2 && AttentionShape(problem).width <= kMostOfFours &&
                        attention_unit(problem) == 4;
  return in_fours ? supports_attention(problem, machine) : supports_matrix_attention(problem, machine);
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_cdna(machine.gpu); !verdict) return verdict;
  if (auto verdict = supports_elements(problem, machine); !verdict) return verdict;
  if (auto verdict = supports_keys_like_queries(problem); !verdict) return verdict;
  if (problem.as<Attention>().has_length()) return reject("a cache with a length");
  const Cut cut(problem, machine.gpu);
  if (cut.shape.keys == 0) return reject("no keys");
  if (!cut.blocks.empty()) return accept();
  return reject(fmt::format("no kernel of this type and width for blocks with {} bytes of shared memory",
                            machine.gpu.shared_bytes_per_block));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu);
  Tunable block(kParameters);
  for (const Config& each : cut.blocks) block.values.push_back(parameters_of(each));
  return {block, {"splits", cut.splits_worth_a_trial}};
}

// Returns the bytes of the splits' results: the sums of each row, then the statistics of each.
size_t scratch_bytes(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu);
  const int64_t splits = cut.used_splits();
  return splits == 1 ? 0 : static_cast<size_t>(splits * cut.all_rows() * (cut.shape.width + 2)) * sizeof(float);
}

CdnaAttentionArguments arguments_of(const Call& call, const Cut& cut) {
  CdnaAttentionArguments a{.attention = attention_arguments(call)};
  a.splits = static_cast<uint32_t>(cut.used_splits());
  a.keys_of_split = static_cast<int32_t>(cut.keys_of_split());
  a.tiles = static_cast<uint32_t>(cut.tiles(cut.block));
  a.blocks = a.tiles * a.splits * static_cast<uint32_t>(cut.shape.groups * cut.shape.batch);
  a.dies = dies_of(call.gpu.info());
  if (a.splits == 1) return a;
  a.sums = static_cast<float*>(device_pointer(call.scratch));
  a.statistics = a.sums + a.splits * cut.all_rows() * cut.shape.width;
  return a;
}

// A second launch adds the sums of the splits: blocks that count each other to find the last one would need counters
// that are zero whenever a launch begins, and scratch memory is not.
Status enqueue(const Call& call) {
  const Cut cut(call.problem, call.gpu.info());
  const CdnaAttentionArguments a = arguments_of(call, cut);
  const bool dependent = call.gpu.info().dependent_launch;
  RUNG_CHECK(call.launch("attention_cdna", symbol_of(kVariants, cut.block),
                         {.grid = {(a.blocks + a.dies - 1) / a.dies * a.dies},
                          .block = {static_cast<uint32_t>(cut.block.waves()) * kCdnaLanes},
                          .dependent = dependent},
                         a));
  if (a.splits == 1) return {};
  const int64_t threads = cut.all_rows() * cut.shape.width / 4;
  return call.launch("attention_join_cdna",
                     cut.block.type == DType::bf16 ? "attention_join_cdna_bf16" : "attention_join_cdna_f16",
                     {.grid = {static_cast<uint32_t>(divide_up(threads, kJoinThreads))},
                      .block = {kJoinThreads},
                      .dependent = dependent},
                     a);
}

}  // namespace

extern const Kernel attention_cdna;
const Kernel attention_cdna{.name = "attention_cdna",
                            .op = "attention",
                            .supports = supports,
                            .scratch_bytes = scratch_bytes,
                            .tunables = tunables,
                            .alignment = 16,
                            .enqueue = enqueue};

}  // namespace rung::gpu
