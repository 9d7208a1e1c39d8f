// The lists of variants against the modules of this build: what a list has is compiled, and nothing else is.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "device/gpu/modules.hpp"
#include "support/code_object.hpp"

#define RUNG_VARIANT(entry, ...) #entry,

namespace rung::gpu {
namespace {

struct Module {
  const char* name;
  std::vector<std::string> entries;  // by its list, and those that are alone
};

const Module kModules[] = {
    {"copy",
     {
#include "kernels/gpu/copy/copies.inc"
#include "kernels/gpu/copy/copy.inc"
     }},
    {"gather",
     {
#include "kernels/gpu/copy/gather.inc"
     }},
    {"elementwise",
     {
#include "kernels/gpu/pointwise/elementwise.inc"
         "elementwise_integer"}},
    {"norm",
     {
#include "kernels/gpu/norm/norm.inc"
         "norm_long"}},
    {"group_norm",
     {
#include "kernels/gpu/norm/group_norm.inc"
     }},
    {"norm_rows",
     {
#include "kernels/gpu/norm/norm_rows.inc"
     }},
    {"reduce",
     {
#include "kernels/gpu/reduce/reduce.inc"
     }},
    {"top_k",
     {
#include "kernels/gpu/reduce/top_k.inc"
     }},
    {"sample",
     {
#include "kernels/gpu/sampling/sample.inc"
         "sample_weights", "sample_token"}},
    {"recurrence",
     {
#include "kernels/gpu/recurrent/recurrence.inc"
     }},
    {"pool", {"pool_windows", "pool_vectors"}},
    {"conv_depthwise",
     {
#include "kernels/gpu/windows/conv_depthwise.inc"
     }},
    {"conv_depthwise_tiles",
     {
#include "kernels/gpu/windows/conv_depthwise_tiles.inc"
     }},
    {"conv_few_channels",
     {
#include "kernels/gpu/windows/conv_few_channels.inc"
     }},
    {"conv_tiles",
     {
#include "kernels/gpu/windows/conv_tiles.inc"
         "conv_join"}},
    {"conv_tiles_sm90",
     {
#include "kernels/gpu/windows/conv_tiles_sm90.inc"
     }},
    {"attention_portable",
     {
#include "kernels/gpu/attention/attention_portable.inc"
     }},
    {"cache_heads",
     {
#include "kernels/gpu/attention/cache_heads.inc"
     }},
    {"cached_attention_sm90",
     {
#include "kernels/gpu/attention/cached_attention_sm90.inc"
     }},
    {"attention_cache",
     {
#include "kernels/gpu/attention/attention_cache.inc"
         "attention_cache_join_f32", "attention_cache_join_bf16", "attention_cache_join_f16"}},
    {"attention_mma",
     {
#include "kernels/gpu/attention/attention_mma.inc"
     }},
    {"attention_cdna",
     {
#include "kernels/gpu/attention/attention_cdna.inc"
     }},
    {"attention_join_cdna", {"attention_join_cdna_bf16", "attention_join_cdna_f16"}},
    {"attention_wgmma_sm90",
     {
#include "kernels/gpu/attention/attention_wgmma.inc"
     }},
    {"attention_split_kv_sm90",
     {
#include "kernels/gpu/attention/attention_split_kv.inc"
     }},
    {"linear_mma",
     {
#include "kernels/gpu/linear/linear_mma.inc"
     }},
    {"linear_gemv",
     {
#include "kernels/gpu/linear/linear_gemv.inc"
     }},
    {"linear_fma",
     {
#include "kernels/gpu/linear/linear_fma.inc"
     }},
    {"linear_fma_sm90",
     {
#include "kernels/gpu/linear/linear_fma_sm90.inc"
     }},
    {"linear_wide_sm90",
     {
#include "kernels/gpu/linear/linear_wide.inc"
     }},
    {"linear_stream_sm90",
     {
#include "kernels/gpu/linear/linear_stream.inc"
     }},
    {"linear_chain_sm90",
     {
#include "kernels/gpu/linear/linear_chain.inc"
     }},
    {"linear_skinny_sm90",
     {
#include "kernels/gpu/linear/linear_skinny.inc"
     }},
    {"linear_skinny_cdna",
     {
#include "kernels/gpu/linear/linear_skinny_cdna.inc"
     }},
    {"linear_wide_cdna",
     {
#include "kernels/gpu/linear/linear_wide_cdna.inc"
     }},
    {"linear_parts_cdna",
     {
#include "kernels/gpu/linear/linear_parts_cdna.inc"
     }},
    {"matmul_cdna",
     {
#include "kernels/gpu/linear/matmul_cdna.inc"
     }},
};

TEST(VariantLists, AreWhatTheModulesHave) {
  for (const auto& [name, entries] : kModules) {
    if (std::string_view(name).ends_with("_cdna")) continue;
    const void* image = embedded_module(name, 90);
    if (!image) GTEST_SKIP() << missing_modules_reason(Vendor::nvidia);
    const auto compiled = testing::entries_of(image);
    EXPECT_FALSE(compiled.empty()) << name;
    for (const auto& architecture : compiled)
      EXPECT_THAT(entries, ::testing::UnorderedElementsAreArray(architecture)) << name;
  }
}

TEST(VariantLists, AreWhatTheCodeObjectsHave) {
  if (auto missing = missing_modules_reason(Vendor::amd); !missing.empty()) GTEST_SKIP() << missing;
  int compared = 0;
  for (const auto& [name, entries] : kModules)
    for (const CompiledFor& target : compiled_architectures()) {
      const void* image = target.vendor == Vendor::amd ? embedded_module(name, target.first) : nullptr;
      if (!image) continue;  // one for Hopper
      std::vector<std::string> compiled;
      for (const auto& [kernel, limits] : testing::kernels_of(image)) compiled.push_back(kernel);
      EXPECT_THAT(entries, ::testing::UnorderedElementsAreArray(compiled)) << name << " for " << target.name;
      ++compared;
    }
  EXPECT_GE(compared, 2 * 10);
}

}  // namespace
}  // namespace rung::gpu
