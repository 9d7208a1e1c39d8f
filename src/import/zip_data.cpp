// Unpacks zip members with zlib, and writes stored ones.
// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "import/zip.hpp"

namespace rung {
namespace {

constexpr size_t kPiece = size_t{1} << 30;  // zlib counts in 32 bits

uint32_t checksum(uint32_t crc, std::span<const std::byte> bytes) {
  // zlib takes a null pointer as a request for the initial value.
  return bytes.empty()
             ? crc
             : static_cast<uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace

struct ZipReader::Inflater {
  z_stream stream{};
  bool ready = false, ended = false;
  Inflater() { ready = inflateInit2(&stream, -MAX_WBITS) == Z_OK; }  // raw deflate, no zlib header
  ~Inflater() { inflateEnd(&stream); }
};

ZipReader::ZipReader(const ZipMember& member) : member_(member) {
  if (member.deflated) inflater_ = std::make_unique<Inflater>();
}
ZipReader::~ZipReader() = default;

Status ZipReader::read(std::span<std::byte> out) {
  if (out.size() > remaining()) return fail("it is cut short");
  if (inflater_) {
    RUNG_CHECK(inflate_into(out));
  } else if (!out.empty()) {
    std::memcpy(out.data(), member_.packed.data() + done_, out.size());
  }
  crc_ = checksum(crc_, out);
  done_ += out.size();
  return {};
}

// Gives zlib as much as its 32-bit counters take, repeatedly, until `out` is full.
Status ZipReader::inflate_into(std::span<std::byte> out) {
  auto& z = inflater_->stream;
  if (!inflater_->ready) return no_memory("out of memory for unpacking");
  while (!out.empty() && !inflater_->ended) {
    auto input = member_.packed.subspan(z.total_in, std::min(kPiece, member_.packed.size() - z.total_in));
    auto piece = out.first(std::min(kPiece, out.size()));
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    z.avail_in = static_cast<uInt>(input.size());
    z.next_out = reinterpret_cast<Bytef*>(piece.data());
    z.avail_out = static_cast<uInt>(piece.size());
    int code = inflate(&z, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END) return fail("its compressed data is damaged");
    inflater_->ended = code == Z_STREAM_END;
    out = out.subspan(piece.size() - z.avail_out);
  }
  if (!out.empty()) return fail("its data ends before its size");
  return {};
}

Status ZipReader::finish() {
  if (remaining() != 0) return fail("{} bytes are left over", remaining());
  if (inflater_ && !inflater_->ended) {
    // The end marker may still be unread; data would be more than the declared size.
    auto& z = inflater_->stream;
    std::byte extra{};
    auto input = member_.packed.subspan(z.total_in, std::min(kPiece, member_.packed.size() - z.total_in));
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    z.avail_in = static_cast<uInt>(input.size());
    z.next_out = reinterpret_cast<Bytef*>(&extra);
    z.avail_out = 1;
    if (inflate(&z, Z_FINISH) != Z_STREAM_END || z.avail_out == 0) return fail("its data goes on after its size");
  }
  if (crc_ != member_.crc) return fail("got checksum {:08x}, wanted {:08x}", crc_, member_.crc);
  return {};
}

Status ZipWriter::add(const std::string& name, std::string_view head, std::span<const std::byte> body) {
  constexpr uint64_t kLimit = std::numeric_limits<uint32_t>::max();
  uint64_t size = head.size() + body.size();
  if (name.size() > 65535 || count_ == 65535 || offset_ + size + name.size() + 1024 > kLimit)
    return fail("zip member '{}': got {} bytes, wanted an archive below 4 GiB", name.substr(0, 100), size);
  uint32_t crc = checksum(checksum(0, std::as_bytes(std::span(head))), body);
  std::string common;          // fields that the local header and the directory entry share
  put(common, 20, 2);          // version needed
  put(common, 0x800, 2);       // names are UTF-8
  put(common, 0, 2);           // stored
  put(common, 0x00210000, 4);  // 1980-01-01 00:00: equal content gives equal bytes
  put(common, crc, 4);
  put(common, size, 4);
  put(common, size, 4);
  put(common, name.size(), 2);
  put(common, 0, 2);  // no extra field
  std::string local;
  put(local, 0x04034b50, 4);
  local += common + name;
  out_ << local << head;
  out_.write(reinterpret_cast<const char*>(body.data()), static_cast<std::streamsize>(body.size()));
  put(directory_, 0x02014b50, 4);
  put(directory_, 20, 2);  // version made by
  directory_ += common;
  directory_.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
  put(directory_, offset_, 4);
  directory_ += name;
  offset_ += local.size() + size;
  ++count_;
  return {};
}

void ZipWriter::finish() {
  std::string end;
  put(end, 0x06054b50, 4);
  put(end, 0, 4);  // this disk, the directory's disk
  put(end, count_, 2);
  put(end, count_, 2);
  put(end, directory_.size(), 4);
  put(end, offset_, 4);
  put(end, 0, 2);  // no comment
  out_ << directory_ << end;
}

}  // namespace rung
