// Reads vocabularies.
// SPDX-License-Identifier: Apache-2.0
#include "text/vocabulary.hpp"

#include <nlohmann/json.hpp>

namespace rung::text {

Result<Vocabulary> Vocabulary::read(const Config& ids) {
  Vocabulary vocabulary;
  vocabulary.ids_.reserve(ids.json().size());
  for (const auto& item : ids.json().items()) {
    RUNG_TRY(const int64_t id, ids.get_int(item.key(), kTokenIds));
    vocabulary.add(item.key(), id);
  }
  return vocabulary;
}

}  // namespace rung::text
