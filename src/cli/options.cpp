// The options table.
// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "device/cpu/start_team.hpp"
#include "import/model.hpp"

namespace rung::cli {
namespace {

constexpr auto kOptions = std::to_array<OptionRow>({
    {"json", "", "", "print one JSON object on standard output, also for an error; logs go to standard error"},
    {"device", "RUNG_DEVICE", "DEVICE",
     "where to run: cpu, cuda, cuda:NUMBER, hip, hip:NUMBER, emu:gfx942 or emu:gfx950; default: the device that a plan "
     "was built for; the processor for a directory"},
    {"threads", "RUNG_THREADS", "N", "threads of one inference; default: all cores this process may use"},
    {"dtype", "", "TYPE", "the type to compute in: model (each tensor as in the checkpoint, the default), f32 or bf16"},
    {"shape", "", "NAME=DIMS",
     "shape of an input, such as input_ids=1,128; default: the shape of its array in --inputs; repeatable; if climb or "
     "build gets several shapes of one input, it makes a plan for each in one file, and --shape chooses the plan in "
     "other commands"},
    {"inputs", "", "FILE.npz",
     "inputs by name; inputs left out get the model's defaults, or random values in commands that only measure time; "
     "repeatable: climb, build and verify find scales and judge answers on all sets, and time the first"},
    {"freeze", "", "NAME,...", "take these inputs as constants at the value that --inputs gives them"},
    {"observe", "", "LABEL,...",
     "also return these values from inside the model; `rung inspect --graph` lists their labels"},
    {"cache", "", "TOKENS",
     "the most tokens of a text that a decoder language model remembers between runs: its plans then read the text "
     "chunk "
     "by chunk, and --shape input_ids=1,CHUNK gives the sizes of chunks"},
    {"scored-chunk", "", "TOKENS",
     "with --cache: chunks of up to this many tokens give the scores of all their tokens, which `rung generate "
     "--speculate` needs"},
    {"random-weights", "", "SEED", "make up weights for a directory that has only config.json"},
    {"drop-head", "", "", "run only the encoder of a model that has a head (a classifier, a masked language model)"},
    {"trust-code", "", "",
     "run the machine code that a plan's file holds: you trust whoever made the file; without it, a generated kernel "
     "runs only as this machine compiled it"},
    {"code", "", "NAME", "print the source of this kernel, which a plan's file holds; `rung inspect PLAN` lists them"},
    {"log", "RUNG_LOG", "LEVEL",
     "how much to say on standard error: 0 warnings (the default), 1 device and totals, 2 time per step, 3 passes and "
     "verdicts, 4 graph text, 5 kernels and addresses"},
    {"budget", "RUNG_BUDGET", "TIME",
     "time for the whole command, such as 60s or 5m, at least 1s; the model is read, measured, checked and written "
     "even if that takes longer"},
    {"wait-quiet", "", "TIME",
     "before measuring, wait until the machine is quiet, for at most this time, such as 60s; then go on, and say "
     "whether it was quiet"},
    {"out", "", "DIR", "folder for plan.rung, recipe.json, report.html, report.json, report.md and trace.json"},
    {"skip", "", "RUNG,...", "rungs not to climb, such as capture,tune"},
    {"database", "RUNG_DATABASE", "FILE",
     "the file that keeps what tuning measured; default: tuning.json in the user's cache folder"},
    {"time-on", "", "DEVICE",
     "time the rows of a file of tuned products on cuda, cuda:NUMBER, hip or hip:NUMBER, beside the library's default"},
    {"validators", "", "FILE",
     "a file of TunableOp results written by the PyTorch that will load --out; rung copies the versions in it"},
    {"python", "", "PROGRAM",
     "the Python whose PyTorch will load --out; rung asks it for its versions; default: python3"},
    {"outputs", "", "FILE.npz", "where to write the outputs"},
    {"text", "", "TEXT",
     "a text for the model's tokenizer, used unchanged; repeatable; --inputs may give the inputs that do not come from "
     "the text"},
    {"chat", "", "JSON",
     "a chat for the model's template: a list of messages such as [{\"role\": \"user\", \"content\": \"Hello\"}]"},
    {"error", "", "NUMBER",
     "the most relative L2 error that the answers may have against f32, above 0 and below 1, such as 0.02: the climb "
     "then "
     "chooses the precision of each part of the model by measurement, and keeps the fastest plan within all limits"},
    {"cosine", "", "NUMBER", "the same by the least cosine between the answers and those in f32, such as 0.999"},
    {"kl", "", "NUMBER",
     "the same by the most Kullback-Leibler divergence of the output 'logits', in nats, on average over its rows"},
    {"prompt", "", "TOKENS",
     "climb a decoder language model for texts behind a prompt of that many tokens: one plan reads its chunks, another "
     "makes the tokens of --new, and both are measured behind as many tokens as stand before them"},
    {"new", "", "N", "the most tokens to make"},
    {"steps", "", "N", "the most tokens that a GPU makes before it is asked for them; 0: the host chooses each"},
    {"temperature", "", "NUMBER",
     "divides the scores of tokens before one is drawn; 0 takes the likeliest; default: the model's own"},
    {"top-k", "", "N", "draw from this number of the likeliest tokens; 0: from all; default: the model's own"},
    {"top-p", "", "NUMBER",
     "draw from the likeliest tokens that have this probability together; default: the model's own"},
    {"min-p", "", "NUMBER",
     "draw from tokens that have this part of the likeliest one's probability; default: the model's own"},
    {"repetition-penalty", "", "NUMBER",
     "makes tokens that the text has less likely, above 1; default: the model's own"},
    {"seed", "", "N", "of the random numbers that draw tokens; equal seeds make equal texts; default: 0"},
    {"stop", "", "TEXT", "end before this text; repeatable"},
    {"actions", "", "DIR",
     "print the actions that the new tokens of a Pi0-FAST policy stand for; the directory has FAST's "
     "tokenizer.json and processor_config.json"},
    {"action-shape", "", "TIMES,VALUES",
     "with --actions: the sizes of a chunk of actions, where processor_config.json does not say them"},
    {"skip-tokens", "", "N",
     "with --actions: how many tokens at the end of the policy's vocabulary are special ones, behind those of actions; "
     "default: 128"},
    {"timestamps", "", "",
     "let the text say when its parts begin and end, as Whisper's texts do, and print each part with its times"},
    {"speculate", "", "WHEN",
     "read draft tokens ahead, of --draft or else out of the text itself, so that one run may make several tokens: "
     "off, on, or auto, which stops where the measured time per token shows that it is slower; default: auto with "
     "--draft, else off"},
    {"draft", "", "MODEL",
     "a smaller model with the same tokens, whose guesses at the text are read ahead; the text stays the same"},
    {"draft-tokens", "", "N", "the tokens that the draft guesses at once; default: 4, or as many as one run can read"},
    {"truncate", "", "WHAT",
     "what to do with a text of more tokens than the plan reads: warn (cut it and say so), cut (silently) or error"},
    {"runs", "", "N", "timed runs"},
    {"rate", "", "HZ", "start this many timed runs a second, as a robot or a stream does; default: back to back"},
    {"blocks", "", "",
     "read lines 'go MILLISECONDS' and answer each with one JSON line: for comparisons in alternating blocks"},
    {"reference", "", "FILE.npz",
     "arrays to compare the outputs with, by name, one for every output; default: the built-in evaluator in f32"},
    {"map", "", "OUTPUT=ARRAY",
     "the array of --reference to compare an output with, if their names differ; repeatable"},
    {"replays", "", "N",
     "use no reference: run this many times, and compare the outputs bit for bit with those of the first run"},
    {"seeds", "", "N",
     "judge as many samples of fresh seeds besides, and tell the worst and the mean error of each output, and of each "
     "step of a policy"},
    {"bisect", "", "", "on a mismatch, find the rung and pass that cause it and write a graph that shows it"},
    {"stepwise", "", "",
     "find the op that makes the device fail: run the ops one by one and name it; inputs left out are made up, and "
     "there are no outputs"},
    {"recipe", "", "FILE.json",
     "the recipe to build with, as a climb wrote it; default: all rungs, and the first kernel that fits"},
    {"retune", "", "",
     "drop the recipe's kernel choices that this model cannot use, and measure kernels for problems without a choice"},
    {"gpu", "", "NAME,...", "the GPUs to predict for: h100, h200, mi300x, mi325x, mi350x or mi355x"},
    {"graph", "", "", "print the graph's text"},
    {"scopes", "", "",
     "print the launches by the parts that the model's author named, each with the ops that it took in"},
    {"trace", "", "FILE.json", "write a Chrome trace of one inference"},
    {"kernel", "", "NAME", "look only at this kernel; default: all kernels of the file"},
    {"formula", "", "WORD", "how to compute occupancy: exact, or guide, the formula in AMD's tuning guide for MI300X"},
    {"lds", "", "BYTES", "bytes of LDS that the launch adds to what the kernel declares"},
    {"fail-on", "", "KIND,...",
     "fail if machine code has such findings: spill, scratch, narrow-load, narrow-lds, drain, drain-lds, "
     "bank-conflict, round-trip, empty-branch, undecoded"},
    {"vgprs", "", "N", "vector registers that each lane uses, without accumulation registers"},
    {"agprs", "", "N", "accumulation registers that each lane uses"},
    {"sgprs", "", "N", "scalar registers that each wave uses"},
    {"group", "", "THREADS", "threads in a work-group; default: 256"},
    {"target", "", "NAME",
     "the architecture, if the input does not name it: gfx90a, gfx942 or gfx950; default: gfx942 for numbers"},
    {"root", "", "DIR",
     "check a folder that --capture wrote; default: this machine and the environment of this process"},
    {"from", "", "FILE",
     "check the machine that a text describes: the output of collect_env, rocm-smi, rocminfo, nvidia-smi, nvidia-smi "
     "-q or env, or of several of them"},
    {"capture", "", "DIR",
     "write the files and variables that the checks read into a new folder, without names of hosts and users, "
     "addresses, keys and paths"},
    {"against", "", "TRACE", "a trace of the same program from before a change; rung says what the change did"},
    {"recipe-a", "", "FILE.json", "the recipe to build A with, if A is a directory; default: all rungs"},
    {"recipe-b", "", "FILE.json", "the recipe to build B with, if B is a directory; default: all rungs"},
    {"tool-a", "", "PROGRAM", "the `rung` of another build, which runs A; default: this one"},
    {"tool-b", "", "PROGRAM", "the `rung` of another build, which runs B; default: this one"},
    {"max-slowdown", "", "PERCENT", "how much longer one inference of B may take than one of A, such as 3%"},
    {"same-outputs", "", "", "also fail if the outputs of A and B differ by more than rounding explains"},
    {"html", "", "FILE.html", "write the result also as one HTML page, with the timeline of a step"},
    {"markdown", "", "FILE.md", "write the result also as a Markdown page"},
    {"stack", "", "STACK", "the software that runs the model: pytorch, vllm, sglang or rung"},
    {"goal", "", "GOAL", "the aim of the settings: latency"},
    {"format", "", "FORM",
     "how to write the result: env takes text, shell or dockerfile; tune takes csv, tunableop, hipblaslt, aiter or "
     "gradlib"},
});

CLI::Option* describe(CLI::Option* option, const OptionRow& row) {
  if (!row.value.empty()) option->type_name(std::string(row.value));
  if (!row.environment.empty()) option->envname(std::string(row.environment));
  return option;
}

void add_model_argument(CLI::App& app, CommonOptions& options) {
  app.add_option("MODEL", options.model, model_or_plan())->required()->type_name("PATH");
}

void add_model_options(CLI::App& app, CommonOptions& options) {
  add(app, "json", options.json);
  add(app, "dtype", options.dtype).one_of({"model", "f32", "bf16"});
  add(app, "shape", options.shapes);
  add(app, "inputs", options.inputs);
  add(app, "freeze", options.freeze).splits_at(',');
  add(app, "observe", options.observed).splits_at(',');
  add(app, "cache", options.cache).within(1, INT_MAX);
  add(app, "scored-chunk", options.scored_chunk).within(1, INT_MAX);
  add(app, "random-weights", options.random_weights);
  add(app, "drop-head", options.drop_head);
  add(app, "log", options.log_level).within(0, 5);
}

// An empty value is most often a script's variable that is not set: taken for "not given", `--reference ""` would judge
// by another reference than the caller means. A text alone may be empty.
CLI::Option* wants_value(CLI::Option* option, const OptionRow& row) {
  if (row.flag == "text") return option;
  const std::string wanted = fmt::format("got an empty value, wanted {}", row.value);
  return option->check(CLI::Validator([wanted](std::string& text) { return text.empty() ? wanted : ""; }, ""));
}

constexpr const char* kRange = "range";

// The parser's own conversion takes the nearest number of the type where a text's is out of range, "true" for 1 and
// "010" for 8: it gets what was read here.
template <class T>
CLI::Validator whole_number(T least, T most) {
  const auto fault_of = [=](std::string& text) {
    T value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = code == std::errc() && end == text.data() + text.size();
    if (!is_whole || value < least || value > most)
      return fmt::format("got '{}', wanted a whole number from {} to {}", text, least, most);
    text = std::to_string(value);
    return std::string();
  };
  return CLI::Validator(fault_of, "", kRange);
}

template <class T>
CLI::Validator any_whole_number() {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  return whole_number<Wide>(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

template <class T>
Option add_value(CLI::App& app, std::string_view flag, T& target) {
  const OptionRow& row = option_row(flag);
  CLI::Option* option = app.add_option("--" + std::string(flag), target, std::string(row.help));
  return Option(wants_value(describe(option, row), row));
}

template <class T, class Target>
Option add_whole(CLI::App& app, std::string_view flag, Target& target) {
  Option option = add_value(app, flag, target);
  app.get_option("--" + std::string(flag))->check(any_whole_number<T>());
  return option;
}

}  // namespace

std::string model_or_plan() {
  return fmt::format("{}, the name of a model in the local cache of Hugging Face (ORG/NAME), or a .rung plan",
                     fmt::join(importable_kinds(), ", "));
}

std::span<const OptionRow> option_table() { return kOptions; }

const OptionRow& option_row(std::string_view flag) {
  auto it = std::find_if(kOptions.begin(), kOptions.end(), [&](const auto& row) { return row.flag == flag; });
  assert(it != kOptions.end());
  return *it;
}

Option Option::required() const { return Option(option_->required()); }
Option Option::described(std::string text) const { return Option(option_->description(std::move(text))); }
Option Option::takes(std::string value) const { return Option(option_->type_name(std::move(value))); }
Option Option::shows_default() const { return Option(option_->capture_default_str()); }
Option Option::splits_at(char delimiter) const { return Option(option_->delimiter(delimiter)); }
Option Option::within(int64_t least, int64_t most) const {
  *option_->get_validator(kRange) = whole_number(least, most).description(fmt::format("INT in [{} - {}]", least, most));
  return *this;
}
Option Option::between(double least, double most) const { return Option(option_->check(CLI::Range(least, most))); }
Option Option::one_of(const std::vector<std::string>& values) const {
  const auto refusal = [values](const std::string& got) {
    if (std::ranges::find(values, got) != values.end()) return std::string();
    return fmt::format("got '{}', wanted one of {}", got, fmt::join(values, ", "));
  };
  return Option(option_->check(CLI::Validator(refusal, CLI::IsMember(values).get_description())));
}
Option Option::needs(Option other) const {
  const std::string variable = option_->get_envname();
  if (!variable.empty() && std::getenv(variable.c_str())) return *this;
  return Option(option_->needs(other.option_));
}
Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }
Option Option::excludes_json() const { return Option(option_->excludes("--json")); }

CLI::App* add_command(CLI::App& app, std::string name, std::string description) {
  return app.add_subcommand(std::move(name), std::move(description));
}

void hide(CLI::App& command) { command.group(""); }
bool is_chosen(const CLI::App& command) { return command.parsed(); }

Option add_file(CLI::App& app, std::string& target, std::string meaning, std::string name) {
  return Option(app.add_option(std::move(name), target, std::move(meaning))->type_name("PATH"));
}

Option add(CLI::App& app, std::string_view flag, bool& target) {
  const OptionRow& row = option_row(flag);
  return Option(describe(app.add_flag("--" + std::string(flag), target, std::string(row.help)), row));
}
Option add(CLI::App& app, std::string_view flag, int& target) { return add_whole<int>(app, flag, target); }
Option add(CLI::App& app, std::string_view flag, double& target) { return add_value(app, flag, target); }
Option add(CLI::App& app, std::string_view flag, std::string& target) { return add_value(app, flag, target); }
Option add(CLI::App& app, std::string_view flag, std::vector<std::string>& target) {
  const OptionRow& row = option_row(flag);
  const CLI::callback_t take = [&target](const CLI::results_t& given) { return target = given, true; };
  CLI::Option* option = app.add_option("--" + std::string(flag), take, std::string(row.help))->take_all();
  return Option(wants_value(describe(option, row), row));
}
Option add(CLI::App& app, std::string_view flag, std::optional<int64_t>& target) {
  return add_whole<int64_t>(app, flag, target);
}
Option add(CLI::App& app, std::string_view flag, std::optional<double>& target) { return add_value(app, flag, target); }
Option add(CLI::App& app, std::string_view flag, std::optional<uint64_t>& target) {
  return add_whole<uint64_t>(app, flag, target);
}

std::string options_markdown() {
  std::string text =
      "# Options\n\nWritten by `rung options`.\n\n| flag | environment | meaning |\n| --- | --- | --- |\n";
  for (const auto& row : kOptions) {
    std::string flag = fmt::format("--{}{}{}", row.flag, row.value.empty() ? "" : " ", row.value);
    text += fmt::format("| `{}` | {} | {} |\n", flag,
                        row.environment.empty() ? "" : fmt::format("`{}`", row.environment), row.help);
  }
  return text;
}

void add_common(CLI::App& app, CommonOptions& options) {
  add_model_argument(app, options);
  add_common_options(app, options);
}

void add_common_options(CLI::App& app, CommonOptions& options) {
  add_model_options(app, options);
  add(app, "device", options.device);
  add(app, "threads", options.threads).within(0, cpu::kMostThreads);
}

void add_trust(CLI::App& app, CommonOptions& options) { add(app, "trust-code", options.trust_code); }

void add_model(CLI::App& app, CommonOptions& options) {
  add_model_argument(app, options);
  add_model_options(app, options);
}

}  // namespace rung::cli
