// The unpacked text grows as needed: a few bytes may unpack to many.
// SPDX-License-Identifier: Apache-2.0
#include "base/zlib_data.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace rung {
namespace {

constexpr size_t kFirst = size_t{256} << 10;
constexpr int kZlibOrGzip = 15 + 32;  // zlib's setting for either header

}  // namespace

bool inflate_all(std::string_view packed, size_t most, std::string& unpacked) {
  z_stream z{};
  if (inflateInit2(&z, kZlibOrGzip) != Z_OK) return false;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  unpacked.clear();
  int code = Z_OK;
  while (code == Z_OK && unpacked.size() < most) {
    const size_t done = unpacked.size();
    unpacked.resize(std::min(std::max(kFirst, 2 * done), most));
    z.next_out = reinterpret_cast<Bytef*>(unpacked.data() + done);
    z.avail_out = static_cast<uInt>(unpacked.size() - done);
    code = inflate(&z, Z_NO_FLUSH);
    unpacked.resize(unpacked.size() - z.avail_out);
    if (code == Z_OK && z.avail_out > 0) break;  // it needs bytes that are missing
  }
  inflateEnd(&z);
  return code == Z_STREAM_END;
}

std::string deflated(std::string_view text) {
  uLongf bytes = compressBound(text.size());
  std::string packed(bytes, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(packed.data()), &bytes,
                             reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_COMPRESSION);
  if (code != Z_OK) throw std::bad_alloc();  // its only error where the result has room
  packed.resize(bytes);
  return packed;
}

}  // namespace rung
