// Stacks that load tuned products: their formats, and the libraries whose solutions they can name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/choice.hpp"
#include "tune/candidates.hpp"

namespace rung::stacks {

enum class Where : uint8_t { anywhere, gpu, amd_gpu };

struct Stack {
  std::string_view word;       // for --format
  std::string_view format;     // in stacks/files
  std::string_view recording;  // the format of its lists of products to tune; empty: none
  Where where = Where::amd_gpu;
  Rows rows = Rows::library;  // the rows that it can run
  std::array<std::string_view, 3> libraries{};
  // A row's words if the default is kept, as Solution::library and ::name; no library: no row is written.
  std::string_view kept_library, kept_name;

  // Returns whether a row can name it: a library's algorithm by its number; the library's own choice has none.
  bool can_say(const KernelCandidate& candidate) const;
};

std::span<const Stack> stacks();
const Stack* stack_named(std::string_view word);        // null: none
const Stack* stack_of_format(std::string_view format);  // of its files or recordings; null: none

}  // namespace rung::stacks
