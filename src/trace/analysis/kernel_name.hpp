// A kernel's name taken apart: what the function is called, and what its template is given.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rung::trace {

// Text in which pieces are found by whole words. A word ends where letters and digits meet other bytes or one another,
// and where a capital begins the next: "PagedKVCache_v2" is Paged, KV, Cache, v and 2.
class WordText {
 public:
  explicit WordText(std::string_view text);

  // Does `lower` begin and end with words here? '*' at its begin or end: within a word, too; '#' at its end: a digit
  // follows. The second: at the begin of the text.
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
  std::vector<bool> bounds_;  // of words: before each byte, and behind the last
};

// "ns::kernel" and "ns::Tile<4> float" of "void ns::kernel<ns::Tile<4> >(float*)", mangled or not; namespaces without a
// name are left out, and of a mangled name types without one.
struct KernelName {
  std::string own, arguments;
};
KernelName kernel_name_parts(std::string_view name);

}  // namespace rung::trace
