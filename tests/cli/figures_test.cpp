// What the figures of --json mean, checked against one another and against files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "import/npz.hpp"
#include "tool.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

Json object_of(const Ran& ran) {
  Json json = Json::parse(ran.out.substr(0, ran.out.find('\n')), nullptr, false);
  EXPECT_TRUE(json.is_object()) << ran.out << ran.err;
  return json;
}

TEST(BenchFigures, AreInOrder) {
  Tool tool;
  Json json =
      object_of(tool.run({"bench", bert_tiny(), "--shape", kShape, "--runs", "300", "--threads", "1", "--json"}));
  auto ms = [&](const char* name) { return json.at(name).get<double>(); };
  EXPECT_GT(ms("min_ms"), 0);
  EXPECT_LE(ms("min_ms"), ms("median_ms"));
  EXPECT_LE(ms("median_ms"), ms("p90_ms"));
  EXPECT_LE(ms("p90_ms"), ms("p99_ms"));
  EXPECT_LE(json["ci95"][0].get<double>(), ms("median_ms"));
  EXPECT_GE(json["ci95"][1].get<double>(), ms("median_ms"));
  EXPECT_EQ(json["runs"], 300);
}

TEST(ProfileFigures, AddUp) {
  Tool tool;
  Json json = object_of(tool.run({"profile", bert_tiny(), "--shape", kShape, "--threads", "1", "--json"}));
  std::map<std::string, double> categories;
  double floors_us = 0, gemm_us = 0, gemm_flops = 0, gemm_bytes = 0, ops_us = 0;
  for (const Json& op : json["ops"]) {
    double us = op["us"].get<double>();
    ops_us += us, floors_us += op["floor_us"].get<double>();
    categories[op["category"].get<std::string>()] += us;
    if (op["category"] != "GEMM") continue;
    gemm_us += us, gemm_flops += op["flops"].get<double>(), gemm_bytes += op["bytes"].get<double>();
  }
  categories["launch/host"] += json["host_us"].get<double>();
  ASSERT_GT(gemm_us, 0);
  for (const auto& [name, us] : categories) EXPECT_NEAR(json["categories_us"][name].get<double>(), us, 1e-6) << name;
  EXPECT_NEAR(json["floor_ms"].get<double>() * 1e3, floors_us, 1e-6);
  EXPECT_NEAR(json["gemm"]["us"].get<double>(), gemm_us, 1e-6);
  EXPECT_NEAR(json["gemm"]["gflops"].get<double>(), gemm_flops / gemm_us * 1e-3, 1e-6);
  EXPECT_NEAR(json["gemm"]["gbps"].get<double>(), gemm_bytes / gemm_us * 1e-3, 1e-6);
  double stages_us = 0;
  size_t launches = 0;
  for (const Json& stage : json["stages"]) {
    stages_us += stage["us"].get<double>(), launches += stage["launches"].get<size_t>();
    EXPECT_GT(stage["floor_us"].get<double>(), 0);
  }
  EXPECT_NEAR(stages_us, ops_us, 1e-6);
  EXPECT_EQ(launches, json["ops"].size());
}

// The figures of every output: the mean, the root of the mean square, and the first four values.
TEST(RunFigures, AreThoseOfTheArraysThatAreWritten) {
  Tool tool;
  const Ran ran = tool.run({"run", bert_tiny(), "--inputs", bert_tiny() + "/inputs.npz", "--outputs", tool / "out.npz",
                            "--threads", "1", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const NamedTensors arrays = *read_npz(tool / "out.npz");
  const Json runs = object_of(ran).at("runs");
  ASSERT_EQ(runs.size(), 1u);
  ASSERT_EQ(runs[0]["outputs"].size(), arrays.size());
  for (const Json& output : runs[0]["outputs"]) {
    const Tensor& array = arrays.at(output.at("name"));
    const auto values = array.as<float>();
    double sum = 0, squares = 0;
    for (const float value : values) sum += value, squares += double{value} * value;
    const auto count = static_cast<double>(values.size());
    EXPECT_EQ(output.at("type"), to_string(array.type()));
    EXPECT_NEAR(output.at("mean").get<double>(), sum / count, 1e-9) << output;
    EXPECT_NEAR(output.at("rms").get<double>(), std::sqrt(squares / count), 1e-9) << output;
    EXPECT_EQ(output.at("first").get<std::vector<float>>(), std::vector<float>(values.begin(), values.begin() + 4));
  }
}

// The launches that take longest come first, and no more of them than a screen holds.
TEST(ProfileFigures, AreInTheOrderOfTheirTimes) {
  Tool tool;
  const Ran ran = tool.run({"profile", bert_tiny(), "--shape", kShape, "--threads", "1"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  std::istringstream table(ran.out.substr(0, ran.out.find("\n\n")));
  std::string line;
  std::getline(table, line);
  EXPECT_THAT(line, testing::HasSubstr("floor us"));
  std::vector<double> us;
  while (std::getline(table, line)) us.push_back(std::stod(line));
  ASSERT_GT(us.size(), 5u) << ran.out;
  EXPECT_LE(us.size(), 30u);
  EXPECT_TRUE(std::is_sorted(us.rbegin(), us.rend())) << ran.out;
}

// Distances from a reference that differs from the outputs by known amounts.
TEST(VerifyFigures, AreTheDistancesFromTheReference) {
  Tool tool;
  const std::string inputs = bert_tiny() + "/inputs.npz";
  Ran ran = tool.run(
      {"run", bert_tiny(), "--shape", kShape, "--inputs", inputs, "--outputs", tool / "out.npz", "--threads", "1"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  NamedTensors arrays = *read_npz(tool / "out.npz");
  std::map<std::string, std::array<double, 3>> expected;  // rel_l2, max_abs, cosine
  for (auto& [name, tensor] : arrays) {
    double difference = 0, norm = 0, got_norm = 0, dot = 0, largest = 0;
    for (size_t i = 0; i < tensor.as<float>().size(); ++i) {
      float got = tensor.as<float>()[i];
      float& want = tensor.as<float>()[i];
      want += i % 2 ? 0.25f : -0.5f;
      double gap = double{got} - double{want};
      difference += gap * gap, norm += double{want} * want, got_norm += double{got} * got, dot += double{got} * want;
      largest = std::max(largest, std::abs(gap));
    }
    expected[name] = {std::sqrt(difference / norm), largest, dot / std::sqrt(norm * got_norm)};
  }
  ASSERT_TRUE(write_npz(tool / "far.npz", arrays));
  ran = tool.run({"verify", bert_tiny(), "--shape", kShape, "--inputs", inputs, "--reference", tool / "far.npz",
                  "--threads", "1", "--json"});
  EXPECT_EQ(ran.exit_code, 1);
  Json json = object_of(ran);
  EXPECT_EQ(json["passed"], false);
  ASSERT_EQ(json["outputs"].size(), expected.size());
  for (const Json& output : json["outputs"]) {
    const auto& [rel_l2, max_abs, cosine] = expected.at(output["name"].get<std::string>());
    EXPECT_NEAR(output["rel_l2"].get<double>(), rel_l2, rel_l2 * 1e-4) << output;
    EXPECT_NEAR(output["max_abs"].get<double>(), max_abs, 1e-5) << output;
    EXPECT_NEAR(output["cosine"].get<double>(), cosine, 1e-5) << output;
    EXPECT_EQ(output["non_finite"], 0);
    EXPECT_EQ(output["passed"], false);
  }
}

}  // namespace
}  // namespace rung
