// Texts on the command line: one that is too long is cut with a warning, in silence on request, or refused.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "import/npz.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class LongText : public testing::Test {
 protected:
  LongText() {
    std::filesystem::copy(bert_tiny(), tool / "encoder", std::filesystem::copy_options::recursive);
    tool.folder().write("encoder/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n");
  }
  Ran run(const std::vector<std::string>& more) {
    std::vector<std::string> all{"run", tool / "encoder", "--shape", "input_ids=1,5", "--threads", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return tool.run(all);
  }
  Tool tool;
};

TEST_F(LongText, IsCutAndThatIsSaid) {
  Ran ran = run({"--json", "--text", "a b a", "--text", "a b a b"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("warning: text 1 is cut: the text has 6 tokens, and the plan reads 5 of them"));
  EXPECT_THAT(ran.err, testing::Not(HasSubstr("text 0")));
  const Json runs = Json::parse(ran.out)["runs"];
  EXPECT_EQ(runs[0]["truncated"], false);
  EXPECT_EQ(runs[0]["tokens"], 5);
  EXPECT_EQ(runs[1]["truncated"], true);
  EXPECT_EQ(runs[1]["tokens"], 6);
}

// One text's arrays have their own names; each of several has its number.
TEST_F(LongText, HasItsOwnArraysAmongThoseOfSeveral) {
  std::vector<std::string> texts;
  for (const size_t count : {1, 2, 3}) {
    texts.insert(texts.end(), {"--text", std::string(count, 'a')});
    std::vector<std::string> arguments = texts;
    arguments.insert(arguments.end(), {"--outputs", tool / "out.npz"});
    ASSERT_EQ(run(arguments).exit_code, 0);
    const auto arrays = read_npz(tool / "out.npz");
    ASSERT_TRUE(arrays) << arrays.error().message;
    for (size_t i = 0; i < count; ++i)
      EXPECT_TRUE(arrays->contains(count == 1 ? "last_hidden_state" : fmt::format("last_hidden_state_{}", i)))
          << i << " of " << count;
  }
}

// By the cosine of their embeddings; one text alone has none.
TEST_F(LongText, IsComparedWithEveryOther) {
  EXPECT_TRUE(Json::parse(run({"--text", "a b", "--json"}).out)["similarity"].is_null());
  EXPECT_EQ(Json::parse(run({"--text", "a b", "--text", "b", "--json"}).out)["similarity"].size(), 2u);
  const std::vector<std::string> texts{"--text", "a b", "--text", "b", "--text", "a b", "--outputs", tool / "out.npz"};
  std::vector<std::string> asked = texts;
  asked.emplace_back("--json");
  const Json matrix = Json::parse(run(asked).out)["similarity"];
  const auto arrays = read_npz(tool / "out.npz");
  ASSERT_TRUE(arrays) << arrays.error().message;
  ASSERT_EQ(matrix.size(), 3u);
  const auto cosine = [&](size_t i, size_t j) {
    const auto a = arrays->at(fmt::format("sentence_embedding_{}", i)).as<float>(),
               b = arrays->at(fmt::format("sentence_embedding_{}", j)).as<float>();
    double dot = 0, aa = 0, bb = 0;
    for (size_t n = 0; n < a.size(); ++n)
      dot += double{a[n]} * b[n], aa += double{a[n]} * a[n], bb += double{b[n]} * b[n];
    return dot / std::sqrt(aa * bb);
  };
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(matrix[i].size(), 3u);
    for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(matrix[i][j].get<double>(), cosine(i, j), 1e-6) << i << " and " << j;
  }
  EXPECT_NEAR(matrix[0][2].get<double>(), 1, 1e-6);
  EXPECT_LT(matrix[0][1], 0.999999);
  const Ran told = run(texts);
  EXPECT_THAT(told.out, HasSubstr("[1] b\n"));
  EXPECT_THAT(told.out, HasSubstr("cosine similarity\n"));
}

TEST_F(LongText, IsCutSilentlyOrRefusedOnRequest) {
  Ran cut = run({"--json", "--text", "a b a b", "--truncate", "cut"});
  EXPECT_EQ(cut.exit_code, 0);
  EXPECT_EQ(cut.err, "");
  EXPECT_EQ(Json::parse(cut.out)["runs"][0]["truncated"], true);
  expect_error(run({"--text", "a b a b", "--truncate", "error"}), 1, "has 6 tokens, and the plan reads 5 of them");
  EXPECT_EQ(run({"--text", "a b a", "--truncate", "error"}).exit_code, 0);
  expect_error(run({"--text", "a", "--truncate", "loudly"}), 2, "--truncate");
}

}  // namespace
}  // namespace rung
