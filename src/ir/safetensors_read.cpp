// Reads safetensors files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/big_block.hpp"
#include "base/json.hpp"
#include "base/limits.hpp"
#include "ir/checked_shape.hpp"
#include "ir/safetensors.hpp"
#include "ir/safetensors_dtype.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using Entry = SafetensorsHeader::Entry;

uint64_t read_u64(const std::byte* p) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | std::to_integer<uint64_t>(p[i]);
  return value;
}

// The place in the header that is being read, for error messages.
struct Place {
  const std::string& path;
  const std::string& name;
};

Result<DType> read_dtype(const Place& at, const Json& info) {
  auto field = info.find("dtype");
  if (field == info.end() || !field->is_string()) return bad_file("'{}': tensor '{}': no dtype", at.path, at.name);
  const auto& text = field->get_ref<const std::string&>();
  if (auto dtype = dtype_of_safetensors(text)) return *dtype;
  return bad_file("'{}': tensor '{}': got dtype '{}', wanted one of {}", at.path, at.name, text, safetensors_dtypes());
}

Result<Shape> read_shape(const Place& at, const Json& info) {
  auto field = info.find("shape");
  if (field == info.end() || !field->is_array()) return bad_file("'{}': tensor '{}': no shape", at.path, at.name);
  std::vector<uint64_t> dims;
  for (const auto& dim : *field) {
    if (!dim.is_number_unsigned())
      return bad_file("'{}': tensor '{}': got dimension {}, wanted a non-negative integer", at.path, at.name,
                      describe(dim));
    dims.push_back(dim.get<uint64_t>());
  }
  auto shape = checked_shape(dims);
  if (!shape) return bad_file("'{}': tensor '{}': {}", at.path, at.name, shape.error().message);
  return *shape;
}

Result<std::pair<uint64_t, uint64_t>> read_offsets(const Place& at, const Json& info, uint64_t data_bytes) {
  auto field = info.find("data_offsets");
  if (field == info.end() || !field->is_array() || field->size() != 2 || !(*field)[0].is_number_unsigned() ||
      !(*field)[1].is_number_unsigned())
    return bad_file("'{}': tensor '{}': data_offsets: wanted two non-negative integers", at.path, at.name);
  auto begin = (*field)[0].get<uint64_t>(), end = (*field)[1].get<uint64_t>();
  if (begin > end || end > data_bytes)
    return bad_file("'{}': tensor '{}': got bytes {} to {}, wanted them in order and within the {} bytes of data",
                    at.path, at.name, begin, end, data_bytes);
  return std::pair{begin, end};
}

Result<Entry> read_entry(const Place& at, const Json& info, size_t data_start, uint64_t data_bytes) {
  if (!info.is_object())
    return bad_file("'{}': tensor '{}': got {}, wanted an object", at.path, at.name, describe(info));
  Entry entry;
  RUNG_TRY(entry.type.dtype, read_dtype(at, info));
  RUNG_TRY(entry.type.shape, read_shape(at, info));
  RUNG_TRY(auto offsets, read_offsets(at, info, data_bytes));
  if (offsets.second - offsets.first != entry.type.bytes())
    return bad_file("'{}': tensor '{}': got {} bytes, wanted {} for {}", at.path, at.name,
                    offsets.second - offsets.first, entry.type.bytes(), entry.type);
  entry.begin = data_start + offsets.first;
  entry.end = data_start + offsets.second;
  return entry;
}

Result<Metadata> read_metadata(const std::string& path, const Json& value) {
  if (!value.is_object()) return bad_file("'{}': __metadata__: got {}, wanted an object", path, describe(value));
  Metadata metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string())
      return bad_file("'{}': __metadata__ '{}': got {}, wanted a string", path, key, describe(text));
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// Checks that every byte of data belongs to exactly one tensor.
Status check_coverage(const std::string& path, const std::map<std::string, Entry>& tensors, size_t begin, size_t end) {
  std::vector<std::pair<const Entry*, const std::string*>> sorted;
  for (const auto& [name, entry] : tensors) sorted.emplace_back(&entry, &name);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first->begin, a.first->end) < std::pair(b.first->begin, b.first->end);
  });
  size_t covered = begin;
  const std::string* last = nullptr;
  for (auto [entry, name] : sorted) {
    if (entry->begin < covered) return bad_file("'{}': tensors '{}' and '{}' overlap", path, *last, *name);
    if (entry->begin > covered)
      return bad_file("'{}': {} bytes before tensor '{}' belong to none", path, entry->begin - covered, *name);
    covered = entry->end;
    last = name;
  }
  if (covered != end) return bad_file("'{}': {} bytes at the end belong to no tensor", path, end - covered);
  return {};
}

// A file as its size and a function that reads it.
struct Source {
  const std::string& path;
  size_t size;
  const ReadBytes& read;
};

