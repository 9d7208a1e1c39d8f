// rung verify --reference: every output has its array, or verification fails.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "import/npz.hpp"
#include "support/onnx_file.hpp"

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

class VerifyOnSeveralSets : public testing::Test {
 protected:
  Tool tool;
  std::vector<std::string> sets{"--inputs", bert_tiny() + "/inputs.npz", "--inputs", tool / "second.npz"};

  void SetUp() override {
    NamedTensors second = *read_npz(bert_tiny() + "/inputs.npz");
    std::ranges::fill(second.at("input_ids").as<int64_t>(), 7);
    ASSERT_TRUE(write_npz(tool / "second.npz", second));
  }
  Ran run(const std::string& command, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{command, bert_tiny()};
    arguments.insert(arguments.end(), sets.begin(), sets.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  }
};

TEST_F(VerifyOnSeveralSets, JudgesAllOfThem) {
  const Ran ran = run("verify");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 inputs against the"));
}

TEST_F(VerifyOnSeveralSets, RefusesWhatTakesOne) {
  expect_error(run("verify", {"--reference", bert_tiny() + "/outputs.npz"}), 2, "got 2 sets of --inputs, wanted one");
  expect_error(run("verify", {"--replays", "2"}), 2, "got 2 sets of --inputs, wanted one with --replays");
  expect_error(run("verify", {"--seeds", "2"}), 2, "--inputs gives every input");
  for (const char* command : {"run", "bench", "inspect"})
    expect_error(run(command), 2,
                 "--inputs: got 2 files, wanted one: only 'rung climb', 'rung build' and 'rung verify'");
}

TEST_F(VerifyAgainstAFile, RefusesOptionsThatItWouldIgnore) {
  expect_error(tool.run({"verify", bert_tiny(), "--map", "a=b"}), 2, "--reference");
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--bisect"}, {"--replays", "2"}}) {
    std::vector<std::string> arguments{"verify", bert_tiny(), "--reference", "r.npz"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    expect_error(tool.run(arguments), 2, "--reference");
  }
}

TEST(VerifyOverSeeds, TellsTheWorstAndTheMean) {
  Tool tool;
  const std::vector<std::string> arguments{"verify", bert_tiny(), "--shape", "input_ids=1,7", "--seeds", "2"};
  const Ran drawn = tool.run(arguments);
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.out, HasSubstr("2 fresh seeds, from "));
  const Ran ran = tool.run({"verify", bert_tiny(), "--shape", "input_ids=1,7", "--seeds", "2", "--seed", "40"});
  EXPECT_THAT(ran.out, HasSubstr("from 40 on; '--seeds 2 --seed 40' takes them again"));
  EXPECT_THAT(ran.out, HasSubstr("rel L2 over seeds                 frozen: mean       worst  fresh: mean"));
  expect_error(tool.run({"verify", bert_tiny(), "--seed", "40"}), 2, "--seeds");
  expect_error(tool.run({"verify", bert_tiny(), "--seeds", "0"}), 2,
               "--seeds: got '0', wanted a whole number from 1 to 10000");
  expect_error(tool.run({"verify", bert_tiny(), "--seeds", "2", "--replays", "2"}), 2, "--replays");
}

// A model of two results, one of which has no elements.
std::string model_that_gives_nothing() {
  using namespace onnx_file;
  const Messages nothing{fixed(2), fixed(0)}, some{fixed(3)};
  return model({.nodes = {node({"Relu", {"x"}, {"nothing"}}), node({"Relu", {"u"}, {"some"}})},
                .inputs = {value("x", kFloat, nothing), value("u", kFloat, some)},
                .outputs = {value("nothing", kFloat, nothing), value("some", kFloat, some)}});
}

TEST(VerifyWithoutElements, NothingIsWhatItShouldBe) {
  Tool tool;
  const std::string model = tool.folder().write("model.onnx", model_that_gives_nothing());
  const Ran ran = tool.run({"verify", model});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("nothing                ok    rel L2 0  max abs 0  cosine 1.00000000  non-finite 0"));
  const Ran told = tool.run({"verify", model, "--json"});
  const auto outputs = nlohmann::json::parse(told.out, nullptr, false).at("outputs");
  EXPECT_EQ(outputs.at(0).at("non_finite"), 0);
  EXPECT_EQ(outputs.at(0).at("passed"), true);
}

TEST(VerifyWithoutElements, AnotherShapeIsNot) {
  Tool tool;
  const std::string model = tool.folder().write("model.onnx", model_that_gives_nothing());
  NamedTensors inputs{{"x", Tensor({DType::f32, {2, 0}})}, {"u", Tensor({DType::f32, {3}})}};
  NamedTensors reference{{"nothing", Tensor({DType::f32, {2, 0}})}, {"some", Tensor({DType::f32, {3}})}};
  const auto verify = [&] {
    EXPECT_TRUE(write_npz(tool / "in.npz", inputs) && write_npz(tool / "out.npz", reference));
    return tool.run({"verify", model, "--inputs", tool / "in.npz", "--reference", tool / "out.npz"});
  };
  inputs.at("u").as<float>()[1] = reference.at("some").as<float>()[1] = 5;
  EXPECT_EQ(verify().exit_code, 0);
  reference.at("nothing") = Tensor({DType::f32, {0, 2}});
  expect_error(verify(), 1, "array 'nothing': got shape [0,2], wanted [2,0] for output 'nothing'");
  reference.at("nothing") = Tensor({DType::i64, {2, 0}});
  const Ran ran = verify();
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("non-finite not counted"));
}

}  // namespace
}  // namespace rung
