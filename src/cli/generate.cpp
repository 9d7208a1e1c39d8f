// rung generate: a text by a decoder language model, token by token.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
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

using Json = nlohmann::json;

struct GenerateFlags {
  CommonOptions common;
  std::string text, chat;
  int most = 128;
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<uint64_t> top_k, seed;
  std::vector<std::string> stops;
};

tasks::SamplingWishes wishes_of(const GenerateFlags& flags) {
  return {.temperature = flags.temperature,
          .top_p = flags.top_p,
          .min_p = flags.min_p,
          .repetition_penalty = flags.repetition_penalty,
          .top_k = flags.top_k,
          .seed = flags.seed};
}

Json made_to_json(const tasks::Generated& made) {
  const auto& decode = made.decode_ms;
  Json json{{"tokens", made.tokens},
            {"prompt_tokens", made.prompt_tokens},
            {"prefill_ms", made.prefill_ms},
            {"decode_ms", {{"median", decode.median}, {"p90", decode.p90}, {"p99", decode.p99}}},
            {"tokens_per_s", made.tokens_per_s},
            {"bytes_per_token", made.bytes_per_token},
            {"weight_bytes", made.weight_bytes},
            {"floor_ms", made.floor_ms},
            {"stopped_by", made.stopped_by}};
  json["text"] = made.text ? Json(*made.text) : Json(nullptr);
  return json;
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
                           .most = flags.most,
                           .length = flags.common.cache,
                           .sampling = wishes_of(flags),
                           .stops = flags.stops};
  if (!flags.common.json)
    task.hear = [](std::string_view piece) {
      fmt::print("{}", piece);
      return std::fflush(stdout) == 0;
    };
  RUNG_TRY(const tasks::Generated made, tasks::generate(task));
  if (flags.common.json) return print_json(made_to_json(made)), Status{};
  if (!made.text) fmt::print("{}\n", fmt::join(made.tokens, " "));
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
  add(*command, "new", flags->most).positive().shows_default();
  add(*command, "temperature", flags->temperature);
  add(*command, "top-k", flags->top_k);
  add(*command, "top-p", flags->top_p);
  add(*command, "min-p", flags->min_p);
  add(*command, "repetition-penalty", flags->repetition_penalty);
  add(*command, "seed", flags->seed);
  add(*command, "stop", flags->stops);
  return {command, [flags] { return generate(*flags); }};
}

}  // namespace rung::cli
