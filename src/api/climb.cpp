// Climbs of the C interface: what the caller asks for, what it is told meanwhile, and what it gets.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/climb.hpp"

#include <array>
#include <cmath>
#include <filesystem>

#include "api/handles.hpp"
#include "api/options.hpp"
#include "kernels/device_word.hpp"
#include "measure/clock.hpp"

namespace rung {

struct OpenClimb {
  ClimbOutcome outcome;
  tasks::ClimbTexts texts;
};

namespace {

// A device that counts instructions has no time to report.
double time_of(double ms, std::string_view device) { return counts_instructions(device) ? std::nan("") : ms; }

rung_receipt to_public(const Receipt& receipt, std::string_view device) {
  return {.name = receipt.name.c_str(),
          .reason = receipt.reason.c_str(),
          .accepted = receipt.accepted,
          .before_ms = time_of(receipt.before_ms, device),
          .ms = time_of(receipt.ms, device),
          .ratio = receipt.ratio,
          .ci_low = receipt.ci95.lo,
          .ci_high = receipt.ci95.hi,
          .rel_l2 = receipt.rel_l2,
          .max_abs = receipt.max_abs,
          .kernels = receipt.kernels,
          .attempt = receipt.attempt};
}

rung_speedup to_public(const Speedup& speedup, std::string_view device) {
  return {.claimed = speedup.claimed(),
          .before_ms = time_of(speedup.before_ms, device),
          .after_ms = time_of(speedup.after_ms, device),
          .ratio = speedup.ratio,
          .ci_low = speedup.ci95.lo,
          .ci_high = speedup.ci95.hi,
          .pairs = speedup.pairs,
          .unraced = speedup.unraced.c_str()};
}

// Tells the caller's callback what the climb is doing, and the climb whether the caller wants it to end. A climb asks
// for that far more often than it has something new to tell.
class Teller {
 public:
  Teller(const rung_climb_options& options, std::string device)
      : callback_(options.progress), context_(options.context), device_(std::move(device)) {}

  void step(const std::string& what, double fraction) {
    what_ = what;
    fraction_ = fraction;
    tell(nullptr);
  }
  void decided(const Receipt& receipt) {
    const rung_receipt row = to_public(receipt, device_);
    tell(&row);
  }
  bool wants_the_end() {
    constexpr int64_t kEvery = 100'000'000;  // ns
    if (now_ns() - told_ns_ > kEvery) tell(nullptr);
    return ended_;
  }

 private:
  void tell(const rung_receipt* receipt) {
    if (!callback_ || ended_) return;
    const rung_progress progress{what_.c_str(), fraction_, receipt};
    ended_ = !callback_(context_, &progress);
    told_ns_ = now_ns();
  }

  bool (*callback_)(void*, const rung_progress*);
  void* context_;
  const std::string device_;
  std::string what_ = "opening";
  double fraction_ = 0;
  int64_t told_ns_ = 0;
  bool ended_ = false;
};

// Sets that come from no file are named in errors by their place.
Status add_further_inputs(const rung_climb_options& options, OpenOptions& model) {
  if (options.further_count == 0) return {};
  RUNG_CHECK(want(options.further_inputs, "further_inputs"));
  const auto name = [](size_t i) { return fmt::format("set {} of inputs", i + 1); };
  model.inputs.source = name(0);
  for (size_t i = 0; i < options.further_count; ++i) {
    const rung_input_set& set = options.further_inputs[i];
    RUNG_TRY(GivenArrays arrays, arrays_of(set.inputs, set.count, "further_inputs"));
    arrays.source = name(i + 1);
    model.further_inputs.push_back(std::move(arrays));
  }
  return {};
}

std::optional<double> number_at(const double* place) { return place ? std::optional(*place) : std::nullopt; }

Result<tasks::ClimbTask> task_of(const char* path, const rung_climb_options& options) {
  tasks::ClimbTask task;
  RUNG_TRY(task.model, model_options(path, options.model));
  RUNG_TRY(task.model.inputs, arrays_of(options.inputs, options.input_count, "inputs"));
  RUNG_CHECK(add_further_inputs(options, task.model));
  task.goal = {.rel_l2 = number_at(options.error), .cosine = number_at(options.cosine), .kl = number_at(options.kl)};
  RUNG_TRY(task.model.freeze, texts_of(options.freeze, options.freeze_count, "freeze"));
  RUNG_TRY(task.skip, texts_of(options.skip, options.skip_count, "skip"));
  task.budget_s = options.budget_s;
  task.database = options.database ? options.database : default_database_path();
  return task;
}

const std::string* text_of(const tasks::ClimbTexts& texts, rung_climb_text_kind kind) {
  switch (kind) {
    case RUNG_CLIMB_REPORT:
      return &texts.report;
    case RUNG_CLIMB_RECIPE:
      return &texts.recipe;
    case RUNG_CLIMB_HTML:
      return &texts.html;
    case RUNG_CLIMB_MARKDOWN:
      return &texts.markdown;
    case RUNG_CLIMB_TRACE:
      return &texts.trace;
  }
  return nullptr;
}

}  // namespace
}  // namespace rung

