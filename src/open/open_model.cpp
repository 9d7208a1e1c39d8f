// The device first, then the model for it; a plan says which it was built for.
// SPDX-License-Identifier: Apache-2.0
#include "open/open_model.hpp"

#include "device/cpu/cpu_info.hpp"
#include "device/cpu/start_team.hpp"
#include "import/tokenizer.hpp"
#include "kernels/device_word.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"

namespace rung {
namespace {

// The target for a plan: the device asked for if it is of the plan's kind, the first of that kind if none is asked for.
Result<const Target*> target_for_plan(const std::string& built_for, const std::string& device) {
  const std::string kind(kind_of_fingerprint(built_for));
  if (auto own = parse_device(kind); !own || own->kind != kind)
    return mismatch("built for '{}', which is no device that rung knows", built_for);
  if (device.empty()) return open_target(kind);
  RUNG_TRY(DeviceWord word, parse_device(device));
  if (word.kind != kind)
    return mismatch("built for '{}', got the device '{}': name none, or climb or build again for that one", built_for,
                    device);
  return open_target(device);
}

Result<std::shared_ptr<const Plan>> open_plan(const std::string& path, const OpenOptions& options) {
  if (!options.import.shapes.empty())
    return mismatch("'{}' is a plan: its shapes were decided when it was built", path);
  RUNG_TRY(Plan plan,
           load_plan(path, [&](const std::string& built_for) { return target_for_plan(built_for, options.device); }));
  RUNG_CHECK(check_threads(plan, path, options.threads));
  return std::make_shared<const Plan>(std::move(plan));
}

Result<Subject> open_directory(const std::string& path, const ImportOptions& import) {
  Subject subject;
  RUNG_TRY(subject.model, import_model(path, import));
  RUNG_TRY(subject.attachments, tokenizer_texts(subject.model.directory));
  return subject;
}

}  // namespace

Status check_threads(const Plan& plan, const std::string& path, int threads) {
  if (plan.target->gpu || threads == 0 || threads == plan.recipe.threads) return {};
  return mismatch("'{}' was built for {} threads, got {}", path, plan.recipe.threads, threads);
}

bool is_plan_file(const std::string& path) { return path.ends_with(".rung"); }

Result<OpenedModel> open_model(const std::string& path, const OpenOptions& options) {
  if (options.threads < 0 || options.threads > cpu::kMostThreads)
    return wrong_usage("threads: got {}, wanted at most {}, or 0 for as many as there are cores", options.threads,
                       cpu::kMostThreads);
  if (path.find('\0') != std::string::npos) return wrong_usage("path: got a text with a NUL in it");
  if (!options.device.empty()) RUNG_CHECK(parse_device(options.device));
  OpenedModel opened;
  if (is_plan_file(path)) {
    RUNG_TRY(opened.plan, open_plan(path, options));
    opened.target = opened.plan->target;
  } else {
    RUNG_TRY(opened.target, open_target(options.device.empty() ? "cpu" : options.device));
    RUNG_TRY(opened.subject, open_directory(path, options.import));
  }
  return opened;
}

int threads_for(const Target& target, int asked_for) {
  if (target.gpu) return 0;
  return asked_for > 0 ? asked_for : cpu::cpu_info().cores;
}

Result<std::shared_ptr<const Plan>> build_subject(const Subject& subject, const Recipe& recipe, const Target& target) {
  RUNG_TRY(Built built, build_plan(subject.model.graph, recipe, {.target = &target}));
  attach_model(built.plan, subject);
  return std::make_shared<const Plan>(std::move(built.plan));
}

Result<Session> open_session(std::shared_ptr<const Plan> plan, SessionOptions options) {
  std::shared_ptr<cpu::Team> team;
  if (!plan->target->gpu) {
    RUNG_TRY(team, cpu::start_team(plan->recipe.threads));
  }
  return Session::create(std::move(plan), std::move(team), options);
}

}  // namespace rung
