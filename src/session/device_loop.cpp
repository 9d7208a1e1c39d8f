// Records the decoder's launches and those of a plan that chooses a token, which share memory: what the one gives, the
// other takes.
// SPDX-License-Identifier: Apache-2.0
#include "session/device_loop.hpp"

#include <fmt/format.h>

#include <bit>

#include "device/gpu/current_context.hpp"
#include "ir/text.hpp"
#include "kernels/gpu/copy/copy_ranges.hpp"
#include "plan/build.hpp"
#include "plan/named.hpp"
#include "session/decoder.hpp"

namespace rung {
namespace {

bool has_penalties(const sampling::Settings& s) { return s.repetition != 1 || s.presence != 0 || s.frequency != 0; }

// The state `draw` is the seed and the number of the next draw. What settings leave out is no operand and no state: it
// would be read or written for each token, by a launch of its own.
std::string text_of_choice(int64_t vocabulary, const SamplerOptions& options) {
  const auto settings = std::bit_cast<std::array<float, sampling::kSettings>>(options.settings);
  const bool biased = !options.bias.empty(), counted = has_penalties(options.settings);
  std::string operands, slots, states, results, draw = "draw: i64[2] = constant(values=[0,0])\n";
  if (!sampling::is_greedy(options.settings)) {
    draw = "draw: i64[2] = input()\nnext: i64[2] = constant(values=[0,1])\n";
    states += "state draw, next=draw_next\n";
    results += ", draw_next=add(draw, next)";
  }
  if (biased) {
    operands += fmt::format(", bias:f32[{}]", vocabulary);
    slots = "bias";
    states += "state bias, next=bias_next\n";
    results += ", bias_next=bias";
  }
  if (counted) {
    operands += fmt::format(", seen:i64[{}]", vocabulary);
    slots += biased ? "+seen" : "seen";
    states += "state seen, next=seen_next\n";
    results += ", seen_next=scatter(seen, token, one, kind=add)";
  }
  const std::string given = slots.empty() ? "" : fmt::format(", slots={}", slots);
  return fmt::format(
      "settings: f32[{}] = constant(values=[{}])\n{}one: i64[1] = constant(values=[1])\n"
      "token = sample(logits:f32[1,{}], settings, draw{}{})\n{}return token=token{}",
      settings.size(), fmt::join(settings, ","), draw, vocabulary, operands, given, states, results);
}

// Opens the plan that chooses, whose logits are the decoder's and whose token is the decoder's next one.
Result<Session> open_choice(Session& step, int64_t vocabulary, const SamplerOptions& options,
                            std::map<std::string, std::byte*> ports) {
  RUNG_TRY(const Graph graph, parse_graph(text_of_choice(vocabulary, options)));
  const Recipe recipe{.capture = true, .threads = 1};
  RUNG_TRY(Built built, build_plan(graph, recipe, {.target = step.plan().target}));
  return Session::create(std::make_shared<Plan>(std::move(built.plan)), nullptr, {.ports = std::move(ports)});
}

size_t index_of_tokens(const Plan& plan) { return static_cast<size_t>(tokens_of(plan) - plan.inputs.data()); }
size_t index_of_output(const Plan& plan, std::string_view name) {
  return static_cast<size_t>(find_named(plan.outputs, name) - plan.outputs.data());
}

}  // namespace

Result<std::unique_ptr<DeviceLoop>> DeviceLoop::make(Session& step, int64_t vocabulary, const SamplerOptions& options,
                                                     int64_t steps) {
  const Plan& plan = step.plan();
  if (!plan.target->gpu) return wrong_usage("a processor has no loop of its own");
  if (steps < 1 || steps > kMostStepsOfGraph)
    return wrong_usage("got {} steps of a graph, wanted 1 to {}", steps, kMostStepsOfGraph);
  RUNG_CHECK(Sampler::check(vocabulary, options));
  RUNG_TRY(std::byte* const token, step.own_input(index_of_tokens(plan), Place::device));
  RUNG_TRY(std::byte* const logits, step.own_output(index_of_output(plan, "logits"), Place::device));
  RUNG_TRY(Session choice, open_choice(step, vocabulary, options, {{"logits", logits}, {"token", token}}));
  std::unique_ptr<DeviceLoop> loop(new DeviceLoop(step, std::move(choice)));
  loop->token_ = token;
  loop->draws_ = !sampling::is_greedy(options.settings);
  loop->counts_seen_ = has_penalties(options.settings);
  loop->seed_ = options.seed;
  if (!options.bias.empty()) RUNG_CHECK(loop->choice_.set_state("bias", bias_of(vocabulary, options)));
  gpu::Gpu& gpu = *plan.target->gpu;
  RUNG_TRY(loop->queue_, gpu::Queue::make(gpu));
  RUNG_TRY(loop->made_, gpu.allocate(static_cast<size_t>(steps) * sizeof(int64_t)));
  RUNG_TRY(loop->tokens_, gpu::Pinned::make(gpu, static_cast<size_t>(steps) * sizeof(int64_t)));
  for (int64_t count = 1; count <= steps; count *= 4) RUNG_CHECK(loop->record(count));
  return loop;
}

Status DeviceLoop::record(int64_t steps) {
  const gpu::CurrentContext current(queue_->gpu());
  RUNG_TRY(auto graph, gpu::TimedGraph::record(*queue_, [&] { return enqueue(steps, queue_->stream()); }));
  graphs_.push_back({steps, std::move(graph)});
  return {};
}

// Tokens stay on the device until the last one: the next step would wait for a write to the host's memory.
Status DeviceLoop::enqueue(int64_t steps, gpu::Stream stream) {
  RUNG_TRY(auto copies, gpu::RangeCopies::make(queue_->gpu()));
  if (!copies) return no_device("this build has no kernels for the device");
  const gpu::Address host = gpu::address_of(tokens_->data()), token = gpu::address_of(token_);
  for (int64_t i = 0; i < steps; ++i) {
    RUNG_CHECK(step_.recorder().enqueue_launches(stream));
    RUNG_CHECK(choice_.recorder().enqueue_launches(stream));
    const bool is_last = i + 1 == steps;
    const size_t before = static_cast<size_t>(i) * sizeof(int64_t);
    copies->add((is_last ? host : made_->address()) + before, token, sizeof(int64_t));
    if (is_last && i > 0) copies->add(host, made_->address(), before);
    RUNG_CHECK(copies->launch(stream));
  }
  return {};
}

Status DeviceLoop::go_on(int64_t token, int64_t drawn, std::span<const int64_t> seen) {
  const Plan& plan = step_.plan();
  const auto write = [&](const PlanInput* input, int64_t value) {
    return step_.recorder().write(input->buffer, &value, sizeof(value));
  };
  RUNG_CHECK(write(tokens_of(plan), token));
  RUNG_CHECK(write(find_named(plan.inputs, "count"), 1));
  if (draws_) RUNG_CHECK(choice_.set_state("draw", Tensor::of<int64_t>({2}, {seed_, drawn})));
  if (!counts_seen_) return {};
  const auto count = static_cast<int64_t>(seen.size());
  return choice_.set_state("seen", Tensor::of<int64_t>({count}, {seen.begin(), seen.end()}));
}

Result<std::span<const int64_t>> DeviceLoop::run(int64_t most) {
  const Steps* chosen = &graphs_[0];
  for (const Steps& each : graphs_)
    if (each.count <= most) chosen = &each;
  const gpu::CurrentContext current(queue_->gpu());
  RUNG_CHECK(chosen->graph->replay());
  RUNG_CHECK(step_.recorder().check_faults());
  RUNG_CHECK(choice_.recorder().check_faults());
  const auto* tokens = reinterpret_cast<const int64_t*>(tokens_->data());
  return std::span(tokens, static_cast<size_t>(chosen->count));
}

}  // namespace rung
