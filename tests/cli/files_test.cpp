// Paths that people give: FIFOs, folders, links, devices, names that are not UTF-8, another process's lock.
// SPDX-License-Identifier: Apache-2.0
#include <sys/file.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/open_file.hpp"
#include "import/npz.hpp"
#include "support/pace.hpp"
#include "tool.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Tool tool;
  const std::string inputs = bert_tiny() + "/inputs.npz";

  Ran run_to(const std::string& outputs) {
    return tool.run({"run", bert_tiny(), "--shape", kShape, "--inputs", inputs, "--outputs", outputs});
  }
};

TEST_F(Files, ThatAreFifosAreRefusedAtOnce) {
  std::string fifo = tool / "in.npz", plan = tool / "plan.rung", message = "got a FIFO, wanted a regular file";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(plan.c_str(), 0600), 0);
  expect_error(tool.run({"run", bert_tiny(), "--inputs", fifo}), 1, message);
  expect_error(tool.run({"run", plan}), 1, message);
  expect_error(tool.run({"build", bert_tiny(), "--recipe", fifo, "--out", tool / "out.rung"}), 1, message);
  expect_error(tool.run({"climb", bert_tiny(), "--database", fifo, "--out", tool / "out"}), 1, message);
}

TEST_F(Files, ThatAreFoldersAreCalledSo) {
  std::string folder = tool / "folder", message = "'" + folder + "': got a directory, wanted a regular file";
  fs::create_directory(folder);
  expect_error(tool.run({"run", bert_tiny(), "--inputs", folder}), 1, message);
  expect_error(tool.run({"build", bert_tiny(), "--recipe", folder, "--out", tool / "out.rung"}), 1, message);
  expect_error(tool.run({"climb", bert_tiny(), "--database", folder, "--out", tool / "out"}), 1, message);
  expect_error(run_to(folder), 1, "'" + folder + "': cannot write: Is a directory");
}

// As behind `ulimit -f`: the system would end the process with a signal.
TEST_F(Files, ThatGrowTooLargeAreOneError) {
  const std::string plan = tool.folder().write("plan.rung", "old"), out = tool / "out";
  tool.limit_files(10'240);
  expect_error(tool.run({"build", bert_tiny(), "--shape", kShape, "--out", plan}), 1,
               "'" + plan + "': writing failed: File too large");
  EXPECT_EQ(read_text_file(plan).value_or(""), "old");
  expect_error(tool.run({"climb", bert_tiny(), "--shape", kShape, "--budget", "1s", "--out", out}), 1,
               "writing failed: File too large");
  for (const std::string& folder : {std::string(tool.folder().path()), out})
    for (const auto& entry : fs::directory_iterator(folder))
      EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::StartsWith("."))) << "a part is left";
}

TEST_F(Files, ThatOutputsReplaceKeepTheirLinkAndMode) {
  std::string real = tool.folder().write("real.npz", "old"), link = tool / "link.npz";
  fs::create_symlink("real.npz", link);
  ASSERT_EQ(chmod(real.c_str(), 0600), 0);
  Ran ran = run_to(link);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::status(real).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(read_npz(real));
}

// Their data does not have the checksum that the archive gives: that is only seen once it is read.
TEST_F(Files, OfInputsAreCheckedByHeaderBeforeReading) {
  const std::string path = tool / "in.npz", plan = tool / "plan.rung";
  auto write_damaged = [&](const std::string& name, const Shape& shape) {
    Tensor array({DType::i64, shape});
    std::fill(array.as<int64_t>().begin(), array.as<int64_t>().end(), 0x1111111111111111);
    ASSERT_TRUE(write_npz(path, {{name, array}}));
    std::string file = *read_text_file(path);
    tool.folder().write("in.npz", file.replace(file.find(std::string(8, '\x11')), 8, "damaged!"));
  };
  tool.folder().write("recipe.json", R"({"version":1})");
  ASSERT_EQ(
      tool.run({"build", bert_tiny(), "--shape", kShape, "--recipe", tool / "recipe.json", "--out", plan}).exit_code,
      0);
  write_damaged("input_ids", {1, 5});
  expect_error(tool.run({"run", bert_tiny(), "--shape", kShape, "--inputs", path}), 2,
               "--inputs gives 'input_ids' the shape [1,5]");
  expect_error(tool.run({"run", plan, "--inputs", path}), 1, "got i64[1,5], wanted i64[1,9]");
  expect_error(tool.run({"verify", plan, "--inputs", inputs, "--reference", path}), 1, "holds no array");
  write_damaged("last_hidden_state", {2, 2});
  expect_error(tool.run({"verify", plan, "--inputs", inputs, "--reference", path, "--map",
                         "sentence_embedding=last_hidden_state"}),
               1, "got shape [2,2], wanted [1,9,");
  write_damaged("ids", {1, 9});
  expect_error(tool.run({"run", plan, "--inputs", path}), 1, "there is no input 'ids'");
  write_damaged("input_ids", {1, 9});
  expect_error(tool.run({"run", plan, "--inputs", path}), 1, "got checksum");
}

TEST_F(Files, MayHaveNamesThatAreNotUtf8) {
  std::string model = tool / "mod\xff", out = tool / "out\xfe";
  fs::copy(bert_tiny(), model, fs::copy_options::recursive);
  Ran climbed = tool.run({"climb", model, "--shape", kShape, "--budget", budget(1), "--out", out, "--json"});
  ASSERT_EQ(climbed.exit_code, 0) << climbed.err;
  EXPECT_EQ(nlohmann::json::parse(climbed.out)["model"], "mod\uFFFD");
  Ran built = tool.run({"build", model, "--shape", kShape, "--recipe", out + "/recipe.json", "--out",
                        tool / "again\xff.rung", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_EQ(nlohmann::json::parse(built.out)["plan"], tool / "again\uFFFD.rung");
  EXPECT_EQ(tool.run({"run", out + "/plan.rung", "--inputs", inputs, "--json"}).exit_code, 0);
}

TEST_F(Files, OfALockedDatabaseAreAwaitedOnlyBriefly) {
  fs::create_directory(tool / "cache");
  Descriptor held(::open((tool / "cache/tuning.json.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644));
  ASSERT_EQ(flock(held.get(), LOCK_EX), 0);
  Ran ran = tool.run({"climb", bert_tiny(), "--shape", kShape, "--budget", budget(3), "--out", tool / "out", "--skip",
                      "reduce,capture,attention,projection,fusion"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  if (nlohmann::json::parse(*read_text_file(tool / "out/report.json"))["choices"].empty())
    GTEST_SKIP() << "too busy a machine to tune anything within the budget";
  const std::string line = "rung: what was tuned is not saved: ";
  size_t at = ran.err.find(line);
  ASSERT_NE(at, ran.err.npos) << ran.err;
  EXPECT_EQ(ran.err.find(line, at + 1), ran.err.npos) << "said more than once: " << ran.err;
  EXPECT_FALSE(fs::exists(tool / "cache/tuning.json"));
}

TEST_F(Files, OfAClimbAppearTogetherOrNever) {
  fs::create_directories(tool / "out/report.html");
  Ran ran = tool.run({"climb", bert_tiny(), "--shape", kShape, "--budget", budget(1), "--out", tool / "out"});
  expect_error(ran, 1, "out/report.html': cannot write: Is a directory");
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(tool / "out")) files += entry.path().filename() != "report.html";
  EXPECT_EQ(files, 0u);
}

}  // namespace
}  // namespace rung
