// Reads one of a tokenizer's parts by the table of its types: a part has a type, and a Sequence has several parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/json_config.hpp"

namespace rung::text {

template <class Part>
struct PartRow {
  const char* type;
  Result<Part> (*read)(const Config&);
};

// The names of a part's field and, in a Sequence, of the field with its list.
struct PartNames {
  const char* one;
  const char* list;
};

// Adds a part, or the parts of a Sequence. The depth is that of the file's JSON, which is limited.
template <class Part>
Status add_parts_of(const Config& part, PartNames names, std::span<const PartRow<Part>> rows,
                    std::vector<Part>& parts) {
  std::vector<std::string> types{"Sequence"};
  for (const auto& row : rows) types.emplace_back(row.type);
  RUNG_TRY(const std::string type, part.get_word("type", types));
  if (type == "Sequence") {
    RUNG_TRY(const auto list, part.get_objects(names.list));
    for (const Config& item : list) RUNG_CHECK(add_parts_of(item, names, rows, parts));
    return {};
  }
  for (const auto& row : rows) {
    if (type != row.type) continue;
    RUNG_TRY(Part made, row.read(part));
    parts.push_back(std::move(made));
  }
  return {};
}

// Reads a field of the tokenizer; none where it is missing.
template <class Part>
Result<std::vector<Part>> read_part_list(const Config& tokenizer, PartNames names,
                                         std::span<const PartRow<Part>> rows) {
  std::vector<Part> parts;
  if (!tokenizer.contains(names.one)) return parts;
  RUNG_TRY(const Config part, tokenizer.get_object(names.one));
  RUNG_CHECK(add_parts_of(part, names, rows, parts));
  return parts;
}

}  // namespace rung::text
