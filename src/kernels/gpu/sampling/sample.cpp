// The row of sample: three launches, of which the second does nothing, and the third little, if settings are greedy.
// They read settings themselves, so that one recorded graph serves all.
// SPDX-License-Identifier: Apache-2.0
#include "base/divide.hpp"
#include "ir/sampling.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/sampling/sample_arguments.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<DType> kVariants[] = {
#include "kernels/gpu/sampling/sample.inc"
};

int64_t tokens_of(const Problem& p) { return p.inputs[0].shape.back(); }

// Places arrays one after another, each at a multiple of its elements' size: the widest come first.
class Scratch {
 public:
  explicit Scratch(Address first) : next_(first) {}
  Address take(int64_t count, size_t bytes) {
    const Address at = next_;
    next_ += static_cast<Address>(count) * bytes;
    return at;
  }
  Address end() const { return next_; }

 private:
  Address next_;
};

// Sets the addresses in scratch memory that begins at `first`; returns where it ends.
Address place_scratch(const Problem& p, Address first, SampleArguments& a) {
  const int64_t tokens = tokens_of(p), runs = divide_up(tokens, int64_t{kSampleRun});
  Scratch scratch(first);
  a.run_weights = scratch.take(runs, sizeof(uint64_t));
  a.ranks = scratch.take(tokens, sizeof(uint64_t)), a.weights = scratch.take(tokens, sizeof(uint64_t));
  a.run_orders = scratch.take(runs, sizeof(uint32_t)), a.full_runs = scratch.take(runs, sizeof(uint32_t));
  a.logits = scratch.take(tokens, sizeof(float));
  a.tokens = static_cast<uint32_t>(tokens), a.runs = static_cast<uint32_t>(runs);
  return scratch.end();
}

Verdict supports(const Problem& p, const Machine&) {
  if (!is_computed_float(p.inputs[0].dtype)) return reject("only f32, bf16 and f16");
  for (const Operand& operand : p.inputs)
    if (!operand.contiguous()) return reject("an operand is not dense");
  return accept();
}

size_t scratch_bytes(const Problem& p, const Machine&) {
  SampleArguments unused{};
  return place_scratch(p, 0, unused);
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  const auto& slots = p.as<Sample>().slots;
  const auto operand = [&](SampleSlot slot) {
    const Address* found = slots.find(call.inputs, slot);
    return found ? *found : Address{};
  };
  SampleArguments a{.given = operand(SampleSlot::logits),
                    .settings = operand(SampleSlot::settings),
                    .draw = operand(SampleSlot::draw),
                    .bias = operand(SampleSlot::bias),
                    .seen = operand(SampleSlot::seen),
                    .token = call.output,
                    .fault = call.fault};
  place_scratch(p, call.scratch, a);
  const DType type = p.inputs[0].dtype;
  if (type == DType::f32 && !a.bias && !a.seen) a.logits = a.given;
  if (a.seen) a.seen_type = slots.find(p.inputs, SampleSlot::seen)->dtype;
  const Launch of_runs = launch_threads(call, int64_t{a.runs} * call.gpu.info().lanes, kSampleThreads);
  RUNG_CHECK(call.launch("sample", symbol_of(kVariants, type), of_runs, a));
  RUNG_CHECK(call.launch("sample", "sample_weights", of_runs, a));
  return call.launch("sample", "sample_token", launch_threads(call, kSampleThreads, kSampleThreads), a);
}

}  // namespace

extern const Kernel sample_gpu{
    .name = "sample_gpu", .op = "sample", .supports = supports, .scratch_bytes = scratch_bytes, .enqueue = enqueue};

}  // namespace rung::gpu
