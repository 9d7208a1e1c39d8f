// Reads a value at a time, never beyond the bytes given.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code/msgpack.hpp"

namespace rung::amdgpu {
namespace {

using nlohmann::json;

constexpr int kDeepest = 16;

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<json> value(int depth) {
    if (depth > kDeepest) return fail("more than {} levels at byte {}", kDeepest, at_);
    RUNG_TRY(uint64_t tag, number(1));
    if (tag < 0x80) return json(tag);
    if (tag >= 0xe0) return json(static_cast<int64_t>(tag) - 0x100);
    if (tag < 0x90) return map(tag & 0xf, depth);
    if (tag < 0xa0) return array(tag & 0xf, depth);
    if (tag < 0xc0) return string(tag & 0x1f);
    return tagged(tag, depth);
  }
  size_t left() const { return bytes_.size() - at_; }
  size_t at() const { return at_; }

 private:
  Result<json> tagged(uint64_t tag, int depth) {
    constexpr uint64_t kNil = 0xc0, kFalse = 0xc2, kTrue = 0xc3, kUnsigned = 0xcc, kSigned = 0xd0, kString = 0xd9,
                       kArray = 0xdc, kMap = 0xde;
    if (tag == kNil) return json();
    if (tag == kFalse || tag == kTrue) return json(tag == kTrue);
    if (tag >= kUnsigned && tag < kUnsigned + 4) {
      RUNG_TRY(uint64_t got, number(size_t{1} << (tag - kUnsigned)));
      return json(got);
    }
    if (tag >= kSigned && tag < kSigned + 4) return negative(size_t{1} << (tag - kSigned));
    if (tag >= kString && tag < kArray) {
      RUNG_TRY(uint64_t count, number(size_t{1} << (tag - kString)));
      return string(count);
    }
    if (tag == kArray || tag == kArray + 1) {
      RUNG_TRY(uint64_t count, number(tag == kArray ? 2 : 4));
      return array(count, depth);
    }
    if (tag == kMap || tag == kMap + 1) {
      RUNG_TRY(uint64_t count, number(tag == kMap ? 2 : 4));
      return map(count, depth);
    }
    return fail("a value of kind 0x{:02x} at byte {}", tag, at_ - 1);
  }

  Result<std::span<const std::byte>> take(uint64_t count) {
    if (count > left()) return fail("it ends within a value at byte {}", at_);
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  Result<uint64_t> number(size_t width) {  // big-endian
    RUNG_TRY(auto digits, take(width));
    uint64_t got = 0;
    for (std::byte digit : digits) got = got << 8 | static_cast<uint8_t>(digit);
    return got;
  }
  Result<json> negative(size_t width) {
    RUNG_TRY(uint64_t got, number(width));
    const int unused = static_cast<int>(64 - 8 * width);
    return json(static_cast<int64_t>(got << unused) >> unused);
  }
  Result<json> string(uint64_t count) {
    RUNG_TRY(auto letters, take(count));
    return json(std::string(reinterpret_cast<const char*>(letters.data()), letters.size()));
  }
  // Each value takes at least a byte, so a count alone makes nothing large.
  Result<json> array(uint64_t count, int depth) {
    json made = json::array();
    for (uint64_t i = 0; i < count; ++i) {
      RUNG_TRY(json element, value(depth + 1));
      made.push_back(std::move(element));
    }
    return made;
  }
  Result<json> map(uint64_t count, int depth) {
    json made = json::object();
    for (uint64_t i = 0; i < count; ++i) {
      RUNG_TRY(json key, value(depth + 1));
      if (!key.is_string()) return fail("a key that is not a string before byte {}", at_);
      RUNG_TRY(json element, value(depth + 1));
      if (!made.emplace(key.get<std::string>(), std::move(element)).second)
        return fail("a key twice before byte {}", at_);
    }
    return made;
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace

Result<json> parse_msgpack(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  RUNG_TRY(json value, reader.value(0));
  if (reader.left() != 0) return fail("{} bytes are left over after byte {}", reader.left(), reader.at());
  return value;
}

}  // namespace rung::amdgpu
