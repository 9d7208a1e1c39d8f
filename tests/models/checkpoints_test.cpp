// Checkpoints against PyTorch: each directory of tests/data/checkpoints gives the published library's outputs, by the
// judge and as a plan.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "import/huggingface_support.hpp"
#include "plan/support.hpp"

namespace rung {
namespace {

std::vector<std::string> checkpoint_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test_data("checkpoints")))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

class PublishedCheckpoint : public ::testing::TestWithParam<std::string> {
 protected:
  std::string path() const { return test_data("checkpoints/" + GetParam()); }
  NamedTensors inputs() const { return load_npz(path() + "/inputs.npz"); }
  Model model() const {
    ImportOptions options;
    for (const auto& [name, value] : inputs()) options.given[name] = value.shape();
    return import_verified(path(), options);
  }
  // As far as two orders of the same sums differ, in the type of the weights.
  double tolerance() const {
    if (GetParam().ends_with("_bf16")) return 1.6e-2;
    return GetParam().ends_with("_f16") ? 2e-3 : 1e-6;
  }
  void expect_as_pytorch(const NamedTensors& outputs) const {
    const NamedTensors wanted = load_npz(path() + "/outputs.npz");
    EXPECT_EQ(outputs.size(), wanted.size());
    for (const auto& [name, value] : wanted) {
      ASSERT_TRUE(outputs.contains(name)) << name;
      EXPECT_LE(relative_error(outputs.at(name), value), tolerance()) << name;
    }
  }
};

TEST_P(PublishedCheckpoint, GivesPyTorchsOutputs) { expect_as_pytorch(run_reference(model(), inputs())); }

TEST_P(PublishedCheckpoint, GivesThemAsAPlanOfAllRungs) {
  const Model imported = model();
  Session session = session_over(plan_of(imported.graph, all_passes()));
  const auto all = complete_inputs(imported, inputs());
  ASSERT_TRUE(all) << all.error().message;
  const Outputs outputs = outputs_of(session, *all);
  expect_as_pytorch({outputs.begin(), outputs.end()});
}

INSTANTIATE_TEST_SUITE_P(Models, PublishedCheckpoint, ::testing::ValuesIn(checkpoint_names()),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace rung
