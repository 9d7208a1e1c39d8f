// Details are words of the form "key:value", separated by blanks.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/xla_events.hpp"

#include <algorithm>
#include <charconv>

#include "trace/recording/copy_name.hpp"
#include "trace/recording/launch_numbers.hpp"

namespace rung::trace {
namespace {

std::optional<int64_t> number_in_front(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value >= 0 ? std::optional(value) : std::nullopt;
}

// Returns "128,1,1" for "block:" in "regs:32 block:128,1,1 occ_pct:100".
std::string_view value_of(std::string_view details, std::string_view key) {
  for (size_t at = details.find(key); at != details.npos; at = details.find(key, at + 1)) {
    if (at > 0 && details[at - 1] != ' ') continue;
    const std::string_view value = details.substr(at + key.size());
    return value.substr(0, value.find(' '));
  }
  return {};
}

std::array<uint32_t, 3> extents_of(std::string_view text) {
  std::array<uint32_t, 3> extents{};
  for (uint32_t& extent : extents) {
    extent = count_of(number_in_front(text));
    const size_t comma = text.find(',');
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
  }
  return extents;
}

LaunchShape launch_of(std::string_view details) {
  const auto number = [&](std::string_view key) { return number_in_front(value_of(details, key)).value_or(0); };
  return {.grid = extents_of(value_of(details, "grid:")),
          .block = extents_of(value_of(details, "block:")),
          .registers = count_of(number("regs:")),
          .shared_bytes = count_of(number("static_shared:") + number("dynamic_shared:") + number("shared:"))};
}

MemoryKind memory_kind(std::string_view word) {
  if (word == "pageable") return MemoryKind::pageable;
  if (word == "pinned" || word == "host") return MemoryKind::pinned;
  return word == "device" || word == "array" ? MemoryKind::device : MemoryKind::unknown;
}

// Reads "MemcpyH2D" with "kind_src:pageable kind_dst:device size:4096".
CopyShape copy_of(std::string_view name, std::string_view details) {
  CopyShape shape = copy_shape(name, number_in_front(value_of(details, "size:")).value_or(-1));
  shape.host_to_device |= name.find("H2D") != name.npos;
  shape.device_to_host |= name.find("D2H") != name.npos;
  shape.from = memory_kind(value_of(details, "kind_src:"));
  shape.to = memory_kind(value_of(details, "kind_dst:"));
  return shape;
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Recognises "cuLaunchKernel", "cudaMemcpyAsync", "hipModuleLaunchKernel".
bool is_call(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu", "hip"})
    if (name.starts_with(prefix) && name.size() > prefix.size() && is_upper(name[prefix.size()])) return true;
  return false;
}

bool has_any_case(std::string_view name, std::string_view capital, std::string_view lower) {
  return name.starts_with(capital) || name.starts_with(lower);
}

}  // namespace

std::optional<int64_t> XlaEvents::gpu_of(std::string_view plane) {
  constexpr std::string_view kGpu = "/device:GPU:";
  return plane.starts_with(kGpu) ? number_in_front(plane.substr(kGpu.size())) : std::nullopt;
}

std::optional<int64_t> XlaEvents::stream_of(std::string_view line) {
  constexpr std::string_view kStream = "Stream #";
  return line.starts_with(kStream) ? number_in_front(line.substr(kStream.size())) : std::nullopt;
}

uint32_t XlaEvents::link_of(int64_t correlation) { return count_of(correlation); }

bool XlaEvents::add(const Piece& piece, Event event) {
  if (!piece.start_ns || !piece.duration_ns) return builder_.skip("a time that is missing or no number"), false;
  ++taken_;
  event.name = builder_.text(piece.name);
  event.start_ns = *piece.start_ns;
  event.duration_ns = *piece.duration_ns;
  builder_.add(event);
  return true;
}

void XlaEvents::take_work(const Piece& piece, int64_t device, int64_t stream, const Details& details) {
  Event event{.link = link_of(piece.correlation), .lane = builder_.device_lane(device, stream)};
  if (!details.copy.empty() || has_any_case(piece.name, "Memcpy", "memcpy")) {
    event.kind = EventKind::copy;
    event.detail = builder_.copy(copy_of(piece.name, details.copy));
  } else if (!details.fill.empty() || has_any_case(piece.name, "Memset", "memset")) {
    event.kind = EventKind::fill;
  } else {
    event.detail = builder_.launch(launch_of(details.kernel));
  }
  add(piece, event);
}

void XlaEvents::take_host(const Piece& piece, int64_t process, int64_t thread, bool step) {
  if (piece.name.starts_with('$')) return builder_.skip("functions of Python");
  Event event{.lane = builder_.host_lane(process, thread), .kind = EventKind::host_op};
  if (step) event.kind = EventKind::range;
  if (!step && is_call(piece.name)) {
    event.kind = EventKind::runtime_call;
    event.link = link_of(piece.correlation);
  }
  add(piece, event);
}

}  // namespace rung::trace
