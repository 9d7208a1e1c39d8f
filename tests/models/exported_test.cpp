// Exported models against PyTorch: each file of tests/data/exported gives PyTorch's outputs, by the judge and as a
// plan.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "import/huggingface_support.hpp"
#include "plan/support.hpp"
#include "support/device.hpp"

namespace rung {
namespace {

// The models beside which there is a file with this end.
std::vector<std::string> exported_files(const char* beside) {
  std::vector<std::string> names;
  const std::filesystem::path folder = test_data("exported");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if ((entry.path().extension() == ".pt2" || entry.path().extension() == ".onnx") &&
        std::filesystem::exists(std::filesystem::path(entry.path()).replace_extension(beside)))
      names.push_back(entry.path().lexically_relative(folder).string());
  std::ranges::sort(names);
  return names;
}

// Every element stands `places` behind its place, those behind the end at the beginning.
Tensor moved_on(const Tensor& from, int64_t places) {
  Tensor to(from.type());
  const auto in = from.as<float>();
  for (size_t i = 0; i < in.size(); ++i) to.as<float>()[(i + static_cast<size_t>(places)) % in.size()] = in[i];
  return to;
}

class Exported : public ::testing::TestWithParam<std::string> {
 protected:
  std::string path() const { return test_data("exported/" + GetParam()); }
  std::string beside(const char* suffix) const { return std::filesystem::path(path()).replace_extension(suffix); }

  // Values in 16 bits are kept as f32. Floats of a further sample stand `places` on.
  NamedTensors inputs(const Model& model, int64_t places = 0) const {
    NamedTensors all = load_npz(beside(".in.npz"));
    for (auto& [name, value] : all) {
      if (value.dtype() == DType::f32) value = moved_on(value, places);
      if (const auto rule = model.defaults.find(name); rule != model.defaults.end())
        value = convert(value, rule->second.type.dtype);
    }
    return all;
  }
  Model model() const {
    ImportOptions options;
    for (const auto& [name, value] : load_npz(beside(".in.npz"))) options.given[name] = value.shape();
    return import_verified(path(), options);
  }
  void expect_as_pytorch(const std::string& name, const Tensor& got) const {
    const Tensor wanted = load_npz(beside(".out.npz")).at(name);
    if (!is_float(got.dtype())) {
      ASSERT_EQ(got.type(), wanted.type()) << name;
      EXPECT_EQ(0, std::memcmp(got.data(), wanted.data(), wanted.bytes())) << name;
      return;
    }
    const double tolerance = got.dtype() == DType::f32 ? 1e-6 : got.dtype() == DType::f16 ? 2e-3 : 1.6e-2;
    EXPECT_LE(relative_l2(convert(got, DType::f32), wanted), tolerance) << name;
  }
};

// What weights of 16 bits give in f32 is the measure of PyTorch's error and of ours, over the same samples. One
// rounding of the results alone may cost as much as the type's unit roundoff, whatever luck PyTorch has with theirs.
class Narrow : public Exported {
 protected:
  static constexpr int64_t kStep = 97;  // as in make.py

  void expect_exact(Session& session, const Model& model) const {
    const NamedTensors exact = load_npz(beside(".exact.npz")), pytorch = load_npz(beside(".narrow.npz"));
    NamedTensors ours;
    for (const auto& [name, value] : exact) ours[name] = Tensor(value.type());
    double roundoff = 0;
    for (int64_t sample = 0; sample < exact.begin()->second.shape()[0]; ++sample)
      for (const auto& [name, value] : outputs_of(session, inputs(model, sample * kStep))) {
        const auto from = convert(value, DType::f32);
        ASSERT_TRUE(ours.contains(name)) << name;
        std::ranges::copy(from.as<float>(), ours[name].as<float>().begin() + sample * from.elements());
        roundoff = value.dtype() == DType::f16 ? 0x1p-11 : 0x1p-8;
      }
    for (const auto& [name, value] : exact) {
      const double allowed = std::max(roundoff, 1.25 * relative_l2(pytorch.at(name), value));
      EXPECT_LE(relative_l2(ours.at(name), value), allowed) << name;
    }
  }
};

TEST_P(Narrow, IsAsExactAsPyTorch) {
  const Model imported = model();
  Session session = session_over(plan_of(imported.graph, all_passes()));
  expect_exact(session, imported);
}

TEST_P(Narrow, IsAsExactOnAmdsMachineCode) {
  const auto target = open_target("emu:gfx942");
  if (!target) GTEST_SKIP() << target.error().message;
  const Model imported = model();
  Recipe recipe = all_passes();
  recipe.threads = 0;
  auto built = build_plan(imported.graph, recipe, {.target = *target});
  ASSERT_TRUE(built) << built.error().message;
  auto session = Session::create(std::make_shared<const Plan>(std::move(built->plan)), nullptr);
  ASSERT_TRUE(session) << session.error().message;
  expect_exact(*session, imported);
}

TEST_P(Exported, IsWhatPyTorchComputes) {
  const Model imported = model();
  const auto outputs = evaluate(imported.graph, inputs(imported));
  ASSERT_TRUE(outputs) << outputs.error().message;
  ASSERT_EQ(outputs->size(), load_npz(beside(".out.npz")).size());
  for (size_t i = 0; i < outputs->size(); ++i) expect_as_pytorch(imported.graph.outputs()[i].name, (*outputs)[i]);
}

TEST_P(Exported, IsSoAsAPlanOfAllRungs) {
  const Model imported = model();
  Session session = session_over(plan_of(imported.graph, all_passes()));
  for (const auto& [name, value] : outputs_of(session, inputs(imported))) expect_as_pytorch(name, value);
}

std::string name_of_file(const ::testing::TestParamInfo<std::string>& file) {
  std::string name = file.param.substr(0, file.param.find('.'));
  std::ranges::replace(name, '/', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Models, Exported, ::testing::ValuesIn(exported_files(".out.npz")), name_of_file);
INSTANTIATE_TEST_SUITE_P(Models, Narrow, ::testing::ValuesIn(exported_files(".exact.npz")), name_of_file);

}  // namespace
}  // namespace rung
