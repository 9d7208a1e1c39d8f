// Removes suffixes and prefixes of names.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/amd_names.hpp"

#include "trace/recording/csv_number.hpp"

namespace rung::trace {

std::string_view kernel_name(std::string_view descriptor) {
  for (const std::string_view suffix : {" [clone .kd]", " (.kd)", ".kd"})
    if (descriptor.ends_with(suffix)) return descriptor.substr(0, descriptor.size() - suffix.size());
  return descriptor;
}

std::optional<int64_t> agent_number(std::string_view text) {
  for (const std::string_view prefix : {"Agent ", "GPU ", "CPU "})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  return whole_number(text);
}

}  // namespace rung::trace
