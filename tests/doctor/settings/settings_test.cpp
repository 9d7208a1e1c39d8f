// The settings worth trying: rows agree with the knob table, each framework and GPU gets its own, and what is written
// is what a shell or a Dockerfile takes.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "doctor/settings/written.hpp"
#include "support/temporary_directory.hpp"

namespace rung::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr GpuGeneration kNvidia = GpuGeneration::hopper, kBlackwell = GpuGeneration::blackwell,
                        kMi200 = GpuGeneration::mi200, kMi300 = GpuGeneration::mi300, kMi350 = GpuGeneration::mi350;
constexpr GpuGeneration kAll[] = {kNvidia, kBlackwell, kMi200, kMi300, kMi350};
constexpr Framework kFrameworks[] = {Framework::pytorch, Framework::vllm, Framework::sglang, Framework::rung};

std::string label(const Setting& s) { return std::string(name_of(s.framework)) + " " + std::string(s.name); }

SettingList list_of(Framework framework, GpuGeneration gpu) {
  return {framework, "gpu", "A GPU", settings_for(framework, gpu)};
}

TEST(Settings, GiveTheirReasonTheirMeasurementAndTheirSource) {
  for (const Setting& s : setting_table()) {
    EXPECT_FALSE(s.reason.empty()) << label(s);
    EXPECT_FALSE(s.measure.empty()) << label(s);
    ASSERT_NE(s.source, nullptr) << label(s);
    EXPECT_FALSE(s.source->document.empty()) << label(s);
    EXPECT_TRUE(s.rating == Rating::set || s.rating == Rating::measure) << label(s);
  }
}

TEST(Settings, SetKnobsToValidValuesBesidesTheDefault) {
  for (const Setting& s : setting_table()) {
    if (s.kind != SettingKind::variable) continue;
    const Knob* knob = find_knob(s.name);
    ASSERT_NE(knob, nullptr) << label(s);
    EXPECT_EQ(wrong_form(*knob, std::string(s.value)), "") << label(s);
    EXPECT_THAT(parts(knob->default_value, '|'), Not(testing::Contains(s.value))) << label(s) << " is the default";
  }
}

// What the knob table says of a variable holds here, too.
TEST(Settings, IncludeNoVariableThatHurtsOrDoesNothing) {
  for (const Setting& s : setting_table()) {
    if (s.kind != SettingKind::variable) continue;
    const Knob* knob = find_knob(s.name);
    ASSERT_NE(knob, nullptr) << label(s);
    const Rating rating = rating_on(*knob, s.value);
    EXPECT_TRUE(rating == Rating::set || rating == Rating::measure) << label(s) << ": " << name_of(rating);
  }
}

TEST(Settings, FlagsAreTheServersAndHaveTwoDashes) {
  for (const Setting& s : setting_table())
    if (s.kind == SettingKind::flag) {
      EXPECT_TRUE(s.framework == Framework::vllm || s.framework == Framework::sglang) << label(s);
      EXPECT_TRUE(s.name.starts_with("--") && s.name.find('_') == std::string_view::npos) << label(s);
    }
}

std::vector<std::string_view> names_for(Framework framework, GpuGeneration gpu) {
  std::vector<std::string_view> names;
  for (const Setting* s : settings_for(framework, gpu)) names.push_back(s->name);
  return names;
}

TEST(Settings, BelongToTheGpu) {
  const auto nvidia = names_for(Framework::pytorch, kNvidia), mi300 = names_for(Framework::pytorch, kMi300),
             mi350 = names_for(Framework::pytorch, kMi350);
  EXPECT_THAT(nvidia, testing::Contains("TORCH_BLAS_PREFER_CUBLASLT"));
  EXPECT_THAT(nvidia, Not(testing::Contains("TORCH_BLAS_PREFER_HIPBLASLT")));
  EXPECT_THAT(mi300, testing::Contains("TORCH_BLAS_PREFER_HIPBLASLT"));
  EXPECT_THAT(mi300, testing::Contains("NCCL_MIN_NCHANNELS"));
  EXPECT_THAT(mi350, Not(testing::Contains("NCCL_MIN_NCHANNELS")));
  EXPECT_THAT(mi350, Not(testing::Contains("CUDA_MODULE_LOADING")));
}

TEST(Settings, WhatACardCannotDoIsNotAdvised) {
  for (const Framework framework : {Framework::vllm, Framework::sglang}) {
    const auto mi200 = names_for(framework, kMi200), mi300 = names_for(framework, kMi300);
    for (const char* wants_f8 : {"--kv-cache-dtype", "--quantization"}) {
      EXPECT_THAT(mi200, Not(testing::Contains(wants_f8)));
      EXPECT_THAT(mi300, testing::Contains(wants_f8));
    }
  }
  EXPECT_THAT(names_for(Framework::vllm, kMi200), Not(testing::Contains("VLLM_ROCM_USE_AITER")));
  EXPECT_THAT(names_for(Framework::sglang, kMi200), Not(testing::Contains("SGLANG_USE_AITER")));
  EXPECT_THAT(names_for(Framework::sglang, kMi350), testing::Contains("SGLANG_USE_AITER"));
  for (const Framework framework : {Framework::vllm, Framework::sglang}) {
    EXPECT_THAT(names_for(framework, kBlackwell), testing::Contains("a checkpoint in 4-bit floats"));
    EXPECT_THAT(names_for(framework, kNvidia), Not(testing::Contains("a checkpoint in 4-bit floats")));
  }
}

