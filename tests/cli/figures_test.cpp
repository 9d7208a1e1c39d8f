// What the figures of --json mean, checked against one another and against files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "import/npz.hpp"
#include "support/pace.hpp"
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

// "linear m=9 n=32 k=32 ..." in f32 reads x and w once, and writes its result; bias and residual are read beside.
struct Product {
  double m = 0, n = 0, k = 0;
  double flops() const { return 2 * m * n * k; }
  double least_bytes() const { return 4 * (m * k + n * k + m * n); }
};
std::optional<Product> product_of(const std::string& problem) {
  Product found;
  const bool read = std::sscanf(problem.c_str(), "linear m=%lf n=%lf k=%lf", &found.m, &found.n, &found.k) == 3;
  return read ? std::optional(found) : std::nullopt;
}

TEST(ProfileFigures, OfProductsAreThoseOfTheirSizes) {
  Tool tool;
  Json json = object_of(tool.run({"profile", bert_tiny(), "--shape", kShape, "--threads", "1", "--json"}));
  int products = 0;
  for (const Json& op : json["ops"]) {
    const std::string problem = op["problem"];
    const auto product = product_of(problem);
    if (!product || problem.find("bf16") != problem.npos) continue;
    EXPECT_DOUBLE_EQ(op["flops"].get<double>(), product->flops()) << problem;
    const double bias = 4 * product->n, residual = 4 * product->m * product->n;
    const double bytes = op["bytes"].get<double>() - product->least_bytes();
    EXPECT_TRUE(bytes == 0 || bytes == bias || bytes == residual || bytes == bias + residual)
        << problem << ": " << bytes << " beside x, w and the result";
    ++products;
  }
  EXPECT_GT(products, 5);
}

// What the table prints as rates, by the bytes and operations that the other run of the same plan says.
TEST(ProfileFigures, OfTheTableAreRatesOfWhatTheJsonCounts) {
  Tool tool;
  const std::vector<std::string> profile{"profile", bert_tiny(), "--shape", kShape, "--threads", "1"};
  std::vector<std::string> as_json = profile;
  as_json.emplace_back("--json");
  const Json json = object_of(tool.run(as_json));
  std::istringstream table(tool.run(profile).out);
  std::string line;
  int rows = 0;
  while (std::getline(table, line)) {
    double us = 0, floor_us = 0, gflops = 0, gbps = 0;
    char kernel[64];
    int label_at = 0;
    if (std::sscanf(line.c_str(), "%lf %lf %lf %lf %63s %n", &us, &floor_us, &gflops, &gbps, kernel, &label_at) != 5) continue;
    const auto op = std::ranges::find_if(json["ops"], [&](const Json& each) {
      return each["label"] == line.substr(static_cast<size_t>(label_at)) && each["kernel"] == kernel;
    });
    ASSERT_NE(op, json["ops"].end()) << line;
    const auto expect_rate = [&](double rate, double amount) {
      const double slack = 0.06 * (us + rate + 1) * 1e3;  // both have one decimal
      EXPECT_NEAR(rate * us * 1e3, amount, slack) << line;
    };
    expect_rate(gflops, (*op)["flops"]);
    expect_rate(gbps, (*op)["bytes"]);
    ++rows;
  }
  EXPECT_GT(rows, 10);
}

// Every field of a receipt that a climb prints is the one that its report has, and the page's Markdown names its time.
TEST(ClimbFigures, OfTheJsonAreThoseOfTheReport) {
  Tool tool;
  const Ran ran = tool.run({"climb", bert_tiny(), "--shape", kShape, "--threads", "1", "--budget", budget(3), "--out",
                            tool / "out", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json printed = object_of(ran), report = Json::parse(*read_text_file(tool / "out/report.json"));
  const std::string page = *read_text_file(tool / "out/report.md");
  for (const char* name : {"model", "device", "dtype", "baseline_ms", "final_ms", "speedup", "floor_ms", "kernels_before",
                           "kernels_after", "ablation", "tuning_s"})
    EXPECT_EQ(printed[name], report[name]) << name;
  ASSERT_EQ(printed["rungs"].size(), report["rungs"].size());
  ASSERT_GT(printed["rungs"].size(), 3u);
  for (size_t i = 0; i < printed["rungs"].size(); ++i) {
    const Json &mine = printed["rungs"][i], &its = report["rungs"][i];
    for (const char* name : {"name", "accepted", "reason", "ms", "ci95", "ratio", "kernels", "rel_l2", "max_abs"}) {
      ASSERT_TRUE(mine.contains(name) && its.contains(name)) << name;
      EXPECT_EQ(mine[name], its[name]) << mine["name"] << ": " << name;
    }
    EXPECT_NE(page.find(mine["name"].get<std::string>()), page.npos) << mine["name"];
  }
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
