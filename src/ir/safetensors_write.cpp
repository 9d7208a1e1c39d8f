// Writes safetensors files: the header first, padded so that every tensor lies on a 64-byte boundary.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.hpp"
#include "base/json.hpp"
#include "ir/safetensors.hpp"
#include "ir/safetensors_dtype.hpp"

namespace rung {
namespace {

constexpr size_t kAlignment = 64;

size_t padding_after(size_t bytes) { return (kAlignment - bytes % kAlignment) % kAlignment; }

nlohmann::json entry(DType dtype, const Shape& shape, size_t begin, size_t end) {
  return {{"dtype", safetensors_name_of(dtype)},
          {"shape", std::vector<int64_t>(shape.begin(), shape.end())},
          {"data_offsets", {begin, end}}};
}

Status check_names(const TensorList& tensors) {
  std::set<std::string_view> seen;
  for (const auto& [name, tensor] : tensors) {
    if (name == "__metadata__" || name.starts_with(kSafetensorsPadding))
      return fail("tensor name '{}' is reserved in a safetensors file", name);
    if (!seen.insert(name).second) return fail("two tensors are named '{}'", name);
  }
  return {};
}

std::string make_header(const TensorList& tensors, const Metadata& metadata) {
  auto header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t offset = 0, fillers = 0;
  for (const auto& [name, tensor] : tensors) {
    header[name] = entry(tensor.dtype(), tensor.shape(), offset, offset + tensor.bytes());
    offset += tensor.bytes();
    size_t padding = padding_after(offset);
    if (padding == 0) continue;
    auto filler = fmt::format("{}{}", kSafetensorsPadding, fillers++);
    header[filler] = entry(DType::u8, {static_cast<int64_t>(padding)}, offset, offset + padding);
    offset += padding;
  }
  // Names and metadata that are not UTF-8 get replacement characters, so that the file stays readable.
  std::string text = dump_json(header);
  return text.append(padding_after(8 + text.size()), ' ');
}

}  // namespace

Status write_safetensors(std::ostream& out, const TensorList& tensors, const Metadata& metadata) {
  RUNG_CHECK(check_names(tensors));
  std::string header = make_header(tensors, metadata);
  std::array<char, 8> length{};
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
  out.write(length.data(), length.size());
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  static constexpr std::array<char, kAlignment> zeros{};
  for (const auto& [name, tensor] : tensors) {
    out.write(reinterpret_cast<const char*>(tensor.data()), static_cast<std::streamsize>(tensor.bytes()));
    out.write(zeros.data(), static_cast<std::streamsize>(padding_after(tensor.bytes())));
  }
  if (!out) return fail("writing {} tensors failed", tensors.size());
  return {};
}

Status write_safetensors(const std::string& path, const TensorList& tensors, const Metadata& metadata) {
  return write_file_atomically(path, [&](std::ostream& out) { return write_safetensors(out, tensors, metadata); });
}

}  // namespace rung
