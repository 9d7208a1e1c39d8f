// Reads the members of a PT2 archive: the program, and the raw bytes of weights, mapped in place.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/archive.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/whole.hpp"
#include "import/exported/inputs.hpp"
#include "import/pt2/scalar_type.hpp"
#include "ir/bool_bytes.hpp"
#include "ir/checked_shape.hpp"

namespace rung::pt2 {
namespace {

using nlohmann::json;

constexpr uint64_t kMostProgramBytes = uint64_t{1} << 30;

int64_t as_int(const json& value) {
  return value.is_object() ? whole<int64_t>(value.at("as_int")) : whole<int64_t>(value);
}

std::vector<int64_t> as_ints(const json& list) {
  std::vector<int64_t> values;
  for (const json& value : list) values.push_back(as_int(value));
  return values;
}

int64_t doubled(int64_t number) { return 2 * std::clamp(number, INT64_MIN / 2, INT64_MAX / 2); }

Result<Shape> shape_of(const std::vector<int64_t>& sizes) {
  const auto negative = std::ranges::find_if(sizes, [](int64_t size) { return size < 0; });
  if (negative != sizes.end()) return fail("got size {}", *negative);
  return checked_shape(std::vector<uint64_t>(sizes.begin(), sizes.end()));
}

}  // namespace

// Where a tensor's elements lie in a member.
struct Archive::Payload {
  std::string member;
  Type type;
  Strides strides;
  int64_t offset = 0;  // in elements
  bool is_pickled = false;
  bool is_double = false;   // of float64, and `type` is what has its size
  bool is_complex = false;  // of complex64, and `type` is that of its parts
  std::string unknown;      // why its type cannot be read; empty: it can
};

namespace {

class ArchiveWeight : public Weight {
 public:
  ArchiveWeight(std::string name, Type type, std::shared_ptr<MappedFile> file, std::span<const std::byte> bytes,
                Strides strides)
      : Weight(std::move(name), type), file_(std::move(file)), bytes_(bytes), strides_(strides) {}

  Result<Tensor> load() const override {
    if (type().dtype == DType::boolean) RUNG_CHECK(check_bools(file_->path(), name(), type(), bytes_.data()));
    const bool dense = strides_ == contiguous_strides(type().shape);
    if (dense && reinterpret_cast<uintptr_t>(bytes_.data()) % size_of(type().dtype) == 0)
      return Tensor(type(), MappedFile::lend(file_, bytes_.first(type().bytes())));
    Tensor copy(type());
    copy_elements(copy);
    return copy;
  }

 private:
  void copy_elements(Tensor& to) const {
    const size_t size = size_of(type().dtype);
    const Shape& shape = type().shape;
    Dims at = Dims::filled(shape.rank(), 0);
    for (int64_t i = 0; i < type().elements(); ++i) {
      int64_t place = 0;
      for (int axis = 0; axis < shape.rank(); ++axis) place += at[axis] * strides_[axis];
      std::memcpy(to.data() + static_cast<size_t>(i) * size, bytes_.data() + static_cast<size_t>(place) * size, size);
      for (int axis = shape.rank() - 1; axis >= 0 && ++at[axis] == shape[axis]; --axis) at[axis] = 0;
    }
  }

  std::shared_ptr<MappedFile> file_;
  std::span<const std::byte> bytes_;  // from its first element on
  Strides strides_;
};

}  // namespace

Result<std::shared_ptr<const Archive>> Archive::open(const std::string& path) {
  RUNG_TRY(auto file, MappedFile::open(path));
  std::shared_ptr<Archive> archive(new Archive(std::move(file)));
  RUNG_CHECK(archive->find_members());
  for (const char* folder : {"data/weights/", "data/constants/"}) RUNG_CHECK(archive->read_contents(folder));
  return archive;
}

// Members stand in one folder, whose name is the writer's choice.
Status Archive::find_members() {
  RUNG_TRY(std::vector<ZipMember> members, read_zip_directory(file_->bytes(), path()));
  std::string root;
  bool found = false;
  for (const ZipMember& member : members)
    if (std::string_view(member.name).ends_with("archive_format")) {
      root = member.name.substr(0, member.name.size() - std::string_view("archive_format").size());
      found = true;
    }
  if (!found)
    return bad_file("'{}': got a zip archive without 'archive_format', wanted one of torch.export.save()", path());
  for (ZipMember& member : members)
    if (member.name.starts_with(root)) members_.emplace(member.name.substr(root.size()), std::move(member));
  return {};
}

Result<json> Archive::json(const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) return bad_file("'{}': got no member '{}'", path(), name);
  if (found->second.size > kMostProgramBytes)
    return bad_file("'{}': member '{}': got {} bytes, wanted at most {}", path(), name, found->second.size,
                    kMostProgramBytes);
  ZipReader reader(found->second);
  std::string text(found->second.size, '\0');
  Status status = reader.read(std::as_writable_bytes(std::span(text)));
  if (status) status = reader.finish();
  if (!status) return fail_in(status.error(), "'{}': member '{}'", path(), name);
  return parse_json(text, fmt::format("{}: {}", path(), name));
}

Result<json> Archive::program() const {
  std::vector<std::string> programs;
  for (const auto& [name, member] : members_)
    if (name.starts_with("models/") && name.ends_with(".json")) programs.push_back(name);
  if (programs.size() != 1)
    return bad_file("'{}': got {} programs ({}), wanted one in models/*.json", path(), programs.size(),
                    fmt::join(programs, ", "));
  return json(programs[0]);
}

