// The inputs that a command makes up: those that the caller left out, and no states.
// SPDX-License-Identifier: Apache-2.0
#include "open/inputs.hpp"

#include "import/decoder_support.hpp"

namespace rung {
namespace {

TEST(SampledInputs, AreOfTheCallersAlone) {
  Subject subject{import_verified(decoder_path("llama"), {.cache = {.length = 8, .largest_chunk = 3}}), {}, {}, {}};
  const NamedTensors inputs = sample_missing(subject, {{"count", Tensor::of<int64_t>({1}, {2})}}, 1);
  ASSERT_EQ(inputs.size(), 2u) << "the position, keys and values are states";
  EXPECT_EQ(inputs.at("count").as<int64_t>()[0], 2);
  EXPECT_EQ(inputs.at("input_ids").shape(), (Shape{1, 3}));
  EXPECT_EQ(sample_missing(subject, {}, 1).at("count").as<int64_t>()[0], 3) << "all are real";
}

}  // namespace
}  // namespace rung
