// English spelling, which texts lose whose words and marks a model sees apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/replacer.hpp"

namespace rung::text {

// Drops the blanks before English marks and endings, such as those in "it 's , ok", of a text that comes in parts.
class CleanUp {
 public:
  CleanUp();
  // Takes the next part; returns what is certain now.
  std::string add(std::string part);
  std::string end();

 private:
  std::vector<Replacer> replacers_;  // each sees what the one before leaves
};

}  // namespace rung::text
