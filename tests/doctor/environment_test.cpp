// The audit of an environment: what does nothing, what has a wrong form, what costs latency, and what is left alone.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/knob.hpp"

namespace rung::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The one finding of an environment of one variable.
Finding only(const std::string& name, const std::string& value) {
  const Findings findings = audit({{name, value}});
  EXPECT_EQ(findings.size(), 1u) << name;
  return findings.empty() ? Finding{} : findings.front();
}

TEST(Audit, CallsWhatNothingReadsANoOp) {
  for (const char* name : {"HIP_CACHE_ENABLED", "ENABLE_HIP_GRAPHS", "TORCH_ROCM_USE_HIPBLASLT", "BUILD_FA",
                           "VLLM_USE_TRITON_FLASH_ATTN", "AITER_PRESHUFFLE_WEIGHTS", "TORCH_COMPILE_MODE"})
    for (const char* value : {"0", "1"}) {
      const Finding finding = only(name, value);
      EXPECT_EQ(finding.severity, Severity::problem) << name;
      EXPECT_EQ(finding.rating, "no_op") << name;
      EXPECT_THAT(finding.why, HasSubstr("no effect")) << name;
      EXPECT_EQ(finding.fix, std::string("unset ") + name);
    }
}

TEST(Audit, CatchesListsForMasksAndMasksForLists) {
  EXPECT_THAT(only("ROC_GLOBAL_CU_MASK", "0:0-19;1:20-39").why, HasSubstr("hexadecimal mask"));
  EXPECT_THAT(only("HSA_CU_MASK", "0xff").why, HasSubstr("GPUS:UNITS"));
  EXPECT_EQ(only("HSA_ENABLE_SDMA", "false").severity, Severity::problem);
}

TEST(Audit, CallsAProblemWhatCostsLatency) {
  for (const auto& [name, value] : Environment{{"HIP_LAUNCH_BLOCKING", "1"},
                                               {"CUDA_LAUNCH_BLOCKING", "1"},
                                               {"AMD_LOG_LEVEL", "4"},
                                               {"HSA_CU_MASK", "0:0-19"},
                                               {"ROC_GLOBAL_CU_MASK", "0xf"},
                                               {"HSA_DISABLE_FRAGMENT_ALLOCATOR", "1"},
                                               {"PYTORCH_NO_HIP_MEMORY_CACHING", "1"},
                                               {"PYTORCH_NO_CUDA_MEMORY_CACHING", "0"},
                                               {"MIOPEN_FIND_ENFORCE", "SEARCH"},
                                               {"NCCL_P2P_DISABLE", "1"},
                                               {"HSA_TOOLS_LIB", "/opt/rocm/lib/librocm-debug-agent.so.2"}}) {
    const Finding finding = only(name, value);
    EXPECT_EQ(finding.severity, Severity::problem) << name;
    EXPECT_EQ(finding.rating, "hurts") << name;
    EXPECT_EQ(finding.found, value);
    EXPECT_EQ(finding.fix, "unset " + name);
    EXPECT_FALSE(finding.source.empty());
  }
}

TEST(Audit, NotesWhatIsTheDefaultAlready) {
  for (const auto& [name, value] : Environment{{"HIP_FORCE_DEV_KERNARG", "1"},
                                               {"DEBUG_CLR_GRAPH_PACKET_CAPTURE", "true"},
                                               {"HIP_LAUNCH_BLOCKING", "0"},
                                               {"AMD_LOG_LEVEL", "0"}}) {
    const Finding finding = only(name, value);
    EXPECT_EQ(finding.severity, Severity::note) << name;
    EXPECT_THAT(finding.why, HasSubstr("already the default")) << name;
  }
}

TEST(Audit, NotesWhatOnlyAMeasurementDecides) {
  const Finding finding = only("NCCL_MIN_NCHANNELS", "112");
  EXPECT_EQ(finding.severity, Severity::note);
  EXPECT_THAT(finding.why, HasSubstr("measurement"));
  EXPECT_EQ(finding.fix, "");
}

TEST(Audit, NamesTheVariableThatWasMeant) {
  const Finding finding = only("HIP_LUNCH_BLOCKING", "1");
  EXPECT_EQ(finding.severity, Severity::problem);
  EXPECT_THAT(finding.why, HasSubstr("HIP_LAUNCH_BLOCKING is near"));
  EXPECT_EQ(finding.fix, "unset HIP_LUNCH_BLOCKING; export HIP_LAUNCH_BLOCKING='1'");
  EXPECT_THAT(only("HIP_LUNCH_BLOCKING", "'; x").fix, ::testing::EndsWith("HIP_LAUNCH_BLOCKING=''\\''; x'"));
}

TEST(Audit, NotesAStrangerOfTheseStacks) {
  const Finding finding = only("HIP_NOTHING_OF_THE_KIND", "1");
  EXPECT_EQ(finding.severity, Severity::note);
  EXPECT_EQ(finding.rating, "no_op");
}

