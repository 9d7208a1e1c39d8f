// Finds the direction by its word, and kinds of memory by the words around the arrow.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/copy_name.hpp"

#include <algorithm>

namespace rung::trace {
namespace {

// A managed page may lie on either side, so it is unknown, as is AMD's "Host", pinned or not.
MemoryKind memory_kind(std::string_view words) {
  const auto has = [&](std::string_view word) { return words.find(word) != std::string_view::npos; };
  if (has("Pageable")) return MemoryKind::pageable;
  if (has("Pinned")) return MemoryKind::pinned;
  return has("Device") || has("Array") ? MemoryKind::device : MemoryKind::unknown;
}

}  // namespace

CopyShape copy_shape(std::string_view name, int64_t bytes) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  CopyShape shape{.bytes = std::max<int64_t>(bytes, -1)};
  shape.host_to_device = has("HtoD") || has("HostToDevice") || has("HOST_TO_DEVICE");
  shape.device_to_host = has("DtoH") || has("DeviceToHost") || has("DEVICE_TO_HOST");
  const size_t arrow = name.find("->"), opened = name.find('(');
  if (arrow == std::string_view::npos || opened == std::string_view::npos || opened > arrow) return shape;
  shape.from = memory_kind(name.substr(opened, arrow - opened));
  shape.to = memory_kind(name.substr(arrow));
  return shape;
}

}  // namespace rung::trace
