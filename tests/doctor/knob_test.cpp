// The knob table: its rows are whole, the forms of values are told apart, and near names are found.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/knob.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace rung::doctor {
namespace {

using ::testing::HasSubstr;

TEST(KnobTable, HasAtLeast150CompleteRowsWithDistinctNames) {
  std::set<std::string_view> names;
  for (const Knob& knob : knob_table()) {
    EXPECT_TRUE(names.insert(knob.name).second) << knob.name << " has two rows";
    EXPECT_FALSE(knob.meaning.empty()) << knob.name;
    EXPECT_FALSE(knob.source->reader.empty()) << knob.name;
    EXPECT_FALSE(knob.source->document.empty()) << knob.name;
  }
  EXPECT_GE(names.size(), 150u);
}

TEST(KnobTable, DefaultsHaveTheFormOfTheirRow) {
  for (const Knob& knob : knob_table())
    for (const std::string_view value : parts(knob.default_value, '|'))
      EXPECT_EQ(wrong_form(knob, value), "") << knob.name;
}

TEST(KnobTable, CoversEveryFamily) {
  for (const std::string_view prefix :
       {"HSA_", "HIP_", "GPU_", "ROC_", "AMD_", "MIOPEN_", "PYTORCH_", "TORCH_", "TORCHINDUCTOR_", "TRITON_", "NCCL_",
        "RCCL_", "CUDA_", "VLLM_", "DEBUG_CLR_", "AITER_", "HIPBLASLT_", "ROCBLAS_"})
    EXPECT_TRUE(std::ranges::any_of(knob_table(), [&](const Knob& knob) { return knob.name.starts_with(prefix); }))
        << prefix;
}

TEST(KnobTable, HasEveryVariableThatTuningGuidesName) {
  for (const std::string_view name : {"AITER_PRESHUFFLE_WEIGHTS",
                                      "AMDGCN_ENABLE_DUMP",
                                      "AMD_LOG_LEVEL",
                                      "BUILD_FA",
                                      "CUDA_VISIBLE_DEVICES",
                                      "DEBUG_CLR_GRAPH_PACKET_CAPTURE",
                                      "DISABLE_ADDMM_CUDA_LT",
                                      "ENABLE_HIP_GRAPHS",
                                      "FLASH_ATTENTION_TRITON_AMD_ENABLE",
                                      "GPU_MAX_HW_QUEUES",
                                      "HIP_CACHE_ENABLED",
                                      "HIP_FORCE_DEV_KERNARG",
                                      "HIP_LAUNCH_BLOCKING",
                                      "HSA_CU_MASK",
                                      "HSA_DISABLE_FRAGMENT_ALLOCATOR",
                                      "HSA_ENABLE_DEBUG",
                                      "HSA_ENABLE_SDMA",
                                      "HSA_TOOLS_LIB",
                                      "MIOPEN_FIND_ENFORCE",
                                      "MIOPEN_FIND_MODE",
                                      "MLIR_ENABLE_DUMP",
                                      "NCCL_MIN_NCHANNELS",
                                      "OPENPI_AITER_ATTN_DIRECT_MHA",
                                      "OPENPI_DISABLE_COMPILE_AITER_ATTN",
                                      "OPENPI_INDUCTOR_MEMORY_PLANNING",
                                      "OPENPI_MANUAL_CUDAGRAPH",
                                      "OPTIMIZE_EPILOGUE",
                                      "PYTORCH_HIP_ALLOC_CONF",
                                      "PYTORCH_MIOPEN_SUGGEST_NHWC",
                                      "PYTORCH_NO_HIP_MEMORY_CACHING",
                                      "PYTORCH_TUNABLEOP_ENABLED",
                                      "PYTORCH_TUNABLEOP_TUNING",
                                      "PYTORCH_TUNABLEOP_VERBOSE",
                                      "ROCM_DEBUG_AGENT_OPTIONS",
                                      "ROC_GLOBAL_CU_MASK",
                                      "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING",
                                      "TORCHINDUCTOR_FREEZING",
                                      "TORCHINDUCTOR_MAX_AUTOTUNE",
                                      "TORCH_BLAS_PREFER_HIPBLASLT",
                                      "TORCH_COMPILE_DEBUG",
                                      "TORCH_COMPILE_MODE",
                                      "TORCH_NCCL_HIGH_PRIORITY",
                                      "TORCH_ROCM_USE_HIPBLASLT",
                                      "VLLM_TUNE_FILE",
                                      "VLLM_TUNE_GEMM",
                                      "VLLM_UNTUNE_FILE",
                                      "VLLM_USE_TRITON_FLASH_ATTN"})
    EXPECT_NE(find_knob(name), nullptr) << name;
}

TEST(KnobTable, RowsAreFoundByNameAlone) {
  ASSERT_NE(find_knob("HSA_ENABLE_SDMA"), nullptr);
  EXPECT_EQ(find_knob("HSA_ENABLE_SDMA")->source->reader, "ROCr runtime");
  EXPECT_EQ(find_knob("HSA_ENABLE_SDM"), nullptr);
  EXPECT_TRUE(is_read_somewhere("NCCL_IB_ECE_ENABLE"));
  EXPECT_FALSE(is_read_somewhere("NCCL_IB_ECE"));
}

struct FormCase {
  const char *name, *value;
  bool right;
};
void PrintTo(const FormCase& c, std::ostream* out) { *out << c.name << "=" << c.value; }

class Forms : public ::testing::TestWithParam<FormCase> {};

TEST_P(Forms, AreToldApart) {
  const Knob* knob = find_knob(GetParam().name);
  ASSERT_NE(knob, nullptr);
  const std::string wrong = wrong_form(*knob, GetParam().value);
  EXPECT_EQ(wrong.empty(), GetParam().right) << wrong;
}

INSTANTIATE_TEST_SUITE_P(
    Values, Forms,
    ::testing::Values(FormCase{"ROC_GLOBAL_CU_MASK", "0xff", true}, FormCase{"ROC_GLOBAL_CU_MASK", "FF", true},
                      FormCase{"ROC_GLOBAL_CU_MASK", "0:0-19;1:20-39", false},
                      FormCase{"ROC_GLOBAL_CU_MASK", "0-19", false}, FormCase{"ROC_GLOBAL_CU_MASK", "0x", false},
                      FormCase{"HSA_CU_MASK", "0:0-19;1:20-39", true},
                      FormCase{"HSA_CU_MASK", "0,2-4,7:0-15, 32-47", true}, FormCase{"HSA_CU_MASK", "0:0x337F", true},
                      FormCase{"HSA_CU_MASK", "0xff", false}, FormCase{"HSA_CU_MASK", "0-19", false},
                      FormCase{"HSA_CU_MASK", "0:0x0", false}, FormCase{"HSA_CU_MASK", "0:19-0", false},
                      FormCase{"HSA_CU_MASK", "0:0-5,3", false}, FormCase{"HSA_CU_MASK", "0:1;", false},
                      FormCase{"HSA_CU_MASK", "0:1:2", false}));

INSTANTIATE_TEST_SUITE_P(
    MoreValues, Forms,
    ::testing::Values(FormCase{"HSA_ENABLE_SDMA", "1", true}, FormCase{"TORCH_NCCL_HIGH_PRIORITY", "true", true},
                      FormCase{"HSA_ENABLE_SDMA", "true", false}, FormCase{"HIP_FORCE_DEV_KERNARG", "true", true},
                      FormCase{"HIP_FORCE_DEV_KERNARG", "maybe", false}, FormCase{"GPU_MAX_HW_QUEUES", "2", true},
                      FormCase{"GPU_MAX_HW_QUEUES", "two", false}, FormCase{"AMD_LOG_MASK", "0x7f", true},
                      FormCase{"GPU_MAX_HW_QUEUES", "2x", false},
                      FormCase{"CUDA_VISIBLE_DEVICES", "0,GPU-8932f937", true},
                      FormCase{"CUDA_VISIBLE_DEVICES", "0;1", false}, FormCase{"CUDA_MODULE_LOADING", "EAGER", true},
                      FormCase{"CUDA_MODULE_LOADING", "1", false}, FormCase{"HSA_OVERRIDE_GFX_VERSION", "9.4.2", true},
                      FormCase{"HSA_OVERRIDE_GFX_VERSION", "gfx942", false},
                      FormCase{"PYTORCH_ALLOC_CONF", "expandable_segments:True,max_split_size_mb:512", true},
                      FormCase{"PYTORCH_ALLOC_CONF", "expandable_segments=True", false},
                      FormCase{"MIOPEN_FIND_MODE", "normal", true}, FormCase{"MIOPEN_FIND_MODE", "7", false}));

TEST(Forms, SayWhichVariableTakesAList) {
  EXPECT_THAT(wrong_form(*find_knob("ROC_GLOBAL_CU_MASK"), "0:0-19"), HasSubstr("HSA_CU_MASK"));
  EXPECT_THAT(wrong_form(*find_knob("HSA_CU_MASK"), "0xff"), HasSubstr("ROC_GLOBAL_CU_MASK"));
}

TEST(Defaults, AreKnownInEveryFormOfAValue) {
  EXPECT_TRUE(is_default(*find_knob("HIP_FORCE_DEV_KERNARG"), "true"));
  EXPECT_TRUE(is_default(*find_knob("AMD_LOG_MASK"), "2147483647"));
  EXPECT_TRUE(is_default(*find_knob("MIOPEN_FIND_ENFORCE"), "none"));
  EXPECT_FALSE(is_default(*find_knob("GPU_MAX_HW_QUEUES"), "2"));
}

TEST(NearNames, AreFoundAndOthersAreNot) {
  EXPECT_EQ(nearest_name("HIP_LUNCH_BLOCKING"), "HIP_LAUNCH_BLOCKING");
  EXPECT_EQ(nearest_name("NCCL_P2P_DISABEL"), "NCCL_P2P_DISABLE");
  EXPECT_EQ(nearest_name("MIOPEN_FINDMODE"), "MIOPEN_FIND_MODE");
  EXPECT_EQ(nearest_name("HIP_NOTHING_OF_THE_KIND"), "");
}

}  // namespace
}  // namespace rung::doctor
