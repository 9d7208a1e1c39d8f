// Splits a kernel's name into the function's own name and its template arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rung::trace {

// Text in which pieces are found by whole words. A word ends between letters, digits and other bytes, and before a
// capital that begins the next word: "PagedKVCache_v2" is Paged, KV, Cache, v and 2.
class WordText {
 public:
  explicit WordText(std::string_view text);

  // Returns whether the text contains `lower` as whole words. '*' at its start or end also matches within a word; '#'
  // at its end: a digit follows. begins_with() looks only at the start of the text.
  bool has(std::string_view lower) const;
  bool begins_with(std::string_view lower) const;
  std::string_view lower() const { return lower_; }

 private:
  struct Piece {
    std::string_view text;
    bool free_begin = false, free_end = false, before_digit = false;
  };
  static Piece piece_of(std::string_view pattern);
  bool fits(const Piece& piece, size_t at) const;

  std::string lower_;
  std::vector<bool> bounds_;  // word ends: before each byte, and after the last
};

// "ns::kernel" and "ns::Tile<4> float" of "void ns::kernel<ns::Tile<4> >(float*)", mangled or not; omits unnamed
// namespaces, and unnamed types of mangled names.
struct KernelName {
  std::string own, arguments;
};
KernelName kernel_name_parts(std::string_view name);

}  // namespace rung::trace