using rung::answer;
using rung::Climbs;
using rung::Status;
using rung::table;
using rung::want;

rung_status rung_climb_model(const char* path, const rung_climb_options* options, rung_climb** climb) {
  return answer([&]() -> Status {
    RUNG_CHECK(want(climb, "climb"));
    RUNG_TRY(auto given, rung::options_of(options, rung_climb_options RUNG_CLIMB_OPTIONS_INIT, "rung_climb_options"));
    RUNG_TRY(auto task, rung::task_of(path, given));
    rung::Teller teller(given, task.model.device ? task.model.device->word : "");
    task.progress = [&](const std::string& what, double fraction) { teller.step(what, fraction); };
    task.decided = [&](const rung::Receipt& receipt) { teller.decided(receipt); };
    task.interrupted = [&] { return teller.wants_the_end(); };
    RUNG_TRY(rung::ClimbOutcome outcome, rung::tasks::climb_model(task));
    auto texts = rung::tasks::texts_of(outcome);
    *climb = table<Climbs>().open(
        std::unique_ptr<rung::OpenClimb>(new rung::OpenClimb{std::move(outcome), std::move(texts)}));
    return {};
  });
}

void rung_climb_free(rung_climb* climb) { table<Climbs>().close(climb); }

size_t rung_climb_receipt_count(const rung_climb* climb) {
  const auto open = table<Climbs>().use(climb);
  return open ? open->outcome.result.rungs.size() : 0;
}

rung_status rung_climb_receipt(const rung_climb* climb, size_t index, rung_receipt* receipt) {
  return answer([&]() -> Status {
    const auto open = table<Climbs>().use(climb);
    RUNG_CHECK(rung::want_open(open, "climb"));
    RUNG_CHECK(want(receipt, "receipt"));
    const auto& rungs = open->outcome.result.rungs;
    if (index >= rungs.size()) return rung::wrong_usage("got index {}, wanted less than {}", index, rungs.size());
    *receipt = rung::to_public(rungs[index], open->outcome.result.device);
    return {};
  });
}

rung_status rung_climb_speedup(const rung_climb* climb, rung_against against, rung_speedup* speedup) {
  return answer([&]() -> Status {
    const auto open = table<Climbs>().use(climb);
    RUNG_CHECK(rung::want_open(open, "climb"));
    RUNG_CHECK(want(speedup, "speedup"));
    const rung::ClimbResult& result = open->outcome.result;
    switch (against) {
      case RUNG_AGAINST_BASELINE:
        return *speedup = rung::to_public(result.against_baseline, result.device), Status{};
      case RUNG_AGAINST_NO_CLIMB:
        return *speedup = rung::to_public(result.against_no_climb, result.device), Status{};
    }
    return rung::wrong_usage("against: got {}, wanted RUNG_AGAINST_BASELINE or RUNG_AGAINST_NO_CLIMB",
                             static_cast<int>(against));
  });
}

const char* rung_climb_text(const rung_climb* climb, rung_climb_text_kind kind) {
  const auto open = table<Climbs>().use(climb);
  const std::string* text = open ? rung::text_of(open->texts, kind) : nullptr;
  return text ? text->c_str() : nullptr;
}

rung_status rung_climb_open(const rung_climb* climb, rung_model** model) {
  return answer([&]() -> Status {
    const auto open = table<Climbs>().use(climb);
    RUNG_CHECK(rung::want_open(open, "climb"));
    RUNG_CHECK(want(model, "model"));
    RUNG_TRY(*model, rung::handle_of(rung::PlanSet(open->outcome.plan)));
    return {};
  });
}

rung_status rung_climb_save(const rung_climb* climb, const char* directory) {
  return answer([&]() -> Status {
    const auto open = table<Climbs>().use(climb);
    RUNG_CHECK(rung::want_open(open, "climb"));
    RUNG_CHECK(want(directory, "directory"));
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) return rung::bad_file("'{}': cannot make the folder: {}", directory, error.message());
    rung::ClimbOutcome outcome = open->outcome;  // a copy: save_climb() may set its total_s
    return rung::tasks::save_climb(outcome, directory);
  });
}
