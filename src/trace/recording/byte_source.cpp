// Reads by pread: a mapping's pages would count as this process's memory, and truncation of the file would crash it.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/byte_source.hpp"

#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace rung::trace {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's setting for gzip's own header

}  // namespace

struct ByteSource::Inflater {
  z_stream stream{};
  bool ready = false, within_member = true;
  std::array<char, size_t{256} << 10> packed;
  Inflater() { ready = inflateInit2(&stream, kGzipWindow) == Z_OK; }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

ByteSource::ByteSource(std::string path, OpenedFile file) : path_(std::move(path)), file_(std::move(file)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource> ByteSource::open(const std::string& path) {
  RUNG_TRY(OpenedFile file, open_regular_file(path));
  ByteSource source(path, std::move(file));
  std::array<char, 2> first{};
  RUNG_TRY(const size_t got, source.read_file(first.data(), first.size()));
  source.at_ = 0;
  if (got == 2 && first[0] == '\x1f' && first[1] == '\x8b') {
    source.inflater_ = std::make_unique<Inflater>();
    if (!source.inflater_->ready) return no_memory("'{}': out of memory for unpacking", path);
  }
  return source;
}

Result<size_t> ByteSource::read(char* to, size_t bytes) {
  return inflater_ ? inflate_into(to, bytes) : read_file(to, bytes);
}

Result<size_t> ByteSource::read_file(char* to, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(file_.descriptor.get(), to + done, bytes - done, static_cast<off_t>(at_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bad_file("'{}': cannot read: {}", path_, std::strerror(errno));
    if (got == 0) break;
    done += static_cast<size_t>(got);
    at_ += static_cast<uint64_t>(got);
  }
  return done;
}

// A gzip file has one member or several in sequence; zeros fill up a block or a disk's sector.
Result<size_t> ByteSource::inflate_into(char* to, size_t bytes) {
  z_stream& z = inflater_->stream;
  z.next_out = reinterpret_cast<Bytef*>(to);
  z.avail_out = static_cast<uInt>(bytes);
  while (z.avail_out != 0) {
    if (z.avail_in == 0) {
      RUNG_TRY(const size_t got, read_file(inflater_->packed.data(), inflater_->packed.size()));
      z.next_in = reinterpret_cast<Bytef*>(inflater_->packed.data());
      z.avail_in = static_cast<uInt>(got);
      if (got == 0 && inflater_->within_member)
        return bad_file("'{}': its gzip data ends early, at byte {}: the file is cut short", path_, at_);
      if (got == 0) break;
    }
    if (!inflater_->within_member) {
      for (; z.avail_in > 0 && *z.next_in == 0; --z.avail_in) ++z.next_in;
      if (z.avail_in == 0) continue;
      inflateReset(&z);
      inflater_->within_member = true;
    }
    const int code = inflate(&z, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END)
      return bad_file("'{}': its gzip data is damaged before byte {}", path_, at_ - z.avail_in);
    inflater_->within_member = code == Z_OK;
  }
  return bytes - z.avail_out;
}

}  // namespace rung::trace
