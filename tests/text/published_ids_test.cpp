// Tokenizers of every kind against the ids that the published library gives; make_tokenizers.py writes both.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "text/tokenizer.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

// RUNG_TOKENIZERS names another folder, for comparisons that are too large to keep.
std::filesystem::path folder() {
  const char* other = std::getenv("RUNG_TOKENIZERS");
  return other ? std::filesystem::path(other) : std::filesystem::path(RUNG_TEST_DATA) / "tokenizers";
}

Json read(const std::filesystem::path& path) {
  auto json = read_json_file(path.string());
  EXPECT_TRUE(json) << json.error().message;
  return json ? std::move(*json) : Json();
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    if (entry.is_directory()) found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

constexpr EncodeOptions kWhole{.max_length = 1 << 20};
constexpr int kMostShown = 5;  // differences of one kind

class PublishedIds : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    texts_ = read(folder() / "texts.json").get<std::vector<std::string>>();
    answers_ = read(folder() / GetParam() / "answers.json");
    auto opened = Tokenizer::open((folder() / GetParam()).string());
    ASSERT_TRUE(opened) << opened.error().message;
    tokenizer_ = *opened;
  }
  // Reports the first differences, and counts all.
  template <class Got>
  void expect(const Got& got, const Got& wanted, const std::string& text) {
    if (got == wanted) return;
    if (++differences_ <= kMostShown)
      ADD_FAILURE() << Json(text).dump() << "\n  got    " << Json(got).dump() << "\n  wanted " << Json(wanted).dump();
  }
  void TearDown() override { EXPECT_EQ(differences_, 0) << "differences"; }

  std::vector<std::string> texts_;
  Json answers_;
  std::optional<Tokenizer> tokenizer_;
  int differences_ = 0;
};

TEST_P(PublishedIds, OfEveryText) {
  const auto ids = answers_.at("ids").get<std::vector<std::vector<int64_t>>>();
  ASSERT_EQ(ids.size(), texts_.size());
  for (size_t i = 0; i < texts_.size(); ++i) {
    const auto encoding = tokenizer_->encode(texts_[i], kWhole);
    ASSERT_TRUE(encoding) << encoding.error().message;
    expect(encoding->ids, ids[i], texts_[i]);
  }
}

TEST_P(PublishedIds, OfPairsOfTexts) {
  const auto pairs = answers_.at("pairs").get<std::vector<std::array<size_t, 2>>>();
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [first, second] = pairs[i];
    const auto encoding = tokenizer_->encode(TextPair{texts_[first], texts_[second]}, kWhole);
    ASSERT_TRUE(encoding) << encoding.error().message;
    expect(encoding->ids, answers_.at("pair_ids")[i].get<std::vector<int64_t>>(), texts_[first]);
    expect(encoding->token_type_ids, answers_.at("pair_types")[i].get<std::vector<int64_t>>(), texts_[first]);
  }
}

TEST_P(PublishedIds, BecomeThePublishedTexts) {
  const auto ids = answers_.at("ids").get<std::vector<std::vector<int64_t>>>();
  for (const bool skips : {true, false}) {
    const auto decoded = answers_.at(skips ? "decoded" : "decoded_whole").get<std::vector<std::string>>();
    for (size_t i = 0; i < decoded.size(); ++i) {
      const size_t which = skips ? i : 4 * i;
      const auto text = tokenizer_->decode(ids[which], {.keeps_special = !skips});
      ASSERT_TRUE(text) << text.error().message;
      expect(*text, decoded[i], texts_[which]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, PublishedIds, testing::ValuesIn(names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace rung
