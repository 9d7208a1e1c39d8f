// The table of stacks.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/stack.hpp"

#include <algorithm>

namespace rung::stacks {
namespace {

constexpr auto kStacks = std::to_array<Stack>(
    {{.word = "csv", .format = "shapes", .recording = "", .where = Where::anywhere, .rows = Rows::all},
     {.word = "tunableop",
      .format = "tunableop",
      .recording = "tunableop_untuned",
      .where = Where::gpu,
      .libraries = {"hipblaslt", "rocblas", "cublaslt"},
      .kept_library = "default",
      .kept_name = "Default"},
     {.word = "hipblaslt", .format = "hipblaslt", .recording = "", .libraries = {"hipblaslt"}},
     {.word = "aiter",
      .format = "aiter",
      .recording = "aiter_untuned",
      .libraries = {"hipblaslt"},
      .kept_library = "torch"},
     {.word = "gradlib", .format = "gradlib", .recording = "gradlib_untuned", .libraries = {"hipblaslt", "rocblas"}}});

template <class Matches>
const Stack* stack_where(const Matches& matches) {
  const auto* found = std::ranges::find_if(kStacks, matches);
  return found == kStacks.end() ? nullptr : found;
}

}  // namespace

bool Stack::can_say(const KernelCandidate& candidate) const {
  if (rows == Rows::all) return true;
  const std::string_view library = candidate.kernel->library;
  return !library.empty() && std::ranges::count(libraries, library) && candidate.params.contains("algorithm");
}

std::span<const Stack> stacks() { return kStacks; }

const Stack* stack_named(std::string_view word) {
  return stack_where([&](const Stack& stack) { return stack.word == word; });
}

const Stack* stack_of_format(std::string_view format) {
  return stack_where([&](const Stack& stack) {
    return stack.format == format || (!stack.recording.empty() && stack.recording == format);
  });
}

}  // namespace rung::stacks
