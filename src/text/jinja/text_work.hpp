// Work on texts that filters and methods share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/callable.hpp"
#include "text/jinja/characters.hpp"

namespace rung::jinja {

enum class Ends : uint8_t { both, left, right };
// Returns a text without the characters of a set at its ends; without white space if there is no set.
std::string_view stripped(std::string_view text, const std::optional<std::string>& characters, Ends ends);

struct Splitting {
  int64_t most = -1;  // splits; all if it is negative
  bool from_right = false;
};
// Splits at a separator, or else at runs of white space, of which none gives an empty part. The bytes of the parts, and
// of a list that holds them, are counted.
Result<std::vector<std::string_view>> split_text(Run& run, std::string_view text,
                                                 const std::optional<std::string>& separator, Splitting splitting);
Result<std::vector<std::string_view>> lines_of(Run& run, std::string_view text, bool keeps_ends);

struct Replacement {
  std::string_view from, to;
};
// Replaces the first `most` places, or all if it is negative. An empty `from` stands between all characters.
Result<std::string> replaced(Run& run, std::string_view text, Replacement replacement, int64_t most);
int64_t count_text(std::string_view text, std::string_view wanted);

// Returns the part between two characters; places below 0 count from the end.
std::string_view part_of(std::string_view text, int64_t begin, int64_t end);

enum class Alignment : uint8_t { left, right, center };
struct Aligned {
  int64_t width = 0;  // characters
  std::string_view fill;
  Alignment alignment = Alignment::left;
};
Result<std::string> aligned(Run& run, std::string_view text, const Aligned& how);

// Returns whether some characters have a case and all of these have this one.
Result<Value> all_cased(Run& run, std::string_view text, bool (*is_of_case)(CodePoint));
std::string titled_words(std::string_view text);
std::string swapped_case(std::string_view text);

// Fills in "{}", "{0}" and "{name}". Errors: a format behind a colon, a conversion, an argument that is not there.
Result<std::string> filled_in(Run& run, std::string_view format, const CallArguments& arguments);

}  // namespace rung::jinja
