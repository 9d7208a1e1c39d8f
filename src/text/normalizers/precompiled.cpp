// SentencePiece's compiled rules: a double-array trie whose values are places in a block of replacement texts.
// SPDX-License-Identifier: Apache-2.0
#include <utf8proc.h>

#include <cstring>
#include <memory>

#include "base/base64.hpp"
#include "text/normalizers/normalizers.hpp"

namespace rung::text {
namespace {

// A longer cluster of characters is looked up character by character, as the published library does.
constexpr size_t kMostClusterBytes = 5;

class CharacterMap {
 public:
  // Reads the bytes: the size of the trie, its units, all little-endian, then texts, each ended by a zero.
  static Result<CharacterMap> make(std::string_view bytes, const std::string& what) {
    uint32_t size = 0;
    if (bytes.size() < sizeof(size)) return bad_file("'{}': got {} bytes, wanted a map", what, bytes.size());
    std::memcpy(&size, bytes.data(), sizeof(size));
    bytes.remove_prefix(sizeof(size));
    if (size > bytes.size() || size % sizeof(uint32_t) != 0 || size == 0)
      return bad_file("'{}': its trie has {} bytes of {}, wanted a multiple of four within the map", what, size,
                      bytes.size());
    CharacterMap map;
    map.units_.resize(size / sizeof(uint32_t));
    std::memcpy(map.units_.data(), bytes.data(), size);
    map.texts_ = bytes.substr(size);
    if (as_utf8(map.texts_) != map.texts_) return bad_file("'{}': its texts are not UTF-8", what);
    return map;
  }

  // Returns the replacement of the shortest key that `text` begins with; null if there is none, or if
  // a damaged trie leads elsewhere.
  const char* find(std::string_view text) const {
    size_t node = offset(units_[0]);
    for (char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      node ^= byte;
      if (byte == 0 || node >= units_.size() || label(units_[node]) != byte) return nullptr;
      const uint32_t unit = units_[node];
      node ^= offset(unit);
      if (!has_leaf(unit)) continue;
      if (node >= units_.size()) return nullptr;
      const size_t at = units_[node] & 0x7fffffff;
      const bool is_begin = at < texts_.size() && (static_cast<unsigned char>(texts_[at]) & 0xc0) != 0x80;
      return is_begin ? texts_.c_str() + at : nullptr;
    }
    return nullptr;
  }

 private:
  static bool has_leaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
  static uint32_t label(uint32_t unit) { return unit & 0x800000ff; }
  static size_t offset(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & 0x200) >> 6); }

  std::vector<uint32_t> units_;
  std::string texts_;
};

// Returns the end of the cluster of characters, as a reader sees them, that begins at `begin`.
size_t cluster_end(std::string_view text, size_t begin) {
  size_t at = begin;
  CodePoint previous = next_character(text, at);
  utf8proc_int32_t state = 0;
  while (at < text.size()) {
    size_t after = at;
    const CodePoint c = next_character(text, after);
    if (utf8proc_grapheme_break_stateful(previous, c, &state)) return at;
    previous = c;
    at = after;
  }
  return at;
}

void map_cluster(std::string_view cluster, const CharacterMap& map, std::string& out) {
  const char* whole = cluster.size() <= kMostClusterBytes ? map.find(cluster) : nullptr;
  if (whole) {
    out += whole;
    return;
  }
  for (size_t at = 0; at < cluster.size();) {
    const std::string_view character = cluster.substr(at, bytes_of_character(cluster[at]));
    const char* one = map.find(character);
    one ? out += one : out += character;
    at += character.size();
  }
}

}  // namespace

Result<Normalizer> read_precompiled(const Config& part) {
  RUNG_TRY(const std::string text, part.get_text("precompiled_charsmap"));
  const std::string what = part.what() + ": precompiled_charsmap";
  RUNG_TRY(const std::string bytes, decode_base64(text, what));
  if (bytes.empty()) return [](Piece&) -> Status { return {}; };
  RUNG_TRY(CharacterMap made, CharacterMap::make(bytes, what));
  auto map = std::make_shared<const CharacterMap>(std::move(made));
  // The published library does not count what is dropped here: the piece still begins where the text does.
  return [map](Piece& piece) -> Status {
    std::string out;
    for (size_t at = 0; at < piece.text.size();) {
      const size_t end = cluster_end(piece.text, at);
      map_cluster(std::string_view(piece.text).substr(at, end - at), *map, out);
      at = end;
    }
    piece.text = std::move(out);
    return {};
  };
}

}  // namespace rung::text
