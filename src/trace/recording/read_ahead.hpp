// Reads a source on its own thread, one chunk ahead, so that the reader does not wait for disk and unpacking.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "trace/recording/byte_source.hpp"

namespace rung::trace {

class ReadAhead {
 public:
  static constexpr size_t kChunk = size_t{1} << 20;

  explicit ReadAhead(ByteSource source);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Swaps the next chunk into `chunk`, whose memory is reused; empty at the end.
  Status next(std::string& chunk);

 private:
  void read_chunks();
  Status read_chunk(std::string& chunk);
  bool hand_over(std::string& chunk, Status status);

  ByteSource source_;
  size_t chunk_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> ready_;
  std::string spare_;
  Status status_;
  bool stopped_ = false;
  std::thread thread_;  // none if unavailable or not worthwhile: then chunks are read on demand
};

}  // namespace rung::trace
