// Rows of sample: the frequencies of their draws, and what they report where there is nothing to draw.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "gpu_harness.hpp"
#include "ir/sampling.hpp"
#include "support/device.hpp"
#include "support/gpu_word.hpp"

namespace rung::test {
namespace {

const std::string kText =
    "y = sample(x:f32[700], settings0:f32[8], draw:i64[2], b:f32[700], seen:i64[700], slots=bias+seen)";

std::vector<const Kernel*> cpu_rows(const Problem& problem) {
  std::vector<const Kernel*> rows;
  for (const Kernel* row : cpu_target().kernels_for("sample"))
    if (row->supports(problem, cpu::cpu_info())) rows.push_back(row);
  return rows;
}

// ---- nothing to draw

// A copy: cases share their tensors' memory.
Case changed(const std::string& input, size_t at, float value) {
  Case test = make_case(kText);
  test.inputs.at(input).as<float>()[at] = value;
  return test;
}

std::vector<Case> impossible_cases() {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<Case> cases;
  for (size_t at : {size_t{0}, size_t{699}}) {
    for (float value : {std::nanf(""), -std::nanf(""), infinity}) {
      cases.push_back(changed("x", at, value));
      cases.push_back(changed("b", at, value));
    }
  }
  cases.push_back(make_case(kText));
  for (float& bias : cases.back().inputs.at("b").as<float>()) bias = -infinity;
  const std::vector<std::pair<size_t, float>> wrong{
      {0, -1}, {0, std::nanf("")}, {1, 0.5f},          {1, -3}, {2, 1.5f}, {3, -1},
      {4, 0},  {5, infinity},      {6, std::nanf("")}, {7, 1}};
  for (const auto& [setting, value] : wrong) cases.push_back(changed("settings0", setting, value));
  return cases;
}

// The settings of the last cases let different parts of a row decide.
void expect_reports(const std::function<Fault(const Case&)>& run) {
  for (Case& test : impossible_cases()) EXPECT_EQ(run(test), Fault::no_token_to_draw);
  for (const std::array<float, 3>& settings : {std::array{0.0f, 0.0f, 1.0f}, {1.0f, 20.0f, 1.0f}, {1.0f, 0.0f, 0.5f}}) {
    Case test = changed("x", 350, std::nanf(""));
    std::ranges::copy(settings, test.inputs.at("settings0").as<float>().begin());
    EXPECT_EQ(run(test), Fault::no_token_to_draw);
    test.inputs.at("x").as<float>()[350] = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(run(test), Fault::none);
  }
}

TEST(SampleRows, ReportThatNothingCanBeDrawn) {
  for (const Kernel* row : cpu_rows(make_case(kText).problem)) {
    SCOPED_TRACE(row->name);
    expect_reports([&](const Case& test) { return run_row(*row, test, 2).fault; });
  }
}

void expect_reports_of_device(std::string_view device) {
  auto target = open_target(device);
  if (!target) GTEST_SKIP() << target.error().message;
  expect_reports([&](const Case& test) {
    auto outcome = run_gpu_row(**target, *(*target)->kernels_for("sample").front(), test);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? outcome->fault : Fault::none;
  });
}
TEST(GpuSampleRows, ReportThatNothingCanBeDrawn) { expect_reports_of_device(gpu_word()); }
TEST(EmulatedSampleRows, ReportThatNothingCanBeDrawn) { expect_reports_of_device("emu:gfx942"); }

// ---- equal logits

// The first of them stays, whatever filter it meets, and a zero is a zero.
void expect_first_of_equal_zeros(const std::function<int64_t(const Case&)>& run) {
  for (const auto& [first, second] : {std::pair{-0.0f, 0.0f}, {0.0f, -0.0f}})
    for (const std::array<float, 3>& settings :
         {std::array{0.0f, 0.0f, 1.0f}, {1.0f, 5.0f, 0.0f}, {1.0f, 0.0f, 0.0f}}) {
      Case test = make_case("y = sample(x:f32[700], settings0:f32[8], draw:i64[2])");
      auto logits = test.inputs.at("x").as<float>();
      for (float& logit : logits) logit = -1 - std::abs(logit);
      logits[300] = first, logits[600] = second;
      std::ranges::copy(settings, test.inputs.at("settings0").as<float>().begin());
      EXPECT_EQ(run(test), 300);
    }
}
TEST(SampleRows, TakeTheFirstOfEqualZeros) {
  for (const Kernel* row : cpu_rows(make_case(kText).problem))
    expect_first_of_equal_zeros([&](const Case& test) { return run_row(*row, test, 1).outputs[0].as<int64_t>()[0]; });
}
TEST(EmulatedSampleRows, TakeTheFirstOfEqualZeros) {
  auto target = open_target("emu:gfx942");
  if (!target) GTEST_SKIP() << target.error().message;
  expect_first_of_equal_zeros([&](const Case& test) {
    auto outcome = run_gpu_row(**target, *(*target)->kernels_for("sample").front(), test);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? outcome->outputs[0].as<int64_t>()[0] : -1;
  });
}

// ---- counts of seen tokens

template <class T>
void expect_count_in_place(const char* type) {
  const Case test = make_case(fmt::format("y = scatter(x:{0}[90], index:i64[1], y:{0}[1], kind=add)", type));
  for (const Kernel* row : cpu_target().kernels_for("scatter")) {
    std::vector<T> counts(90, 3);
    const int64_t token = 40;
    const T one = 1;
    const cpu::Bound bound = cpu::bind(*row, test.problem, {counts.data(), &token, &one}, counts.data());
    cpu::Team team(1);
    std::atomic<Fault> fault{Fault::none};
    bound.run(team, &fault);
    EXPECT_EQ(counts[40], 4) << row->name;
    EXPECT_EQ(std::ranges::count(counts, 3), 89) << row->name;
  }
}
TEST(ScatterRows, AddOneInPlace) {
  expect_count_in_place<int32_t>("i32");
  expect_count_in_place<int64_t>("i64");
}

// ---- frequencies

// Draws with counters from 0 on, through one bound call.
class Drawing {
 public:
  Drawing(const Kernel& row, const Case& test) : test_(test), problem_(test.problem) {
    for (NodeId operand : test.graph[test.node].operands)
      inputs_.push_back(test.inputs.at(test.graph.as<Input>(operand)->name).data());
    bound_ = cpu::bind(row, problem_, inputs_, &token_);
  }

