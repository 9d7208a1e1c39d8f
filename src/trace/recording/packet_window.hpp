// Reads the packets of a Perfetto trace one after another: a trace is a list of packets, each after its length.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/recording/read_ahead.hpp"

namespace rung::trace {

class PacketWindow {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;  // for one packet

  explicit PacketWindow(ByteSource source, size_t most_bytes = kMostBytes)
      : path_(source.path()), most_bytes_(most_bytes), chunks_(std::move(source)) {}

  // Returns the next packet, which stays in place until the next call; false: there is none. Errors give the byte.
  Result<bool> next(std::string_view& packet);
  uint64_t byte() const { return before_ + at_; }  // after the packet
  const std::string& path() const { return path_; }

 private:
  enum class Part : uint8_t { packet, other, more, bad };
  Part scan(std::string_view& content);
  Result<bool> refill();  // false: there is no more

  std::string path_;
  size_t most_bytes_;
  ReadAhead chunks_;
  std::string chunk_, bytes_;
  size_t at_ = 0;        // in `bytes_`: the end of the scanned part
  uint64_t before_ = 0;  // bytes of the whole trace before `bytes_`
};

// Returns whether the first bytes of a file are a packet's, as far as they reach.
bool begins_with_packet(std::string_view head);

}  // namespace rung::trace
