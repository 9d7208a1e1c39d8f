// Reads the two spellings of when a mark is put before a text.
// SPDX-License-Identifier: Apache-2.0
#include "text/metaspace.hpp"

#include "text/unicode.hpp"

namespace rung::text {

Result<Metaspace> read_metaspace_settings(const Config& part) {
  Metaspace metaspace;
  RUNG_TRY(metaspace.mark, part.get_text("replacement"));
  if (count_characters(metaspace.mark) != 1)
    return bad_file("'{}': field 'replacement': got '{}', wanted one character", part.what(), metaspace.mark);
  RUNG_TRY(metaspace.splits, part.get_bool_or("split", true));
  RUNG_TRY(const bool adds, part.get_bool_or("add_prefix_space", true));
  std::string scheme = adds ? "always" : "never";
  if (part.contains("prepend_scheme")) {
    RUNG_TRY(scheme, part.get_word("prepend_scheme", {"always", "first", "never"}));
    if (!adds && scheme != "never")
      return bad_file("'{}': got prepend_scheme '{}' with add_prefix_space false, wanted 'never'", part.what(), scheme);
  }
  metaspace.prepends = scheme == "always"  ? Metaspace::Prepends::always
                       : scheme == "first" ? Metaspace::Prepends::first
                                           : Metaspace::Prepends::never;
  return metaspace;
}

}  // namespace rung::text
