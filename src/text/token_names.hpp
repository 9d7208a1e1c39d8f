// The tokens of ids, for the way back.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/added_tokens.hpp"
#include "text/vocabulary.hpp"

namespace rung::text {

class TokenNames {
 public:
  struct Name {
    int64_t id = 0;
    std::string token;
    bool special = false;
  };

  // An added token goes before one of the vocabulary with its id.
  TokenNames(const Vocabulary& vocabulary, const AddedTokens& added);
  // Returns null if no token has that id.
  const Name* find(int64_t id) const;
  // Returns the first id whose token is another one there, or that one of the two lacks. Nullopt: there is none.
  std::optional<int64_t> first_difference(const TokenNames& other) const;

 private:
  std::vector<Name> names_;  // by id, each once
};

}  // namespace rung::text