TEST(Audit, LeavesChoicesOthersVariablesAndKnownNamesAlone) {
  EXPECT_THAT(audit({{"CUDA_VISIBLE_DEVICES", "0,1"},
                     {"MIOPEN_USER_DB_PATH", "/data"},
                     {"NCCL_IB_ECE_ENABLE", "0"},
                     {"HSA_CU_MASK", ""},
                     {"PATH", "/bin"},
                     {"HIPSTER", "1"}}),
              IsEmpty());
}

TEST(Audit, SaysThatTunableOpTunesByDefault) {
  const auto tuning = [](const Environment& environment) {
    for (const Finding& finding : audit(environment))
      if (finding.subject == "PYTORCH_TUNABLEOP_TUNING" && finding.severity == Severity::problem) return true;
    return false;
  };
  EXPECT_TRUE(tuning({{"PYTORCH_TUNABLEOP_ENABLED", "1"}}));
  EXPECT_TRUE(tuning({{"PYTORCH_TUNABLEOP_ENABLED", "1"}, {"PYTORCH_TUNABLEOP_TUNING", "1"}}));
  EXPECT_FALSE(tuning({{"PYTORCH_TUNABLEOP_ENABLED", "1"}, {"PYTORCH_TUNABLEOP_TUNING", "0"}}));
  EXPECT_FALSE(tuning({{"PYTORCH_TUNABLEOP_ENABLED", "0"}}));
}

Findings found_in(const Environment& environment) { return audit(environment); }

// What a value that switches off, or the default, says.
TEST(Audit, CallsNoValueThatSwitchesOffAProblem) {
  for (const Knob& knob : knob_table()) {
    const bool switches = knob.form.kind == FormKind::zero_one || knob.form.kind == FormKind::boolean;
    if (!switches || !no_longer_read(knob.name).empty() || knob.ratings.others == Rating::no_op) continue;
    if (!is_default(knob, "1") && !(knob.default_value.empty() && rating_on(knob, "0") == Rating::measure)) {
      for (const Finding& finding : found_in({{std::string(knob.name), "0"}}))
        EXPECT_EQ(finding.severity, Severity::note) << knob.name;
    }
  }
}

TEST(Audit, RatesWhatPublicScriptsOfMi300xSet) {
  const Environment scripts = {{"HSA_XNACK", "0"},
                               {"VLLM_ROCM_USE_AITER", "1"},
                               {"VLLM_ROCM_USE_AITER_MHA", "0"},
                               {"TORCH_COMPILE_DISABLE", "1"},
                               {"TORCHDYNAMO_DISABLE", "1"},
                               {"HIPBLASLT_TUNING_OVERRIDE_FILE", "/models/tuning.txt"},
                               {"TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL", "1"},
                               {"VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION", "1"},
                               {"PYTORCH_JIT", "0"}};
  std::vector<std::string> problems;
  for (const Finding& finding : audit(scripts)) {
    if (finding.severity == Severity::problem) problems.push_back(finding.subject);
    EXPECT_THAT(finding.why, ::testing::Not(HasSubstr("no component"))) << finding.subject;
  }
  EXPECT_THAT(problems, ::testing::UnorderedElementsAre("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"));
  EXPECT_EQ(only("HSA_XNACK", "1").severity, Severity::problem);
}

TEST(Audit, SaysWhichVersionLastReadAVariable) {
  EXPECT_THAT(only("VLLM_ATTENTION_BACKEND", "FLASH_ATTN").why, HasSubstr("vLLM reads it up to version 0.14.1"));
  for (const char* name : {"VLLM_USE_V1", "VLLM_FLASH_ATTN_VERSION", "VLLM_FLASHINFER_FORCE_TENSOR_CORES"}) {
    const Finding finding = only(name, name == std::string_view("VLLM_USE_V1") ? "0" : "3");
    EXPECT_EQ(finding.severity, Severity::problem) << name;
    EXPECT_EQ(finding.rating, "no_op") << name;
  }
}

TEST(Audit, MissesAMasterSwitch) {
  const Finding finding = only("VLLM_ROCM_USE_AITER_MHA", "1");
  EXPECT_EQ(finding.severity, Severity::problem);
  EXPECT_THAT(finding.why, HasSubstr("it waits for VLLM_ROCM_USE_AITER=1"));
  EXPECT_THAT(finding.fix, HasSubstr("export VLLM_ROCM_USE_AITER=1"));
  EXPECT_EQ(only("PYTORCH_TUNABLEOP_FILENAME", "/data/results.csv").severity, Severity::problem);
  for (const Finding& other : audit({{"VLLM_ROCM_USE_AITER", "true"}, {"VLLM_ROCM_USE_AITER_MHA", "1"}}))
    EXPECT_THAT(other.why, ::testing::Not(HasSubstr("waits for")));
}

TEST(ParseEnvironment, SplitsLinesAtTheirFirstEqualsSign) {
  EXPECT_EQ(parse_environment("A=1\r\nB=x=y\n\nnothing\n=3\nC="), (Environment{{"A", "1"}, {"B", "x=y"}, {"C", ""}}));
}

}  // namespace
}  // namespace rung::doctor
