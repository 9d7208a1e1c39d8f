// Unnamed files by O_TMPFILE, linked under a passing name and then renamed: linkat(2) replaces nothing.
// SPDX-License-Identifier: Apache-2.0
#include "base/pending_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <streambuf>

#include "base/open_file.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;     // most links to follow from one path, as in the kernel
constexpr int kMostNames = 10000;  // most tries for a passing name
constexpr mode_t kPermissions = 07777;

// A stream's buffer over a descriptor that remembers why it failed.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd) : fd_(fd) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* data, std::streamsize count) override {
    if (count < static_cast<std::streamsize>(buffer_.size())) return std::streambuf::xsputn(data, count);
    return sync() == 0 && put(data, static_cast<size_t>(count)) ? count : 0;
  }
  int sync() override {
    bool done = put(pbase(), static_cast<size_t>(pptr() - pbase()));
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return done ? 0 : -1;
  }

 private:
  bool put(const char* data, size_t count) {
    while (count > 0 && error_ == 0) {
      ssize_t written = ::write(fd_, data, count);
      if (written < 0 && errno != EINTR) error_ = errno;
      if (written > 0) data += written, count -= static_cast<size_t>(written);
    }
    return error_ == 0;
  }
  int fd_, error_ = 0;
  std::array<char, 1 << 16> buffer_;
};

// Follows symbolic links of the path's last part, whether or not there is a file at the end. A link in /proc stands for
// an open file, not for a path.
Result<std::string> follow_links(std::string path) {
  const std::string given = path;
  for (int i = 0; i < kMostLinks && !path.starts_with("/proc/"); ++i) {
    std::error_code not_a_link;
    fs::path next = fs::read_symlink(path, not_a_link);
    if (not_a_link) return path;
    path = (fs::path(path).parent_path() / next).string();
  }
  if (path.starts_with("/proc/")) return path;
  return bad_file("'{}': cannot write: more than {} symbolic links", given, kMostLinks);
}

std::string folder_of(const std::string& path) {
  std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Calls `create` with names in the folder until one is free; empty, with errno set, if that fails.
template <class Create>
std::string passing_name(const std::string& folder, const Create& create) {
  static std::atomic<unsigned> counter{0};
  for (int i = 0; i < kMostNames; ++i) {
    std::string name = fmt::format("{}/.rung.{}.{}", folder, getpid(), counter++);
    if (create(name.c_str())) return name;
    if (errno != EEXIST) break;
  }
  return "";
}

}  // namespace

class PendingFiles::File {
 public:
  explicit File(std::string path) : path_(std::move(path)) {}
  ~File() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Status write(const WriteContent& content) {
    RUNG_CHECK(open());
    DescriptorBuffer buffer(file_.get());
    std::ostream out(&buffer);
    Status made = content(out);
    out.flush();
    if (buffer.error()) return bad_file("'{}': writing failed: {}", path_, std::strerror(buffer.error()));
    if (!made) return fail_in(made.error(), "'{}'", path_);
    if (!in_place_ && fsync(file_.get()) != 0) return failed("writing failed");
    return {};
  }
  // Gives the file a passing name.
  Status name() {
    if (in_place_ || !name_.empty()) return {};
    const std::string unnamed = fmt::format("/proc/self/fd/{}", file_.get());
    name_ = passing_name(folder_of(target_), [&](const char* name) {
      return linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
    return name_.empty() ? failed("cannot write") : Status{};
  }
  Status put_in_place() {
    if (in_place_) return {};
    if (std::rename(name_.c_str(), target_.c_str()) != 0) return failed("cannot replace");
    name_.clear();
    return {};
  }

 private:
  Status failed(std::string_view what) const { return bad_file("'{}': {}: {}", path_, what, std::strerror(errno)); }

  Status open() {
    Descriptor old(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!old && errno != ENOENT) return failed("cannot write");
    struct stat info {};
    if (old && fstat(old.get(), &info) != 0) return failed("cannot write");
    RUNG_TRY(target_, follow_links(path_));
    in_place_ = old && (!S_ISREG(info.st_mode) || target_.starts_with("/proc/"));
    if (in_place_) return file_ = std::move(old), Status{};
    RUNG_CHECK(make_temporary());
    // The owner is set first: changing it clears bits of the mode.
    if (old && fchown(file_.get(), info.st_uid, info.st_gid) != 0 && errno != EPERM) return failed("cannot write");
    if (old && fchmod(file_.get(), info.st_mode & kPermissions) != 0) return failed("cannot write");
    return {};
  }
  Status make_temporary() {
    const std::string folder = folder_of(target_);
    file_ = Descriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    if (file_ && ::access("/proc/self/fd", X_OK) == 0) return {};
    name_ = passing_name(folder, [&](const char* name) {
      file_ = Descriptor(::open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
      return static_cast<bool>(file_);
    });
    return name_.empty() ? failed("cannot write") : Status{};
  }

  std::string path_, target_, name_;  // as given; with links followed; the passing name, if any
  bool in_place_ = false;
  Descriptor file_;
};

PendingFiles::PendingFiles() = default;
PendingFiles::~PendingFiles() = default;

Status PendingFiles::add(const std::string& path, const WriteContent& write) {
  auto file = std::make_unique<File>(path);
  RUNG_CHECK(file->write(write));
  files_.push_back(std::move(file));
  return {};
}

Status PendingFiles::add(const std::string& path, std::string_view content) {
  return add(path, [&](std::ostream& out) {
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    return Status();
  });
}

// Every step that can fail for lack of room comes before the first file is replaced.
Status PendingFiles::commit() {
  for (auto& file : files_) RUNG_CHECK(file->name());
  for (auto& file : files_) RUNG_CHECK(file->put_in_place());
  files_.clear();
  return {};
}

Status check_writable_folder(const std::string& folder) {
  const std::string name = folder.empty() ? "." : folder, probe = name + "/.rung-probe";
  Status tried = PendingFiles().add(probe, "x");  // never put in place
  if (tried) return tried;
  std::string& message = tried.error().message;  // it names the probe
  if (const size_t at = message.find(probe); at != message.npos) message.replace(at, probe.size(), name);
  return tried;
}

}  // namespace rung
