// rung doctor's text: what it found, why, and the command that repairs it; nothing that a terminal would obey.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kMachine = std::string(RUNG_TEST_DATA) + "/machine";

TEST(Doctor, FindsNothingOnTheCleanMachine) {
  Tool tool;
  const Ran ran = tool.run({"doctor", "--root", kMachine});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("; 2 are set; no problems found."));
  EXPECT_THAT(ran.out, HasSubstr("GPU 0000:c1:00.0 AMD 0x74a1"));
}

TEST(Doctor, SaysWhatIsWrongAndWhatRepairsIt) {
  Tool tool;
  std::filesystem::copy(kMachine, tool / "machine", std::filesystem::copy_options::recursive);
  tool.folder().write("machine/environment", "HSA_CU_MASK=\x1b[31m0xff\n");
  tool.folder().write("machine/proc/sys/kernel/numa_balancing", "1\n");
  const Ran ran = tool.run({"doctor", "--root", tool / "machine"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("fix: sudo sysctl kernel.numa_balancing=0"));
  EXPECT_THAT(ran.out, HasSubstr("problem: HSA_CU_MASK=?[31m0xff\n"));
  EXPECT_THAT(ran.out, HasSubstr("; 1 is set; 2 problems."));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
}

TEST(Doctor, CapturesIntoANewFolderAlone) {
  Tool tool;
  const Ran ran = tool.run({"doctor", "--root", kMachine, "--capture", tool / "captured"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("became their kind and length"));
  expect_error(tool.run({"doctor", "--root", kMachine, "--capture", tool / "captured"}), 1, "new or empty folder");
  expect_error(tool.run({"doctor", "--root", tool / "nowhere"}), 1, "wanted a folder");
}

// "No problems found" would be true of any folder.
TEST(Doctor, RefusesAFolderThatIsNoMachine) {
  Tool tool;
  tool.folder().write("notes.txt", "hello\n");
  expect_error(tool.run({"doctor", "--root", tool.folder().path()}), 1,
               "'" + tool.folder().path() + "': got a folder without a machine's files");
}

TEST(Doctor, LooksAtWhatATextTells) {
  Tool tool;
  tool.folder().write("paste.txt", "PyTorch version: 2.9.0+cu128\nPython platform: Linux-6.8.0-45-generic-x86_64\n");
  const Ran ran = tool.run({"doctor", "--from", tool / "paste.txt"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("PyTorch          2.9.0\n"));
  EXPECT_THAT(ran.out, HasSubstr("No variables are told; no problems found.\nTold by collect_env. Unknown, because"));
  tool.folder().write("other.txt", "hello\n");
  expect_error(tool.run({"doctor", "--from", tool / "other.txt"}), 1,
               "wanted the output of collect_env, rocm-smi, rocminfo");
  expect_error(tool.run({"doctor", "--from", tool / "nowhere"}), 1, "nowhere");
  expect_error(tool.run({"doctor", "--from", tool / "paste.txt", "--root", kMachine}), 2, "--root");
}

TEST(Doctor, CapturesWhatATextTells) {
  Tool tool;
  tool.folder().write("paste.txt", "PyTorch version: 2.9.0+cu128\nPython platform: Linux-6.8.0-45-generic-x86_64\n");
  const Json told = Json::parse(tool.run({"doctor", "--from", tool / "paste.txt", "--json"}).out, nullptr, false);
  EXPECT_EQ(told["told_by"], Json({"collect_env"}));
  const Ran ran = tool.run({"doctor", "--from", tool / "paste.txt", "--capture", tool / "captured", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json captured = Json::parse(ran.out, nullptr, false);
  EXPECT_EQ(captured["folder"], tool / "captured");
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tool / "captured"))
    files += entry.is_regular_file();
  EXPECT_GT(files, 0u);
  EXPECT_EQ(captured["variables"], 0);
}

}  // namespace
}  // namespace rung