// data/weights/MODEL_weights_config.json, of older writers model_weights_config.json or *_model_param_config.json.
Status Archive::read_contents(std::string_view folder) {
  const std::string at(folder);
  for (const auto& [name, member] : members_) {
    if (!name.starts_with(at) || !name.ends_with("_config.json")) continue;
    RUNG_TRY(const auto config, json(name));
    std::string weight;  // that is read; empty: none
    try {
      for (const auto& [key, entry] : config.at("config").items()) {
        weight = key;
        payloads_.emplace(weight, std::make_shared<Payload>(read_payload(at, entry)));
      }
    } catch (const std::exception& exception) {
      const std::string of = weight.empty() ? "" : fmt::format("'{}': ", weight);
      return bad_file("'{}': member '{}': {}{}", path(), name, of, reason_of(exception));
    }
  }
  return {};
}

Archive::Payload Archive::read_payload(const std::string& folder, const nlohmann::json& entry) {
  Payload payload{.member = folder + entry.at("path_name").get<std::string>(),
                  .is_pickled = entry.value("use_pickle", false)};
  const auto& meta = entry.at("tensor_meta");
  if (meta.is_null()) return payload;
  payload.is_double = whole<int64_t>(meta.at("dtype")) == kFloat64;
  payload.is_complex = whole<int64_t>(meta.at("dtype")) == kComplex64;
  const Result<DType> dtype = payload.is_double    ? Result<DType>(DType::i64)
                              : payload.is_complex ? Result<DType>(DType::f32)
                                                   : dtype_of_number(whole<int64_t>(meta.at("dtype")));
  auto sizes = as_ints(meta.at("sizes")), strides = as_ints(meta.at("strides"));
  const int64_t layout = whole<int64_t>(meta.at("layout"));
  payload.offset = as_int(meta.at("storage_offset"));
  if (payload.is_complex) {  // the parts of a number stand side by side
    for (int64_t& stride : strides) stride = doubled(stride);
    payload.offset = doubled(payload.offset);
    sizes.push_back(2), strides.push_back(1);
  }
  const auto shape = shape_of(sizes);
  if (!dtype) {
    payload.unknown = dtype.error().message;
  } else if (!shape) {
    payload.unknown = shape.error().message;
  } else if (strides.size() != static_cast<size_t>(shape->rank())) {
    payload.unknown = fmt::format("got {} strides for shape {}", strides.size(), *shape);
  } else if (layout != kStrided) {
    payload.unknown = fmt::format("got layout {}, wanted {} (strided)", layout, kStrided);
  } else {
    payload.type = {*dtype, *shape};
    payload.strides = Strides(std::span(strides));
  }
  return payload;
}

// The bytes of a tensor, from its first element on. Errors: it reaches beyond what there is.
Result<std::span<const std::byte>> Archive::bytes_of(const std::string& name, const Payload& payload) const {
  const auto member = members_.find(payload.member);
  if (member == members_.end()) return bad_file("'{}': tensor '{}': got no member '{}'", path(), name, payload.member);
  const std::span<const std::byte> bytes = member->second.packed;
  if (member->second.deflated)
    return bad_file("'{}': member '{}': got deflated bytes, wanted them as they are", path(), payload.member);
  if (payload.type.elements() == 0) return bytes.first(0);
  const int64_t size = static_cast<int64_t>(size_of(payload.type.dtype));
  const int64_t elements = static_cast<int64_t>(bytes.size()) / size;
  int64_t last = payload.offset;  // the element that lies furthest behind
  bool is_within = last >= 0 && last < elements;
  for (int axis = 0; axis < payload.strides.rank() && is_within; ++axis) {
    const int64_t stride = payload.strides[axis], steps = payload.type.shape[axis] - 1;
    is_within = stride >= 0 && (steps == 0 || stride <= (elements - 1 - last) / steps);
    if (is_within) last += steps * stride;
  }
  if (!is_within)
    return bad_file("'{}': tensor '{}': got strides {} from element {} for {}, wanted all within {} elements", path(),
                    name, payload.strides, payload.offset, payload.type, elements);
  return bytes.subspan(static_cast<size_t>(payload.offset * size));
}

Result<std::shared_ptr<const Weight>> Archive::weight(const std::string& name) const {
  const auto found = payloads_.find(name);
  if (found == payloads_.end()) return bad_file("'{}': got no tensor '{}'", path(), name);
  const Payload& payload = *found->second;
  if (payload.is_pickled)
    return bad_file(
        "'{}': tensor '{}' is kept as a pickle, which is never read: make it a plain tensor and export again", path(),
        name);
  if (!payload.unknown.empty()) return bad_file("'{}': tensor '{}': {}", path(), name, payload.unknown);
  if (payload.is_double)
    return bad_file("'{}': tensor '{}': {}", path(), name, dtype_of_number(kFloat64).error().message);
  RUNG_TRY(const auto bytes, bytes_of(name, payload));
  return std::make_shared<ArchiveWeight>(name, payload.type, file_, bytes, payload.strides);
}

bool Archive::is_complex(const std::string& name) const {
  const auto found = payloads_.find(name);
  return found != payloads_.end() && found->second->is_complex;
}

Result<std::optional<Doubles>> Archive::doubles(const std::string& name) const {
  const auto found = payloads_.find(name);
  if (found == payloads_.end() || !found->second->is_double || found->second->is_pickled ||
      !found->second->unknown.empty() || found->second->type.elements() > exported::kMostMade)
    return std::nullopt;
  const Payload& payload = *found->second;
  RUNG_TRY(const auto bytes, bytes_of(name, payload));
  RUNG_TRY(const Tensor bits, ArchiveWeight(name, payload.type, file_, bytes, payload.strides).load());
  Doubles all{payload.type.shape, {}};
  for (int64_t value : bits.as<int64_t>()) all.values.push_back(std::bit_cast<double>(value));
  return all;
}

}  // namespace rung::pt2
