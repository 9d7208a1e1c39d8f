// Programs that answer line by line: what they say, how they end, and that they end with whoever asks.
// SPDX-License-Identifier: Apache-2.0
#include "base/line_program.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <thread>

#include "base/atomic_file.hpp"
#include "base/scratch_folder.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

class LinePrograms : public testing::Test {
 protected:
  TemporaryDirectory folder;
  Result<LineProgram> shell(const std::string& script) {
    return LineProgram::start("/bin/sh", {"-c", script}, folder / "errors");
  }
};

TEST_F(LinePrograms, AnswerEveryLineInItsTurn) {
  auto program = shell("echo ready; while read word; do echo \"got $word\"; echo; done");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(*program->hear(10), "ready");
  for (const char* word : {"a", "b"}) {
    ASSERT_TRUE(program->say(word));
    EXPECT_EQ(*program->hear(10), std::string("got ") + word);
    EXPECT_EQ(*program->hear(10), "");
  }
}

TEST_F(LinePrograms, SayHowTheyEnded) {
  auto failing = shell("echo why >&2; exit 3");
  ASSERT_TRUE(failing);
  auto line = failing->hear(10);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message, "exited with 3");
  EXPECT_EQ(*read_text_file(folder / "errors"), "why\n");

  auto killed = shell("kill -9 $$");
  ASSERT_TRUE(killed);
  EXPECT_THAT(killed->hear(10).error().message, HasSubstr("ended by a signal"));
}

TEST_F(LinePrograms, AreNotWaitedForLongerThanAsked) {
  auto silent = shell("sleep 30");
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->hear(0.05).error().message, "said nothing for 0.05 s");
}

TEST_F(LinePrograms, EndWithTheirOwner) {
  pid_t pid = 0;
  {
    auto program = shell("echo $$; sleep 30");
    ASSERT_TRUE(program);
    pid = static_cast<pid_t>(std::stoi(*program->hear(10)));
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(LinePrograms, WantAProgram) {
  auto none = LineProgram::start(folder / "none", {}, folder / "errors");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("cannot start '" + (folder / "none")));
}

TEST(ScratchFolders, AreGoneWithTheirOwner) {
  std::string file;
  {
    auto folder = ScratchFolder::create();
    ASSERT_TRUE(folder) << folder.error().message;
    file = *folder / "file";
    ASSERT_TRUE(write_file_atomically(file, "text"));
    const ScratchFolder moved = std::move(*folder);
    EXPECT_TRUE(std::filesystem::exists(file));
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(file).parent_path()));
}

}  // namespace
}  // namespace rung
