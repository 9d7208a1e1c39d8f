// The safetensors file format: an 8-byte header length, a JSON header, then the tensors' bytes. Files are
// memory-mapped, and validated as a whole before any tensor can be read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.hpp"
#include "base/read_bytes.hpp"
#include "base/status.hpp"
#include "ir/tensor.hpp"

namespace rung {

using Metadata = std::map<std::string, std::string>;

struct SafetensorsHeader {
  struct Entry {
    Type type;
    size_t begin = 0, end = 0;  // bytes from the start of the file
  };
  std::map<std::string, Entry> tensors;
  Metadata metadata;
};

// Checks everything that the format promises: lengths within the file, no duplicate names, known dtypes, sizes that
// agree with shapes, and data covered without overlap or gap. `path` names the file in errors.
Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file, const std::string& path);

class Safetensors {
 public:
  static Result<std::shared_ptr<const Safetensors>> open(const std::string& path);

  const std::string& path() const { return file_->path(); }
  const std::map<std::string, SafetensorsHeader::Entry>& tensors() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  // Shares the mapping (and keeps it alive) if the data is aligned for its dtype, else copies. When the last tensor
  // that shares some data is gone, its pages leave this process's memory; the next load finds them in the page cache.
  // Errors: no such tensor; a bool that is neither 0 nor 1.
  Result<Tensor> load(const std::string& name) const;
  // Copies into memory of its own, on huge pages if it is large: later changes of the file have no effect.
  Result<Tensor> copy(const std::string& name) const;
  // Reads bytes of a tensor of the file, without touching the mapping.
  ReadBytes reader(const std::string& name) const;

 private:
  Result<SafetensorsHeader::Entry> entry(const std::string& name) const;
  std::shared_ptr<std::byte> share(const std::string& name, std::span<const std::byte> data) const;
  Safetensors(std::shared_ptr<MappedFile> file, SafetensorsHeader header)
      : file_(std::move(file)), header_(std::move(header)) {}
  std::shared_ptr<MappedFile> file_;
  SafetensorsHeader header_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::weak_ptr<std::byte>> shared_;  // by tensor
};

// Tensors in file order. Names must differ and not begin with kSafetensorsPadding.
using TensorList = std::vector<std::pair<std::string, Tensor>>;

// The name of padding. Every tensor starts at a multiple of 64 bytes; the format allows no gaps, so padding is a u8
// tensor of its own, which readers of this project do not see.
inline constexpr std::string_view kSafetensorsPadding = "__padding__";
Status write_safetensors(std::ostream& out, const TensorList& tensors, const Metadata& metadata);
Status write_safetensors(const std::string& path, const TensorList& tensors, const Metadata& metadata);  // atomic

}  // namespace rung
