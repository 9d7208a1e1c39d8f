// Frequencies of rotary positions at the sizes of published models, against numbers that transformers 5.24.0 computed.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/rotary_config.hpp"

#include <fmt/ranges.h>

#include "import/huggingface_support.hpp"

namespace rung {
namespace {

using huggingface::RotaryFrequencies;
using huggingface::RotaryRequest;

struct Known {
  size_t pair;
  double inverse;
};

RotaryFrequencies frequencies_of(const std::string& text, const RotaryRequest& request) {
  const auto config = Config::parse(text, "config.json");
  EXPECT_TRUE(config) << config.error().message;
  auto read = read_rotary(*config, request);
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : RotaryFrequencies{};
}

void expect_pairs(const std::vector<float>& inverse, size_t pairs, const std::vector<Known>& known) {
  ASSERT_EQ(inverse.size(), pairs);
  for (const auto& [pair, wanted] : known) EXPECT_NEAR(inverse[pair] / wanted, 1, 1e-6) << pair;
}

TEST(RotaryFrequencies, OfLlama3BlendTheMiddle) {
  const auto read = frequencies_of(
      R"({"max_position_embeddings":131072,"rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,)"
      R"("high_freq_factor":4.0,"original_max_position_embeddings":8192,"rope_type":"llama3"}})",
      {.head_width = 128});
  expect_pairs(read.inverse, 64,
               {{0, 1.0},
                {24, 0.00729266507551074},
                {30, 0.0013718936825171113},
                {36, 7.784655463183299e-05},
                {63, 3.068925877869333e-07}});
  EXPECT_EQ(read.amplitude, 1.0f);
}

TEST(RotaryFrequencies, OfYarnRampAndGrow) {
  const auto read = frequencies_of(
      R"({"max_position_embeddings":32768,"rope_theta":1000000.0,"rope_scaling":{"type":"yarn","factor":4.0,)"
      R"("original_max_position_embeddings":32768}})",
      {.head_width = 128});
  expect_pairs(read.inverse, 64,
               {{0, 1.0},
                {24, 0.005375321488827467},
                {30, 0.0010643609566614032},
                {36, 0.0001798411540221423},
                {63, 3.102344408034696e-07}});
  EXPECT_NEAR(read.amplitude, 1.138629436111989, 1e-6);
}

TEST(RotaryFrequencies, OfYarnMayEndBetweenPairs) {
  const auto read = frequencies_of(
      R"({"max_position_embeddings":16384,"rope_parameters":{"rope_type":"yarn","rope_theta":10000.0,"factor":40.0,)"
      R"("mscale":0.707,"mscale_all_dim":1.0,"truncate":false,"original_max_position_embeddings":4096}})",
      {.head_width = 128});
  expect_pairs(read.inverse, 64,
               {{24, 0.02771085873246193},
                {30, 0.008446235209703445},
                {36, 0.0021957308053970337},
                {63, 2.886954689529375e-06}});
  EXPECT_NEAR(read.amplitude, 0.9210423553163399, 1e-6);
}

TEST(RotaryFrequencies, OfLinearScalingAreDivided) {
  const auto read = frequencies_of(R"({"rope_theta":1000000.0,"rope_scaling":{"rope_type":"linear","factor":8.0}})",
                                   {.head_width = 128});
  expect_pairs(read.inverse, 64, {{0, 0.125}, {24, 0.0007029266562312841}, {63, 1.551172204017348e-07}});
}

TEST(RotaryFrequencies, OfLongropeGoByLength) {
  std::vector<double> once, more;
  for (int i = 0; i < 48; ++i) once.push_back(1 + i / 100.0), more.push_back(1.0 + i);
  const auto read = frequencies_of(
      fmt::format(R"({{"max_position_embeddings":131072,"original_max_position_embeddings":4096,"rope_scaling":)"
                  R"({{"type":"longrope","short_factor":[{}],"long_factor":[{}]}}}})",
                  fmt::join(once, ","), fmt::join(more, ",")),
      {.head_width = 96});
  expect_pairs(read.of(4096), 48,
               {{0, 1.0}, {16, 0.040013693273067474}, {32, 0.0016321471193805337}, {47, 8.24168382678181e-05}});
  EXPECT_NEAR(read.of(4097)[47] / read.of(4096)[47], 1.47 / 48, 1e-6);
  EXPECT_NEAR(read.amplitude, 1.1902380714238083, 1e-6);
}

}  // namespace
}  // namespace rung
