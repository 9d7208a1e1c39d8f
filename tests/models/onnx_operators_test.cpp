// Operators of ONNX against ONNX Runtime: each case of tests/data/onnx_operators gives its outputs, by the judge and as
// a plan.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <set>

#include "device/cpu/cpu_info.hpp"
#include "import/huggingface_support.hpp"
#include "plan/support.hpp"

namespace rung {
namespace {

const NamedTensors& all_cases() {
  static const NamedTensors all = [] {
    NamedTensors cases = load_npz(test_data("onnx_operators/operators.npz"));
    cases.merge(load_npz(test_data("onnx_operators/windows.npz")));
    cases.merge(load_npz(test_data("onnx_operators/quantised.npz")));
    cases.merge(load_npz(test_data("onnx_operators/integer_products.npz")));
    cases.merge(load_npz(test_data("onnx_operators/features.npz")));
    return cases;
  }();
  return all;
}

std::vector<std::string> names_of_cases(std::string_view prefix = "") {
  std::set<std::string> names;
  for (const auto& [name, value] : all_cases())
    if (name.starts_with(prefix)) names.insert(name.substr(0, name.find('/')));
  return {names.begin(), names.end()};
}

class OnnxOperator : public ::testing::TestWithParam<std::string> {
 protected:
  // "CASE/in/x0" -> "x0"
  NamedTensors part(const std::string& which) const {
    NamedTensors named;
    const std::string begin = GetParam() + "/" + which + "/";
    for (const auto& [name, value] : all_cases())
      if (name.starts_with(begin)) named[name.substr(begin.size())] = value;
    return named;
  }
  Model model() const {
    const Tensor& bytes = all_cases().at(GetParam() + "/model");
    return import_verified(
        directory_.write("m.onnx", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.bytes())));
  }
  void expect_as_onnx_runtime(const std::string& name, const Tensor& got) const {
    const Tensor wanted = part("out").at(name);
    ASSERT_EQ(got.type(), wanted.type()) << name;
    if (is_float(got.dtype()))
      EXPECT_LE(relative_l2(got, wanted), 1e-6) << name;
    else
      EXPECT_EQ(0, std::memcmp(got.data(), wanted.data(), wanted.bytes())) << name;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_P(OnnxOperator, IsWhatOnnxRuntimeComputes) {
  const NamedTensors outputs = run_reference(model(), part("in"));
  ASSERT_EQ(outputs.size(), part("out").size());
  for (const auto& [name, value] : outputs) expect_as_onnx_runtime(name, value);
}

TEST_P(OnnxOperator, IsSoAsAPlanOfAllRungs) {
  Session session = session_over(plan_of(model().graph, all_passes()));
  for (const auto& [name, value] : outputs_of(session, part("in"))) expect_as_onnx_runtime(name, value);
}

class OnnxBytes : public OnnxOperator {};

// A product of the file's bytes, in rows that sum in integers.
TEST_P(OnnxBytes, RunAsOneProductOfBytes) {
  if (!cpu::cpu_info().avx512_vnni && !cpu::cpu_info().amx_int8)
    GTEST_SKIP() << "the processor has no products of bytes";
  std::vector<std::string> products;
  for (const Step& step : plan_of(model().graph, all_passes()).steps)
    if (as<Linear>(step.op)) products.push_back(step.problem);
  EXPECT_THAT(products, ::testing::ElementsAre(::testing::HasSubstr("x=i8 w=i8")));
}

class OnnxConvBytes : public OnnxOperator {};

// A convolution of the file's bytes that gives bytes.
TEST_P(OnnxConvBytes, RunAsOneConvolutionOfBytes) {
  if (!cpu::cpu_info().avx512_vnni) GTEST_SKIP() << "the processor has no convolutions of bytes";
  for (const int threads : {1, 2}) {
    Recipe recipe = all_passes();
    recipe.threads = threads;
    std::vector<std::string> rows;
    for (const Step& step : plan_of(model().graph, recipe).steps)
      if (as<Conv>(step.op) || as<Linear>(step.op))
        rows.push_back(step.choice.kernel + " " + fields_to_string(step.op));
    EXPECT_THAT(rows, ::testing::ElementsAre(
                          ::testing::AllOf(::testing::HasSubstr("conv_bytes_onednn"), ::testing::HasSubstr("out=u8"))))
        << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, OnnxOperator, ::testing::ValuesIn(names_of_cases()),
                         [](const auto& name) { return name.param; });
INSTANTIATE_TEST_SUITE_P(Cases, OnnxBytes, ::testing::ValuesIn(names_of_cases("Bytes")),
                         [](const auto& name) { return name.param; });
INSTANTIATE_TEST_SUITE_P(Cases, OnnxConvBytes, ::testing::ValuesIn(names_of_cases("ConvBytes")),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace rung
