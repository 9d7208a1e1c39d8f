// Bundles of code objects as clang writes them, compressed ones too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rung::testing {

// Entries of an offset, a size and a triple, then the objects.
inline std::string bundle_of(const std::vector<std::string>& objects) {
  constexpr size_t kFront = 4096;
  std::string file = "__CLANG_OFFLOAD_BUNDLE__";
  const auto put = [&](uint64_t value) { file.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(objects.size());
  size_t at = kFront;
  for (const std::string& object : objects) {
    const std::string triple = "hipv4-amdgcn-amd-amdhsa--gfx942";
    put(at), put(object.size()), put(triple.size());
    file += triple;
    at += object.size();
  }
  file.resize(kFront);
  for (const std::string& object : objects) file += object;
  return file;
}

inline std::string by_zlib(const std::string& bytes) {
  std::string to(compressBound(bytes.size()), '\0');
  uLongf size = to.size();
  compress(reinterpret_cast<Bytef*>(to.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return to.substr(0, size);
}
inline std::string by_zstd(const std::string& bytes) {
  std::string to(ZSTD_compressBound(bytes.size()), '\0');
  return to.substr(0, ZSTD_compress(to.data(), to.size(), bytes.data(), bytes.size(), 3));
}

// A compressed bundle's header, and what follows it.
struct MadeBundle {
  uint16_t version = 3, method = 1;  // zlib, zstd
  std::string stream;
  uint64_t unpacked_bytes = 0;
  int64_t longer = 0;  // than it is, by what the header says

  std::string file() const {
    std::string made = "CCOB";
    const auto put = [&](auto value) { made.append(reinterpret_cast<const char*>(&value), sizeof value); };
    const auto put_size = [&](uint64_t size) {
      if (version == 3)
        put(size);
      else
        put(static_cast<uint32_t>(size));
    };
    const size_t header = version == 1 ? 20 : version == 2 ? 24 : 32;
    put(version), put(method);
    if (version > 1) put_size(header + stream.size() + static_cast<uint64_t>(longer));
    put_size(unpacked_bytes), put(uint64_t{0x0123456789abcdef});
    return made + stream;
  }
};
inline std::string compressed(const std::string& bundle, uint16_t version, uint16_t method) {
  return MadeBundle{version, method, method == 0 ? by_zlib(bundle) : by_zstd(bundle), bundle.size()}.file();
}

}  // namespace rung::testing
