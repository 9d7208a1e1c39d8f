// What a climb tries first: what earlier climbs of the same launches found decides before floors do.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "scripted_climb.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using scripted::right;

class Turns : public ScriptedClimb {
 protected:
  Turns() { set_kernels({{"softmax_plain", right<1000>}}); }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Receipt& receipt : climbed().result.rungs) all.push_back(receipt.name);
    return all;
  }
  Json database() const { return Json::parse(read_text_file(options.database_path).value_or("")); }
  // What is kept of the one model that was climbed.
  static Json& model_in(Json& file) { return file["models"].front().front().front(); }
  void know_gains(const Json& gains) {
    Json file = database();
    model_in(file)["gains"] = gains;
    ASSERT_TRUE(write_file_atomically(options.database_path, file.dump()));
  }
};

TEST_F(Turns, AreRememberedWithWhatTheyGained) {
  const Receipt raced = receipt_of(climbed(), "without fusion");
  ASSERT_GT(raced.pairs, 0);
  Json file = database();
  EXPECT_EQ(model_in(file)["gains"], Json({{"without capture", 1.0}, {"without fusion", raced.ratio}}))
      << "the others change nothing here";
}

TEST_F(Turns, ThatLostComeLastInTheNextClimb) {
  const std::vector<std::string> first = names(), second = names();
  EXPECT_NE(first.back(), "without fusion");
  EXPECT_EQ(second.back(), "without fusion");
  EXPECT_THAT(second, ::testing::UnorderedElementsAreArray(first));
}

TEST_F(Turns, ThatGainedComeFirstInTheNextClimb) {
  names();
  know_gains({{"without capture", 2.0}, {"gemm", 1.5}});
  const std::vector<std::string> next = names();
  EXPECT_THAT(std::vector(next.begin(), next.begin() + 4),
              ::testing::ElementsAre("canonical", "default plan", "without capture", "gemm"));
}

TEST_F(Turns, OfAnotherModelSayNothingOfThisOne) {
  const std::vector<std::string> first = names();
  subject.model.name = "another";
  EXPECT_EQ(names(), first);
}

}  // namespace
}  // namespace rung
