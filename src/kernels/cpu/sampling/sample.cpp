// Rows of sample. Its phases: the largest logit of each run; where settings ask for it, the sum of weights of each run;
// the token. All sums are of integers, so that no cut of a call changes them, and none sorts.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/divide.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/sampling/candidates.hpp"
#include "kernels/cpu/sampling/sweeps.hpp"

namespace rung::cpu {
namespace {

enum Phase : int { kLargest, kWeights, kToken, kPhases };

int64_t tokens_of(const Problem& p) { return p.inputs[0].shape.back(); }
int64_t runs_of(const Problem& p) { return divide_up(tokens_of(p), kRun); }

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (!is_computed_float(p.inputs[0].dtype)) return reject("only f32, bf16 and f16");
  for (const Operand& operand : p.inputs)
    if (!operand.contiguous()) return reject("an operand is not dense");
  return accept();
}

// The scratch of a call, shared by its parts.
struct Scratch {
  uint64_t *run_weights, *ranks, *weights;
  float *run_largest, *adjusted, *logits;
  uint32_t* selected;

  static size_t bytes(const Problem& p) {
    const size_t of_run = sizeof(uint64_t) + sizeof(float);
    const size_t of_token = 2 * sizeof(uint64_t) + 2 * sizeof(float) + sizeof(uint32_t);
    return of_run * static_cast<size_t>(runs_of(p)) + of_token * static_cast<size_t>(tokens_of(p));
  }
  explicit Scratch(const Call& call) {
    const int64_t runs = runs_of(call.problem), tokens = tokens_of(call.problem);
    run_weights = static_cast<uint64_t*>(call.scratch), ranks = run_weights + runs, weights = ranks + tokens;
    run_largest = reinterpret_cast<float*>(weights + tokens), adjusted = run_largest + runs;
    logits = adjusted + tokens, selected = reinterpret_cast<uint32_t*>(logits + tokens);
  }
};

size_t scratch_bytes(const Problem& p, const Machine&) { return Scratch::bytes(p); }

Split split(const Problem& p, const Machine&) {
  constexpr int64_t kTokensOfPart = 1 << 14;  // about 1 us of greedy sampling
  const int64_t most = std::max<int64_t>(1, tokens_of(p) / kTokensOfPart);
  return {.parts = static_cast<int>(std::min<int64_t>(std::max(1, p.threads), most)), .phases = kPhases};
}

class Sampling {
 public:
  Sampling(const Call& call, const Sweeps& sweeps)
      : call_(call),
        sweeps_(sweeps),
        op_(call.problem.as<Sample>()),
        settings_(*static_cast<const sampling::Settings*>(operand(SampleSlot::settings))),
        tokens_(tokens_of(call.problem)),
        runs_(runs_of(call.problem)),
        scratch_(call),
        given_{.type = call.problem.inputs[0].dtype,
               .seen_type = DType::i32,
               .logits = operand(SampleSlot::logits),
               .bias = static_cast<const float*>(operand(SampleSlot::bias)),
               .settings = &settings_} {
    if (op_.has(SampleSlot::seen) && penalises()) {
      given_.seen = operand(SampleSlot::seen);
      given_.seen_type = op_.slots.find(call.problem.inputs, SampleSlot::seen)->dtype;
    }
    adjusts_ = given_.type != DType::f32 || given_.seen || given_.bias;
    logits_ = adjusts_ ? scratch_.adjusted : static_cast<const float*>(given_.logits);
  }

  void run() {
    if (!sampling::is_valid(settings_)) return fail();
    if (call_.phase == kLargest) return find_largest();
    weighing_ = {.largest = *std::max_element(scratch_.run_largest, scratch_.run_largest + runs_),
                 .factor = sampling::factor_of(settings_)};
    if (!std::isfinite(weighing_.largest)) return fail();  // -inf: all are banned
    if (call_.phase == kWeights && weighs_all()) sum_weights();
    if (call_.phase == kToken && call_.part == 0) *call_.out<int64_t>() = token();
  }

 private:
  const void* operand(SampleSlot slot) const {
    const void* const* found = op_.slots.find(call_.inputs, slot);
    return found ? *found : nullptr;
  }
  bool penalises() const { return settings_.repetition != 1 || settings_.presence != 0 || settings_.frequency != 0; }
  bool has_top_k() const { return sampling::kept_of(settings_, tokens_) < tokens_; }
  bool has_top_p() const { return settings_.top_p < 1; }
  // Returns whether the token follows from the weights of all tokens: those of the few that top_k leaves are enough.
  bool weighs_all() const { return !sampling::is_greedy(settings_) && !has_top_k(); }

  void fail() const {
    call_.fault->store(Fault::no_token_to_draw, std::memory_order_relaxed);
    if (call_.part == 0) *call_.out<int64_t>() = 0;
  }

  Range own_runs() const { return share(runs_, call_.part, call_.parts); }
  int64_t end_of(int64_t run) const { return std::min(tokens_, (run + 1) * kRun); }

  void find_largest() {
    const Range own = own_runs();
    if (adjusts_ && own.count() > 0) sweeps_.adjust(given_, own.begin * kRun, end_of(own.end - 1), scratch_.adjusted);
    for (int64_t run = own.begin; run < own.end; ++run)
      scratch_.run_largest[run] = sweeps_.largest(logits_ + run * kRun, end_of(run) - run * kRun);
  }