Result<std::string> header_text(const Source& file) {
  if (file.size < 8)
    return bad_file("'{}': got {} bytes, wanted at least 8 for a safetensors file", file.path, file.size);
  std::byte first[8];
  RUNG_CHECK(file.read(0, first, sizeof first));
  uint64_t length = read_u64(first);
  if (length > kMaxSafetensorsHeaderBytes)
    return bad_file("'{}': got a header of {} bytes, wanted at most {}", file.path, length, kMaxSafetensorsHeaderBytes);
  if (length > file.size - 8)
    return bad_file("'{}': got {} bytes, wanted a header of {} after the first 8", file.path, file.size, length);
  std::string text(length, '\0');
  RUNG_CHECK(file.read(sizeof first, text.data(), length));
  return text;
}

bool aligned_for(const std::byte* data, DType dtype) { return reinterpret_cast<uintptr_t>(data) % size_of(dtype) == 0; }

Status check_padding(const Source& file, const Entry& padding) {
  std::array<std::byte, 4096> part;
  for (size_t at = padding.begin; at < padding.end; at += part.size()) {
    const auto some = std::span(part).first(std::min(part.size(), padding.end - at));
    RUNG_CHECK(file.read(at, some.data(), some.size()));
    if (std::any_of(some.begin(), some.end(), [](std::byte b) { return b != std::byte{0}; }))
      return bad_file("'{}': damaged: padding between tensors is not zero", file.path);
  }
  return {};
}

Status check_bools(const std::string& path, const std::string& name, std::span<const std::byte> data) {
  auto bad = std::find_if(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; });
  if (bad == data.end()) return {};
  return bad_file("'{}': tensor '{}': got {} at element {}, wanted 0 or 1", path, name, static_cast<int>(*bad),
                  bad - data.begin());
}

Result<SafetensorsHeader> parse(const Source& file) {
  const std::string& path = file.path;
  RUNG_TRY(std::string text, header_text(file));
  RUNG_TRY(Json json, errors_of(ErrorKind::file, parse_json(text, path)));
  if (!json.is_object()) return bad_file("'{}': header: got {}, wanted an object", path, describe(json));
  size_t data_start = 8 + text.size();
  SafetensorsHeader header;
  std::map<std::string, Entry> all;
  for (const auto& [name, info] : json.items()) {
    if (name == "__metadata__") {
      RUNG_TRY(header.metadata, read_metadata(path, info));
    } else {
      RUNG_TRY(all[name], read_entry({path, name}, info, data_start, file.size - data_start));
    }
  }
  RUNG_CHECK(check_coverage(path, all, data_start, file.size));
  for (const auto& [name, entry] : all)
    if (name.starts_with(kSafetensorsPadding)) RUNG_CHECK(check_padding(file, entry));
  std::erase_if(all, [](const auto& item) { return item.first.starts_with(kSafetensorsPadding); });
  header.tensors = std::move(all);
  return header;
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file, const std::string& path) {
  return parse({path, file.size(), [file](size_t at, void* to, size_t bytes) {
                  return std::memcpy(to, file.data() + at, bytes), Status{};
                }});
}

Result<std::shared_ptr<const Safetensors>> Safetensors::open(const std::string& path) {
  RUNG_TRY(auto file, MappedFile::open(path));
  const ReadBytes read = [&](size_t at, void* to, size_t bytes) { return file->read(at, to, bytes); };
  RUNG_TRY(auto header, parse({path, file->bytes().size(), read}));
  return std::shared_ptr<const Safetensors>(new Safetensors(std::move(file), std::move(header)));
}

std::shared_ptr<std::byte> Safetensors::share(const std::string& name, std::span<const std::byte> data) const {
  std::lock_guard lock(mutex_);
  if (auto held = shared_[name].lock()) return held;
  auto fresh = MappedFile::lend(file_, data);
  shared_[name] = fresh;
  return fresh;
}

Result<SafetensorsHeader::Entry> Safetensors::entry(const std::string& name) const {
  auto found = header_.tensors.find(name);
  if (found == header_.tensors.end()) return bad_file("'{}': no tensor '{}'", path(), name);
  return found->second;
}

Result<Tensor> Safetensors::load(const std::string& name) const {
  RUNG_TRY(const Entry found, entry(name));
  const auto& [type, begin, end] = found;
  auto data = file_->bytes().subspan(begin, end - begin);
  if (type.dtype == DType::boolean) RUNG_CHECK(check_bools(path(), name, data));
  if (aligned_for(data.data(), type.dtype)) return Tensor(type, share(name, data));
  Tensor copy(type);
  std::memcpy(copy.data(), data.data(), data.size());
  return copy;
}

Result<Tensor> Safetensors::copy(const std::string& name) const {
  RUNG_TRY(const Entry found, entry(name));
  auto block = allocate_block(found.end - found.begin);
  if (!block) return no_memory("'{}': tensor '{}': no memory for {} bytes", path(), name, found.end - found.begin);
  RUNG_CHECK(file_->read(found.begin, block.get(), found.end - found.begin));
  if (found.type.dtype == DType::boolean) RUNG_CHECK(check_bools(path(), name, {block.get(), found.end - found.begin}));
  return Tensor(found.type, std::move(block));
}

ReadBytes Safetensors::reader(const std::string& name) const {
  return [file = file_, begin = header_.tensors.at(name).begin](size_t at, void* to, size_t bytes) {
    return file->read(begin + at, to, bytes);
  };
}

}  // namespace rung
