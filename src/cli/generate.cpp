// rung generate: a text by a decoder language model, token by token.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "tasks/generate.hpp"

namespace rung::cli {
namespace {

struct GenerateFlags {
  CommonOptions common;
  std::string text, chat, recipe, draft, actions, action_shape;
  int most = 128, steps = 16, draft_tokens = 0;
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<uint64_t> top_k, seed, skip_tokens;
  std::vector<std::string> stops;
  bool timestamps = false;
  std::string speculate;  // empty: as there is a draft or none
};

tasks::SamplingWishes wishes_of(const GenerateFlags& flags) {
  return {.temperature = flags.temperature,
          .top_p = flags.top_p,
          .min_p = flags.min_p,
          .repetition_penalty = flags.repetition_penalty,
          .top_k = flags.top_k,
          .seed = flags.seed};
}

// Reads --action-shape, "TIMES,VALUES", and what belongs to it.
Result<std::optional<tasks::ActionTask>> actions_of(const GenerateFlags& flags) {
  if (flags.actions.empty()) return std::nullopt;
  tasks::ActionTask task{.tokenizer = flags.actions};
  if (flags.skip_tokens) task.skipped_tokens = static_cast<int64_t>(std::min<uint64_t>(*flags.skip_tokens, INT32_MAX));
  if (flags.action_shape.empty()) return std::optional(std::move(task));
  const auto shape = parse_dims(flags.action_shape);
  if (!shape || shape->rank() != 2)
    return wrong_usage("--action-shape: got '{}', wanted TIMES,VALUES, such as 50,7", flags.action_shape);
  task.shape = {(*shape)[0], (*shape)[1]};
  return std::optional(std::move(task));
}

void print_actions(const tasks::Generated& made) {
  if (!made.actions) return;
  for (const auto& row : *made.actions) fmt::print("{}\n", fmt::join(row, " "));
}

// One line for each part: "0.00 6.44  text", in seconds. A part that the text did not end has "-" for its end.
void print_segments(const tasks::Generated& made) {
  if (!made.segments) return;
  for (const tasks::Segment& segment : *made.segments)
    fmt::print("{:.2f} {}  {}\n", segment.begin, segment.end ? fmt::format("{:.2f}", *segment.end) : "-",
               segment.text ? *segment.text : fmt::format("{}", fmt::join(segment.tokens, " ")));
}

void print_summary(const tasks::Generated& made) {
  fmt::print(
      stderr,
      "\n{} tokens of a prompt in {:.1f} ms; {} tokens, {:.3f} ms each ({:.1f} tokens a second, floor {:.3f} ms); "
      "ended by {}\n",
      made.prompt_tokens, made.prefill_ms, made.tokens.size(), made.decode_ms.median, made.tokens_per_s, made.floor_ms,
      made.stopped_by);
}

Status generate(const GenerateFlags& flags) {
  log_to_stderr(flags.common.log_level);
  RUNG_TRY(OpenOptions model, model_options(flags.common));
  tasks::GenerateTask task{.model = std::move(model),
                           .text = flags.text,
                           .chat = flags.chat,
                           .length = flags.common.cache,
                           .draft = flags.draft,
                           .options = {.most = flags.most, .sampling = wishes_of(flags), .stops = flags.stops}};
  task.options.steps = flags.steps;
  RUNG_TRY(task.recipe, recipe_in(flags.recipe));
  RUNG_TRY(task.actions, actions_of(flags));
  task.options.draft_tokens = flags.draft_tokens;
  if (!flags.speculate.empty()) {
    RUNG_TRY(task.options.speculate, parse_speculate(flags.speculate));
  }
  task.options.timestamps = flags.timestamps;
  if (!flags.common.json && !task.actions && !flags.timestamps)
    task.hear = [](std::string_view piece) {
      fmt::print("{}", piece);
      return std::fflush(stdout) == 0;
    };
  RUNG_TRY(const tasks::Generated made, tasks::generate(task));
  if (flags.common.json) return print_json(to_json(made)), Status{};
  print_actions(made);
  print_segments(made);
  if (!made.text && !made.actions && !made.segments) fmt::print("{}\n", fmt::join(made.tokens, " "));
  print_summary(made);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> generate_command(CLI::App& app) {
  auto flags = std::make_shared<GenerateFlags>();
  auto* command = add_command(app, "generate", "make a text with a decoder language model, or a plan of one");
  add_common(*command, flags->common);
  add_trust(*command, flags->common);
  auto text = add(*command, "text", flags->text).described("the text to go on from, used unchanged");
  add(*command, "chat", flags->chat).excludes(text);
  add(*command, "recipe", flags->recipe).described("the recipe of a directory's plans; default: all rungs");
  add(*command, "new", flags->most).within(1, INT_MAX).shows_default();
  add(*command, "steps", flags->steps).within(0, static_cast<int>(kMostStepsOfGraph)).shows_default();
  add(*command, "temperature", flags->temperature);
  add(*command, "top-k", flags->top_k);
  add(*command, "top-p", flags->top_p);
  add(*command, "min-p", flags->min_p);
  add(*command, "repetition-penalty", flags->repetition_penalty);
  add(*command, "seed", flags->seed);
  add(*command, "stop", flags->stops);
  auto actions = add(*command, "actions", flags->actions);
  add(*command, "action-shape", flags->action_shape).needs(actions);
  add(*command, "skip-tokens", flags->skip_tokens).needs(actions);
  add(*command, "timestamps", flags->timestamps);
  add(*command, "speculate", flags->speculate).one_of({"off", "on", "auto"});
  auto draft = add(*command, "draft", flags->draft);
  add(*command, "draft-tokens", flags->draft_tokens).within(1, INT_MAX).needs(draft);
  return {command, [flags] { return generate(*flags); }};
}

}  // namespace rung::cli