  std::vector<int64_t> frequencies(int64_t draws) {
    std::vector<int64_t> counts(static_cast<size_t>(problem_.inputs[0].shape.back()));
    cpu::Team team(1);
    std::atomic<Fault> fault{Fault::none};
    auto draw = test_.inputs.at("draw").as<int64_t>();
    draw[0] = 20;
    for (draw[1] = 0; draw[1] < draws; ++draw[1]) bound_.run(team, &fault), ++counts.at(static_cast<size_t>(token_));
    EXPECT_EQ(fault, Fault::none);
    return counts;
  }

 private:
  Case test_;
  Problem problem_;
  std::vector<const void*> inputs_;
  int64_t token_ = -1;
  cpu::Bound bound_;
};

// The exact distribution: an own statement of the filters in f64.
std::vector<double> distribution(std::span<const float> logits, const sampling::Settings& settings) {
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  std::vector<double> weights(logits.size());
  for (size_t i = 0; i < logits.size(); ++i)
    weights[i] = std::exp((double{logits[i]} - double{logits[order[0]]}) / double{settings.temperature});
  const auto total = [&] {
    double sum = 0;
    for (size_t i : order) sum += weights[i];
    return sum;
  };
  if (settings.top_k > 0) order.resize(static_cast<size_t>(settings.top_k));
  const double wanted = double{settings.top_p} * total();
  double had = 0;
  std::erase_if(order, [&](size_t i) {
    const bool leave = had >= wanted || weights[i] < double{settings.min_p};
    had += weights[i];
    return leave && i != order[0];
  });
  const double sum = total();
  std::vector<double> probabilities(logits.size());
  for (size_t i : order) probabilities[i] = weights[i] / sum;
  return probabilities;
}

struct ChiSquare {
  double value = 0;
  int freedom = -1;  // degrees
  // The value lies within four standard deviations of its mean, as in all but about one test of ten thousand.
  bool is_likely() const { return std::abs(value - freedom) < 4 * std::sqrt(2.0 * freedom); }
};

// Tokens that are expected less than ten times count as one, and those that cannot be drawn not at all.
ChiSquare chi_square(const std::vector<int64_t>& counts, const std::vector<double>& probabilities, int64_t draws) {
  ChiSquare result;
  double rare = 0;
  int64_t drawn_rare = 0;
  const auto add = [&](double count, double expected) {
    result.value += (count - expected) * (count - expected) / expected, ++result.freedom;
  };
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = probabilities[i] * static_cast<double>(draws);
    if (expected == 0) {
      EXPECT_EQ(counts[i], 0) << "token " << i << " is left out";
    }
    if (expected >= 10) add(static_cast<double>(counts[i]), expected);
    if (expected < 10) rare += expected, drawn_rare += counts[i];
  }
  if (rare >= 10) add(static_cast<double>(drawn_rare), rare);
  return result;
}

TEST(SampleRows, DrawAsOftenAsTheDistributionSays) {
  constexpr int64_t kDraws = 1'000'000;
  constexpr sampling::Settings kSettings[] = {{},
                                              {.temperature = 0.6f},
                                              {.top_k = 30},
                                              {.temperature = 2, .top_p = 0.9f},
                                              {.temperature = 1.5f, .min_p = 0.05f},
                                              {.temperature = 1.25f, .top_k = 70, .top_p = 0.95f, .min_p = 0.01f}};
  Case test = make_case("y = sample(x:f32[200], settings0:f32[8], draw:i64[2])");
  for (float& logit : test.inputs.at("x").as<float>()) logit *= 2;
  const Kernel& row = *cpu_rows(test.problem).front();
  for (const sampling::Settings& settings : kSettings) {
    std::memcpy(test.inputs.at("settings0").data(), &settings, sizeof settings);
    const auto counts = Drawing(row, test).frequencies(kDraws);
    const ChiSquare found = chi_square(counts, distribution(test.inputs.at("x").as<float>(), settings), kDraws);
    EXPECT_GT(found.freedom, 10);
    EXPECT_TRUE(found.is_likely()) << found.value << " of " << found.freedom << " degrees of freedom";
  }
}

}  // namespace
}  // namespace rung::test
