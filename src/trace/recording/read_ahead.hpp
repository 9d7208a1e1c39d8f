// Reads a source on a thread of its own, one chunk ahead, so that disk and unpacking cost the reader no time.
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

  // Swaps the next chunk into `chunk`, whose memory is used again; empty at the end.
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
  std::thread thread_;  // none available, or worth its while: chunks are read when they are asked for
};

}  // namespace rung::trace
