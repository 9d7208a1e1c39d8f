// The masks of exported models that become spans of their attentions, and those that stay.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface_support.hpp"
#include "plan/support.hpp"

namespace rung {
namespace {

struct Expected {
  std::string model;
  std::vector<std::string> spans;  // of each attention, by the plan
};

class ExportedSpans : public ::testing::TestWithParam<Expected> {};

TEST_P(ExportedSpans, AreThoseOfTheirMasks) {
  const std::string path = test_data("exported/" + GetParam().model);
  ImportOptions options;
  for (const auto& [name, value] : load_npz(path + ".in.npz")) options.given[name] = value.shape();
  std::vector<std::string> spans;
  const Plan plan = plan_of(import_verified(path + ".pt2", options).graph, all_passes());
  for (const Step& step : plan.steps)
    if (const auto* attention = as<Attention>(step.op))
      spans.push_back(fields_to_string(Attention{.span = attention->span}));
  EXPECT_EQ(spans, GetParam().spans);
}

INSTANTIATE_TEST_SUITE_P(Models, ExportedSpans,
                         ::testing::Values(Expected{"llama", {"after=0", "after=0"}},
                                           Expected{"llama_f16", {"after=0", "after=0"}},
                                           Expected{"gpt2", {"after=0", "after=0"}},
                                           Expected{"clip_text", {"after=0", "after=0"}},
                                           Expected{"mistral", {"before=3, after=0", "before=3, after=0"}},
                                           Expected{"gemma3", {"before=3, after=0", "before=3, after=0"}},
                                           Expected{"modernbert", {"", "before=2, after=2"}},
                                           Expected{"llama_eager", {"", ""}},  // low numbers beside padding
                                           Expected{"bert", {"", ""}}),
                         [](const auto& expected) { return expected.param.model; });

}  // namespace
}  // namespace rung
