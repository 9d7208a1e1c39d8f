// Translates words by tables, and removes suffixes.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/cuda_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rung::trace {
namespace {

constexpr std::string_view kCopyWords[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                           "DtoA", "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};  // last 3: pages
constexpr std::string_view kMemoryWords[] = {"Pageable", "Pinned", "Device", "Array", "Managed", "Device", "Managed"};
constexpr size_t kLeastVersion = 4;  // digits: "_v7000" is a version, "cuMemAlloc_v2" a name

template <size_t N>
std::string_view word_of(const std::string_view (&words)[N], int64_t number) {
  return number >= 0 && number < static_cast<int64_t>(N) ? words[number] : std::string_view();
}

}  // namespace

std::string_view call_name(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  if (name.size() - digits >= kLeastVersion && name.substr(0, digits).ends_with("_v"))
    name = name.substr(0, digits - 2);
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

std::string_view copy_word(int64_t direction) { return word_of(kCopyWords, direction); }
std::string_view memory_word(int64_t kind) { return word_of(kMemoryWords, kind); }

std::string copy_name(std::string_view direction, std::string_view from, std::string_view to) {
  const std::string name = fmt::format("Memcpy{}{}", direction.empty() ? "" : " ", direction);
  return from.empty() || to.empty() ? name : fmt::format("{} ({} -> {})", name, from, to);
}

}  // namespace rung::trace
