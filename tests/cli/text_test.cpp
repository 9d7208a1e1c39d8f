// Texts on the command line: one that is too long is cut with a warning, in silence on request, or refused.
// SPDX-License-Identifier: Apache-2.0
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

TEST_F(LongText, IsCutWithoutAWordOrRefusedOnRequest) {
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