TEST(Settings, GpusHaveWords) {
  for (const char* word :
       {"h100", "h200", "b200", "mi210", "mi250", "mi250x", "mi300x", "mi325x", "mi350x", "mi355x"}) {
    ASSERT_NE(setting_gpu(word), nullptr) << word;
    EXPECT_EQ(setting_gpu(word)->word, word);
  }
  EXPECT_EQ(setting_gpu("mi210")->generation, kMi200);
  EXPECT_EQ(setting_gpu("b200")->generation, kBlackwell);
  EXPECT_EQ(setting_gpu("mi999"), nullptr);
}

TEST(Settings, VariablesSayWhichVersionsReadThem) {
  for (const Setting& s : setting_table()) {
    if (s.kind != SettingKind::variable) {
      EXPECT_EQ(read_by(s), "") << label(s);
    }
    for (const Reader& reader : readers_of(s.name))
      EXPECT_THAT(read_by(s), HasSubstr(std::string(reader.component))) << label(s);
  }
  const auto list = settings_for(Framework::sglang, kMi300);
  const auto aiter = std::ranges::find(list, "SGLANG_USE_AITER", &Setting::name);
  ASSERT_NE(aiter, list.end());
  EXPECT_THAT(read_by(**aiter), HasSubstr("SGLang"));
  EXPECT_THAT(settings_text(list_of(Framework::sglang, kMi300)), HasSubstr("    read by  SGLang"));
}

TEST(Settings, CoverEveryStackOnEveryGpuEachOnce) {
  for (const Framework framework : kFrameworks)
    for (const GpuGeneration gpu : kAll) {
      auto names = names_for(framework, gpu);
      EXPECT_GE(names.size(), 7u) << name_of(framework);
      std::ranges::sort(names);
      EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << name_of(framework) << ": a setting twice";
    }
}

TEST(Settings, WhatIsToBeSetComesFirst) {
  const auto list = settings_for(Framework::vllm, kMi300);
  EXPECT_TRUE(std::ranges::is_partitioned(list, [](const Setting* s) { return s->rating == Rating::set; }));
}

TEST(SettingsText, ShowsWhyAndHowToMeasure) {
  const std::string text = settings_text(list_of(Framework::vllm, kMi300));
  EXPECT_THAT(text, HasSubstr("vllm on A GPU, for latency"));
  EXPECT_THAT(text, HasSubstr("\ntry, and keep where it is faster\n"));
  EXPECT_THAT(text, HasSubstr("  --kv-cache-dtype fp8\n    when     long contexts\n    why      half the bytes"));
  EXPECT_THAT(text, HasSubstr("    source   vllm-project/vllm: vllm/engine/arg_utils.py"));
}

TEST(SettingsJson, HasAllFields) {
  const nlohmann::json object = to_json(list_of(Framework::rung, kNvidia));
  EXPECT_EQ(object["stack"], "rung");
  EXPECT_EQ(object["goal"], "latency");
  for (const char* field :
       {"kind", "name", "value", "verdict", "when", "reason", "measure", "traps", "read_by", "source"})
    EXPECT_TRUE(object["settings"][0].contains(field)) << field;
}

// The exit code of bash on a script, which echoes what it set.
int run_bash(const std::string& script) {
  const TemporaryDirectory folder;
  folder.write("settings.sh", script);
  const int status = std::system(("bash -eu " + (folder / "settings.sh") + " >" + (folder / "out") + " 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// With the trials switched on as well, bash takes every line.
std::string with_trials(std::string script) {
  for (const std::string_view word : {"# export ", "# SERVE_FLAGS+="})
    for (size_t at = script.find(word); at != std::string::npos; at = script.find(word, at)) script.erase(at, 2);
  return script;
}

TEST(SettingsShell, IsTakenByBash) {
  for (const Framework framework : kFrameworks)
    for (const GpuGeneration gpu : kAll) {
      const std::string script = settings_shell(list_of(framework, gpu));
      EXPECT_EQ(run_bash(script), 0) << script;
      EXPECT_EQ(run_bash(with_trials(script)), 0) << script;
    }
}

TEST(SettingsShell, SetsNoTrialByItself) {
  const std::string script = settings_shell(list_of(Framework::pytorch, kMi300));
  EXPECT_THAT(script, HasSubstr("\n# export TORCH_BLAS_PREFER_HIPBLASLT=1\n"));
  EXPECT_THAT(script, Not(HasSubstr("\nexport TORCH_BLAS_PREFER_HIPBLASLT")));
  EXPECT_THAT(script, HasSubstr("\n# export PYTORCH_TUNABLEOP_TUNING=0\n")) << "holds with another setting alone";
  const std::string vllm = settings_shell(list_of(Framework::vllm, kNvidia));
  EXPECT_THAT(vllm, HasSubstr("\nexport TRITON_CACHE_AUTOTUNING=1\n") /* no condition */);
}

TEST(SettingsDockerfile, HasInstructionsAndCommentsAlone) {
  const std::string text = settings_dockerfile(list_of(Framework::vllm, kMi350));
  EXPECT_THAT(text, HasSubstr("\nENV TRITON_CACHE_AUTOTUNING=1\n"));
  EXPECT_THAT(text, HasSubstr("\n# ENV VLLM_ROCM_USE_AITER=1\n"));
  EXPECT_THAT(text, HasSubstr("\n# vllm serve MODEL --attention-backend ROCM_AITER_FA\n"));
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = text.substr(begin, end - begin);
    EXPECT_TRUE(line.starts_with("# ") || line.starts_with("ENV ")) << line;
  }
}

}  // namespace
}  // namespace rung::doctor
