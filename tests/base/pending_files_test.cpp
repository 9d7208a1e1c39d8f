// Files that are replaced keep what a person gave them, and nothing is left of those that are not finished.
// SPDX-License-Identifier: Apache-2.0
#include "base/pending_files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "base/atomic_file.hpp"
#include "base/open_file.hpp"
#include "support/file_size_limit.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kLarge(1 << 20, 'x');

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// Runs `body` in a process of its own; returns how it ended.
template <class Body>
int status_of_child(const Body& body) {
  pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

bool has_unnamed_files(const std::string& folder) {
  return static_cast<bool>(Descriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)));
}

class PendingFile : public testing::Test {
 protected:
  TemporaryDirectory folder;
  std::string a = folder / "a", b = folder / "b";
};

TEST_F(PendingFile, AppearsWithItsWholeContentAtCommit) {
  PendingFiles files;
  ASSERT_TRUE(files.add(a, "one"));
  ASSERT_TRUE(files.add(b, kLarge));
  EXPECT_FALSE(fs::exists(a));
  EXPECT_FALSE(fs::exists(b));
  ASSERT_TRUE(files.commit());
  EXPECT_EQ(*read_text_file(a), "one");
  EXPECT_EQ(*read_text_file(b), kLarge);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a", "b"));
}

TEST_F(PendingFile, ReachesStorageThroughSmallAndLargePieces) {
  std::string wanted;
  ASSERT_TRUE(write_file_atomically(a, [&](std::ostream& out) -> Status {
    for (int i = 0; i < 3; ++i) {
      out << i << kLarge;
      out.put(';');
      wanted += std::to_string(i) + kLarge + ';';
    }
    for (int i = 0; i < 100000; ++i) out.put(static_cast<char>(i)), wanted += static_cast<char>(i);
    return {};
  }));
  EXPECT_EQ(*read_text_file(a), wanted);
}

