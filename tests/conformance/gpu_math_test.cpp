// The functions on floats that kernels call, over floats of every size: how far from the right value, in units in the
// last place of it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "gpu_harness.hpp"
#include "support/device.hpp"
#include "support/gpu_word.hpp"

namespace rung::test {
namespace {

struct Function {
  const char* name;
  double (*value)(double);
  double most;      // of NVIDIA's, as the CUDA programming guide has it
  double most_amd;  // of kernels/gpu/vendor/amd_math.cuh
};

const Function kFunctions[] = {
    {"exp", [](double x) { return std::exp(x); }, 2, 1},
    {"log", [](double x) { return std::log(x); }, 1, 2},
    {"sqrt", [](double x) { return std::sqrt(x); }, 0.5, 0.5},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 2, 1},
    {"sin", [](double x) { return std::sin(x); }, 2, 1.6},
    {"cos", [](double x) { return std::cos(x); }, 2, 1.6},
    {"tanh", [](double x) { return std::tanh(x); }, 2, 3.5},
    {"erf", [](double x) { return std::erf(x); }, 2, 1},
};

// What a function gives at `x`, from a row that calls it, and what is right.
struct Values {
  std::vector<float> x, y, got;
  std::vector<double> right;
};

// The largest error, and where. A result that is not finite must be the right one.
struct Worst {
  double ulp = 0;
  size_t at = 0;
};
Worst worst_of(const Values& values) {
  Worst worst;
  for (size_t i = 0; i < values.got.size(); ++i) {
    const double right = values.right[i];
    const float got = values.got[i], rounded = static_cast<float>(right);
    double ulp = INFINITY;
    if (std::isnan(right) || std::isinf(rounded)) {
      if (std::isnan(right) ? std::isnan(got) : got == rounded) ulp = 0;
    } else if (std::isfinite(got)) {
      const int exponent = std::max(right == 0 ? -126 : std::ilogb(right), -126);
      ulp = std::fabs(got - right) / std::ldexp(1.0, exponent - 23);
    }
    if (ulp > worst.ulp) worst = {ulp, i};
  }
  return worst;
}

class MathOfADevice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string word = GetParam();
    auto target = open_target(word == "gpu" ? gpu_word() : word);
    if (!target) GTEST_SKIP() << target.error().message;
    target_ = *target;
  }
  bool is_nvidia() const { return target_->machine.gpu.runtime == "cuda"; }

  // Runs `text`, whose operands are `x` and perhaps `y`, on these values by the first row that takes it.
  std::vector<float> run(const std::string& text, const Values& values) {
    Case test = make_case(text);
    for (auto& [name, tensor] : test.inputs) {
      const auto& from = name == "x" ? values.x : values.y;
      std::memcpy(tensor.data(), from.data(), tensor.bytes());
    }
    for (const Kernel* row : target_->kernels_for(op_family(test.problem.op))) {
      if (!target_->supports(*row, test.problem)) continue;
      auto outcome = run_gpu_row(*target_, *row, test);
      EXPECT_TRUE(outcome) << outcome.error().message;
      if (!outcome) return {};
      std::vector<float> got(values.x.size());
      std::memcpy(got.data(), outcome->outputs[0].data(), got.size() * sizeof(float));
      return got;
    }
    ADD_FAILURE() << "no row takes " << text;
    return {};
  }

 private:
  const Target* target_ = nullptr;
};

// Of every exponent and both signs, infinities, NaN and denormals among them; two neighbours are 2^-10 apart.
constexpr size_t kFloats = size_t{1} << 19;
float nth_float(size_t i) { return std::bit_cast<float>(static_cast<uint32_t>(i << 13 | (i * 2654435761u >> 19))); }

TEST_P(MathOfADevice, KeepsItsStatedErrorBounds) {
  Values values;
  for (size_t i = 0; i < kFloats; ++i) values.x.push_back(nth_float(i));
  for (const Function& function : kFunctions) {
    values.right.clear();
    for (float x : values.x) values.right.push_back(function.value(x));
    values.got = run(fmt::format("result = {}(x:f32[{}])", function.name, kFloats), values);
    ASSERT_EQ(values.got.size(), kFloats);
    const Worst worst = worst_of(values);
    EXPECT_LE(worst.ulp, is_nvidia() ? function.most : function.most_amd)
        << function.name << " of " << values.x[worst.at] << ": got " << values.got[worst.at] << ", wanted "
        << values.right[worst.at];
    RecordProperty(function.name, fmt::format("{:.3f}", worst.ulp));
  }
}

// Powers of floats of every size, and the cases that C names: zeros, infinities, NaN, whole and odd exponents.
TEST_P(MathOfADevice, RaisesToPowers) {
  const float exponents[] = {0.5f, 2, -1, 3, -0.3f, 10, 1e-3f, 100.5f, -7, 0, INFINITY, -INFINITY, NAN, 16777216, 1.5f};
  const float bases[] = {0, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 0.5f, -2, 10000};
  Values values;
  constexpr size_t kPowers = size_t{1} << 16;
  for (size_t i = 0; i < kPowers; ++i) {
    const bool special = i % 16 == 0;
    values.x.push_back(special ? bases[i / 16 % std::size(bases)] : nth_float(i * 8 + i % 8));
    values.y.push_back(i % 5 == 0 ? nth_float(i * 7) : exponents[i / 3 % std::size(exponents)]);
    values.right.push_back(std::pow(double{values.x[i]}, double{values.y[i]}));
  }
  values.got = run(fmt::format("result = pow(x:f32[{}], y:f32[{}])", kPowers, kPowers), values);
  ASSERT_EQ(values.got.size(), kPowers);
  const Worst worst = worst_of(values);
  EXPECT_LE(worst.ulp, is_nvidia() ? 4 : 0.51) << values.x[worst.at] << " to the " << values.y[worst.at] << ": got "
                                               << values.got[worst.at] << ", wanted " << values.right[worst.at];
}

std::string word_of(const ::testing::TestParamInfo<const char*>& info) {
  std::string word = info.param;
  std::replace(word.begin(), word.end(), ':', '_');
  return word;
}
INSTANTIATE_TEST_SUITE_P(Gpu, MathOfADevice, ::testing::Values("gpu"), word_of);
INSTANTIATE_TEST_SUITE_P(Emulated, MathOfADevice, ::testing::Values("emu:gfx942", "emu:gfx950"), word_of);

}  // namespace
}  // namespace rung::test
