// rung verify --reference: every output has its array, or verification fails.
// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"
#include "import/npz.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

class VerifyAgainstAFile : public testing::Test {
 protected:
  Tool tool;
  NamedTensors reference = *read_npz(bert_tiny() + "/outputs.npz");

  Ran verify(const std::vector<std::string>& maps = {}) {
    EXPECT_TRUE(write_npz(tool / "reference.npz", reference));
    std::vector<std::string> arguments{"verify",      bert_tiny(),           "--inputs", bert_tiny() + "/inputs.npz",
                                       "--reference", tool / "reference.npz"};
    for (const auto& map : maps) arguments.insert(arguments.end(), {"--map", map});
    return tool.run(arguments);
  }
  void rename(const std::string& from, const std::string& to) {
    auto node = reference.extract(from);
    node.key() = to;
    reference.insert(std::move(node));
  }
};

TEST_F(VerifyAgainstAFile, PassesWhereEveryOutputHasItsArray) {
  EXPECT_EQ(verify().exit_code, 0);
  rename("last_hidden_state", "[state, last]");
  Ran ran = verify({"last_hidden_state=[state, last]"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("last_hidden_state      ok"));
  EXPECT_THAT(ran.out, HasSubstr("sentence_embedding     ok"));
}

TEST_F(VerifyAgainstAFile, FailsWhereAnOutputHasNone) {
  rename("last_hidden_state", "another");
  expect_error(verify(), 1, "holds no array 'last_hidden_state' to compare output 'last_hidden_state' with");
  expect_error(verify({"last_hidden_state=none"}), 1, "holds no array 'none'");
}

TEST_F(VerifyAgainstAFile, RefusesMapsOfUnknownOutputsAndSecondOnes) {
  expect_error(verify({"state=last_hidden_state"}), 2, "got output 'state', wanted one of: last_hidden_state, sent");
  expect_error(verify({"last_hidden_state=a", "last_hidden_state=b"}), 2, "'last_hidden_state' has an array already");
}

TEST_F(VerifyAgainstAFile, RefusesOptionsThatItWouldIgnore) {
  expect_error(tool.run({"verify", bert_tiny(), "--map", "a=b"}), 2, "--reference");
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--bisect"}, {"--replays", "2"}}) {
    std::vector<std::string> arguments{"verify", bert_tiny(), "--reference", "r.npz"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    expect_error(tool.run(arguments), 2, "--reference");
  }
}

}  // namespace
}  // namespace rung