  void sum_weights() {
    const Range own = own_runs();
    Weighing weighing = weighing_;
    if (!has_top_p()) weighing.least = sampling::least_weight(settings_);
    for (int64_t run = own.begin; run < own.end; ++run)
      scratch_.run_weights[run] = sweeps_.sum_weights(weighing, logits_ + run * kRun, end_of(run) - run * kRun);
  }

  int64_t token() {
    if (sampling::is_greedy(settings_)) return first_largest();
    return has_top_k() || has_top_p() ? drawn_of_candidates() : drawn_of_runs();
  }

  int64_t first_largest() const {
    const float largest = weighing_.largest;
    const int64_t run = std::find(scratch_.run_largest, scratch_.run_largest + runs_, largest) - scratch_.run_largest;
    return std::find(logits_ + run * kRun, logits_ + end_of(run), largest) - logits_;
  }

  // Returns the index of the weight with which the running sum becomes larger than what was drawn of all.
  static int64_t index_at(const uint64_t* weights, uint64_t& drawn) {
    int64_t i = 0;
    for (; drawn >= weights[i]; ++i) drawn -= weights[i];
    return i;
  }
  uint64_t drawn_of(uint64_t total) const {
    const auto* draw = static_cast<const int64_t*>(operand(SampleSlot::draw));
    return sampling::drawn_of(sampling::random_of(draw[0], draw[1]), total);
  }

  uint64_t weight_of_all() const {
    return std::accumulate(scratch_.run_weights, scratch_.run_weights + runs_, uint64_t{0});
  }

  int64_t drawn_of_runs() {
    weighing_.least = sampling::least_weight(settings_);
    uint64_t drawn = drawn_of(weight_of_all());
    const int64_t first = index_at(scratch_.run_weights, drawn) * kRun;
    uint64_t weights[kRun];
    sweeps_.weigh(weighing_, logits_ + first, std::min(kRun, tokens_ - first), weights);
    return first + index_at(weights, drawn);
  }

  int64_t drawn_of_candidates() {
    Candidates all{scratch_.ranks, scratch_.weights, scratch_.logits, scratch_.selected};
    uint64_t weight = 0;  // of all that top_k leaves
    if (has_top_k()) {
      const int64_t kept = sampling::kept_of(settings_, tokens_);
      collect(all, least_of_first(kept));
      all.keep_count(kept);
      weight = all.weight();
    } else {
      weight = weight_of_all();
      collect_weight(all, sampling::needed_of(settings_, weight));
    }
    if (has_top_p()) all.keep_weight(sampling::needed_of(settings_, weight));
    const uint64_t least = sampling::least_weight(settings_);
    for (int64_t i = 0; i < all.count; ++i)
      if (all.weights[i] < least) all.weights[i] = 0;
    uint64_t drawn = drawn_of(all.weight());
    return all.place(index_at(all.weights, drawn));
  }

  // Makes candidates of the tokens whose logits are no less than the given one.
  void collect(Candidates& all, float least) const {
    all.count = 0;
    for (int64_t run = 0; run < runs_; ++run) {
      if (scratch_.run_largest[run] < least) continue;
      const int64_t begin = run * kRun, before = all.count;
      all.count +=
          sweeps_.collect(logits_ + begin, end_of(run) - begin, least, all.logits + before, all.selected + before);
      all.rank_from(before, begin);
    }
    sweeps_.weigh(weighing_, all.logits, all.count, all.weights);
  }

  // Makes candidates of tokens that have the weight, and of all with larger logits: first it tries few.
  void collect_weight(Candidates& all, uint64_t needed) const {
    constexpr int64_t kFew = 64;
    for (int64_t tried : {kFew, runs_ / 2}) {
      collect(all, least_of_first(std::clamp<int64_t>(tried, 1, runs_)));
      if (all.weight() >= needed) return;
    }
    collect(all, least_that_counts(needed));
  }

  // Returns a logit that none of the `count` largest is below: as many runs have one that large.
  float least_of_first(int64_t count) const {
    if (count > runs_) return -HUGE_VALF;
    float* copy = scratch_.logits;
    std::copy_n(scratch_.run_largest, runs_, copy);
    std::nth_element(copy, copy + count - 1, copy + runs_, std::greater<>());
    return copy[count - 1];
  }

  // Returns a logit so small that all lower ones can be left out: were each of weight w, they would not have what all
  // have more than is needed. The logit of that weight is taken a little lower, by more than weights are rounded.
  float least_that_counts(uint64_t needed) const {
    constexpr double kRounding = 1e-3;
    const uint64_t w = (weight_of_all() - needed) / static_cast<uint64_t>(tokens_);
    const double power = static_cast<double>(w) / static_cast<double>(sampling::kLargestWeight);
    return static_cast<float>(weighing_.largest + (std::log(power) - kRounding) / weighing_.factor);
  }

  const Call& call_;
  const Sweeps& sweeps_;
  const Sample& op_;
  const sampling::Settings settings_;
  const int64_t tokens_, runs_;
  const Scratch scratch_;
  GivenLogits given_;
  bool adjusts_ = false;
  const float* logits_ = nullptr;
  Weighing weighing_{};
};

template <CpuIsa isa>
void run(const Call& call) {
  Sampling(call, isa == CpuIsa::avx512 ? avx512::kSweeps : avx2::kSweeps).run();
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  return {.name = name,
          .op = "sample",
          .supports = supports<isa>,
          .run = run<isa>,
          .scratch_bytes = scratch_bytes,
          .split = split};
}

}  // namespace

extern const Kernel sample_avx512 = row<CpuIsa::avx512>("sample_avx512");
extern const Kernel sample_avx2 = row<CpuIsa::avx2>("sample_avx2");

}  // namespace rung::cpu
