// Finds, compiles and judges the code of a plan's launches.
// SPDX-License-Identifier: Apache-2.0
#include "plan/code.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/log.hpp"
#include "base/words.hpp"
#include "device/gpu/compilers/compiler.hpp"
#include "device/gpu/modules.hpp"

namespace rung {
namespace {

// Returns the source of the step's kernel; none: its code is part of the build. The plan's steps are known to be sound.
std::optional<std::string> source_of(const Plan& plan, const Step& step) {
  const Kernel* kernel = plan.target->kernel_named(step.choice.kernel);
  if (!kernel || !kernel->source) return std::nullopt;
  auto source = kernel->source(problem_of(step, plan.recipe.threads), plan.target->machine);
  return source ? std::optional(std::move(source->text)) : std::nullopt;
}

std::vector<std::string> sources_without_code(const Plan& plan) {
  std::set<std::string> sources;
  for (const Step& step : plan.steps)
    if (auto source = step.code ? std::nullopt : source_of(plan, step)) sources.insert(std::move(*source));
  return {sources.begin(), sources.end()};
}

// A file's code for one launch, or why it may not run.
struct JudgedCode {
  gpu::CodePointer code;
  std::string reason;
  bool is_odd = true;  // the file promised code and holds none that this build could run
};

// Judges the code of one plan's file.
class CodeJudge {
 public:
  CodeJudge(const CodeSection& section, CodeUse use, const gpu::GpuInfo& gpu)
      : use_(use), target_(gpu::architecture_name(gpu.architecture)) {
    for (const gpu::CodePointer& code : section.code) by_name_.emplace(source_name(code->source), code);
  }

  JudgedCode judge(const std::string& named, const std::string& source) const {
    const auto [first, end] = by_name_.equal_range(named);
    if (first == end) return {nullptr, "the plan holds no code for it", false};
    const gpu::GeneratedCode& any = *first->second;
    if (any.source != source) return {nullptr, "the plan's code has another source than this rung writes for it"};
    const auto found = std::find_if(first, end, [&](const auto& each) { return each.second->target == target_; });
    if (found == end) return {nullptr, fmt::format("the plan's code is for {}, and this is {}", any.target, target_)};
    const gpu::GeneratedCode& held = *found->second;
    if (gpu::code_name(source, target_, held.compiler) != held.name)
      return {nullptr, "the plan's code was compiled with the headers of another release"};
    if (auto before = gpu::compiled_before(source, target_, held.compiler)) return {std::move(before), {}};
    if (use_ == CodeUse::trusted) return {found->second, {}};
    return {nullptr, "the plan's code runs if you trust who made the plan: --trust-code (trust_code in Python and C)",
            false};
  }

 private:
  const CodeUse use_;
  const std::string target_;
  std::multimap<std::string, gpu::CodePointer> by_name_;
};

}  // namespace

Result<CodeSection> code_of(const PlanSet& set) {
  CodeSection section;
  std::map<std::string, gpu::CodePointer> by_source;
  for (const auto& plan : set) {
    compile_code(*plan);
    auto& named = section.named.emplace_back();
    for (const Step& step : plan->steps) {
      const auto source = source_of(*plan, step);
      named.push_back(source ? source_name(*source) : std::string());
      if (!source || by_source.contains(*source)) continue;
      gpu::CodePointer code = step.code;
      if (!code) {
        auto made = gpu::code_of(*source, plan->target->machine.gpu);
        if (!made) return fail_in(made.error(), "{}", step.label);
        code = std::move(*made);
      }
      by_source.emplace(*source, code);
      section.code.push_back(std::move(code));
    }
  }
  return section;
}

Status take_code(const CodeSection& section, const std::vector<std::string>& named, CodeUse use, Plan& plan) {
  const gpu::GpuInfo& gpu = plan.target->machine.gpu;
  const CodeJudge judge(section, use, gpu);
  std::map<std::string, size_t> odd;  // launches by reason
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    Step& step = plan.steps[i];
    const auto source = source_of(plan, step);
    if (!source && !named[i].empty())
      return fail("step {} ({}): kernel '{}' runs no code of a plan", i, step.label, step.choice.kernel);
    if (!source || use == CodeUse::shown) continue;
    JudgedCode judged = judge.judge(named[i], *source);
    step.code = std::move(judged.code);
    if (step.code) continue;
    if (const auto compiler = gpu::compiler_for(gpu); !compiler)
      return no_device("step {} ({}): nothing here compiles its kernel ({}), and {}", i, step.label,
                       compiler.error().message, judged.reason);
    if (judged.is_odd) ++odd[judged.reason];
  }
  for (const auto& [reason, launches] : odd)
    log(0, "{}: {} compiled here instead", reason, words::counted(static_cast<long>(launches), "launch", "launches"));
  const std::set<std::string> wanted(named.begin(), named.end());
  for (const gpu::CodePointer& code : section.code)
    if (wanted.contains(source_name(code->source))) plan.code.push_back(code);
  return {};
}

void compile_code(const Plan& plan) {
  const std::vector<std::string> sources = sources_without_code(plan);
  if (!sources.empty()) (void)gpu::compile_all(sources, plan.target->machine.gpu);
}

}  // namespace rung