TEST_F(PendingFile, LeavesNothingWithoutCommit) {
  { ASSERT_TRUE(PendingFiles().add(a, kLarge)); }
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST_F(PendingFile, ThatCannotBeWrittenKeepsTheOthersAway) {
  fs::create_directory(b);
  PendingFiles files;
  ASSERT_TRUE(files.add(a, "one"));
  auto added = files.add(b, "two");
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("'" + b + "': cannot write: Is a directory"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("b"));
}

TEST_F(PendingFile, LeavesNoTemporaryWhereItCannotBePlaced) {
  {
    PendingFiles files;
    ASSERT_TRUE(files.add(a, "one"));
    fs::create_directory(a);
    auto committed = files.commit();
    ASSERT_FALSE(committed);
    EXPECT_THAT(committed.error().message, HasSubstr("cannot replace"));
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
}

TEST_F(PendingFile, KeepsModeAndOwnerOfWhatItReplaces) {
  folder.write("a", "old");
  ASSERT_EQ(chmod(a.c_str(), 0640), 0);
  const bool gave_away = chown(a.c_str(), 1234, 4321) == 0;  // as root
  ASSERT_TRUE(write_file_atomically(a, "new"));
  EXPECT_EQ(*read_text_file(a), "new");
  EXPECT_EQ(mode_of(a), 0640u);
  struct stat info {};
  ASSERT_EQ(stat(a.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, gave_away ? 1234 : getuid());
  EXPECT_EQ(info.st_gid, gave_away ? 4321 : getgid());
}

TEST_F(PendingFile, TakesItsModeFromTheUmaskWhenNew) {
  const mode_t before = umask(027);
  EXPECT_TRUE(write_file_atomically(a, "new"));
  umask(before);
  EXPECT_EQ(mode_of(a), 0640u);
}

TEST_F(PendingFile, FollowsLinksToAFileAndToNone) {
  fs::create_directory(folder / "sub");
  folder.write("sub/real", "old");
  fs::create_symlink("sub/real", a);
  fs::create_symlink("a", b);
  ASSERT_TRUE(write_file_atomically(b, "new"));
  EXPECT_TRUE(fs::is_symlink(a) && fs::is_symlink(b));
  EXPECT_EQ(*read_text_file(folder / "sub/real"), "new");
  fs::remove(folder / "sub/real");
  ASSERT_TRUE(write_file_atomically(b, "made"));
  EXPECT_TRUE(fs::is_symlink(a) && fs::is_symlink(b));
  EXPECT_EQ(*read_text_file(folder / "sub/real"), "made");
  EXPECT_THAT(names_in(folder / "sub"), ElementsAre("real"));
}

TEST_F(PendingFile, RefusesLinksThatGoRound) {
  fs::create_symlink("b", a);
  fs::create_symlink("a", b);
  auto written = write_file_atomically(a, "x");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("symbolic links"));
}

TEST_F(PendingFile, WritesThroughAFifoAndLeavesItThere) {
  ASSERT_EQ(mkfifo(a.c_str(), 0600), 0);
  Descriptor reader(::open(a.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(write_file_atomically(a, "through"));
  std::string got(100, '\0');
  ssize_t size = read(reader.get(), got.data(), got.size());
  ASSERT_GE(size, 0);
  EXPECT_EQ(got.substr(0, static_cast<size_t>(size)), "through");
  EXPECT_TRUE(fs::is_fifo(a));
}

TEST_F(PendingFile, WritesThroughADeviceAndLeavesItThere) {
  if (mknod(a.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0)  // one like /dev/full
    GTEST_SKIP() << "making a device: " << std::strerror(errno);
  auto written = write_file_atomically(a, "x");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("No space left on device"));
  EXPECT_TRUE(fs::is_character_file(a));
}

TEST_F(PendingFile, IsTriedInAFolderWithoutATrace) {
  EXPECT_TRUE(check_writable_folder(folder.path()));
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const Status tried = check_writable_folder(folder / "nowhere");
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().message, "'" + (folder / "nowhere") + "': cannot write: No such file or directory");
}

TEST_F(PendingFile, LeavesOnlyOldContentOnAFullDisk) {
  folder.write("a", "old");
  auto written = [&] {
    FileSizeLimit limit(64 << 10);
    return write_file_atomically(a, kLarge);
  }();
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("'" + a + "': writing failed: File too large"));
  EXPECT_EQ(*read_text_file(a), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
}

TEST_F(PendingFile, LeavesNothingWhenItsProcessIsKilled) {
  if (!has_unnamed_files(folder.path())) GTEST_SKIP() << "this file system has no unnamed files";
  folder.write("a", "old");
  int while_writing = status_of_child([&] {
    (void)write_file_atomically(a, [](std::ostream& out) -> Status {
      out << kLarge << std::flush;
      raise(SIGKILL);
      return {};
    });
  });
  int before_commit = status_of_child([&] {
    PendingFiles files;
    if (files.add(a, kLarge) && files.add(b, kLarge)) raise(SIGTERM);
  });
  EXPECT_TRUE(WIFSIGNALED(while_writing) && WTERMSIG(while_writing) == SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(before_commit) && WTERMSIG(before_commit) == SIGTERM);
  EXPECT_EQ(*read_text_file(a), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
}

// Without /proc an unnamed file cannot be given a name.
TEST_F(PendingFile, HasANameFromTheStartWithoutProc) {
  folder.write("a", "old");
  int status = status_of_child([&] {
    if (chroot(folder.path().c_str()) != 0) _exit(77);
    if (!write_file_atomically("/a", "new") || !write_file_atomically("/b", "made")) _exit(1);
    if (!PendingFiles().add("/c", "never")) _exit(2);
  });
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "only root may hide /proc";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a", "b"));
  EXPECT_EQ(*read_text_file(a), "new");
}

TEST_F(PendingFile, TellsWhyItsContentCouldNotBeMade) {
  folder.write("a", "old");
  auto written = write_file_atomically(a, [](std::ostream& out) -> Status {
    out << "half";
    return fail("no more");
  });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "'" + a + "': no more");
  EXPECT_EQ(*read_text_file(a), "old");
}

}  // namespace
}  // namespace rung
