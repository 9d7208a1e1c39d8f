// Reads and writes arrays in .npz archives.
// SPDX-License-Identifier: Apache-2.0
#include "import/npz.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/limits.hpp"
#include "base/mapped_file.hpp"
#include "import/npy_header.hpp"
#include "import/zip.hpp"
#include "ir/checked_shape.hpp"
#include "ir/with_type.hpp"

namespace rung {
namespace {

struct NpyType {
  std::string_view descr;
  DType dtype;
  size_t bytes;  // in the file
};
constexpr NpyType kTypes[] = {
    {"<f4", DType::f32, 4}, {"<f2", DType::f16, 2}, {"<f8", DType::f32, 8}, {"<i8", DType::i64, 8},
    {"<i4", DType::i32, 4}, {"|i1", DType::i8, 1},  {"|u1", DType::u8, 1},  {"|b1", DType::boolean, 1},
};

const NpyType* type_named(std::string_view descr) {
  auto found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return t.descr == descr; });
  return found == std::end(kTypes) ? nullptr : found;
}
const NpyType& type_of(DType dtype) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return t.dtype == dtype; });
}

// Reads magic, version, then the header's length in 2 bytes (version 1) or 4 (2 and 3).
Result<std::string> read_header_text(ZipReader& reader) {
  std::array<unsigned char, 8> start{};
  RUNG_CHECK(reader.read(std::as_writable_bytes(std::span(start))));
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0) return fail("not a .npy array");
  if (start[6] < 1 || start[6] > 3 || start[7] != 0)
    return fail("got .npy version {}.{}, wanted 1.0, 2.0 or 3.0", start[6], start[7]);
  std::array<unsigned char, 4> digits{};
  RUNG_CHECK(reader.read(std::as_writable_bytes(std::span(digits).first(start[6] == 1 ? 2 : 4))));
  uint64_t length = digits[0] | uint64_t{digits[1]} << 8 | uint64_t{digits[2]} << 16 | uint64_t{digits[3]} << 24;
  uint64_t most = std::min(kMaxArrayHeaderBytes, reader.remaining());
  if (length > most) return fail("got an array header of {} bytes, wanted at most {}", length, most);
  std::string text(length, '\0');
  RUNG_CHECK(reader.read(std::as_writable_bytes(std::span(text))));
  return text;
}

Status read_doubles(ZipReader& reader, Tensor& tensor) {
  std::array<double, 4096> block{};
  auto out = tensor.as<float>();
  for (size_t begin = 0; begin < out.size(); begin += block.size()) {
    auto piece = std::span(block).first(std::min(block.size(), out.size() - begin));
    RUNG_CHECK(reader.read(std::as_writable_bytes(piece)));
    std::transform(piece.begin(), piece.end(), out.begin() + static_cast<ptrdiff_t>(begin),
                   [](double value) { return static_cast<float>(value); });
  }
  return {};
}

Status check_bools(const Tensor& tensor) {
  auto bad = std::find_if(tensor.data(), tensor.data() + tensor.bytes(), [](std::byte b) { return b > std::byte{1}; });
  if (bad == tensor.data() + tensor.bytes()) return {};
  return fail("got {} at element {}, wanted 0 or 1", static_cast<int>(*bad), bad - tensor.data());
}

// Converts column-major to row-major: walks the result in order and steps through the source.
Tensor from_fortran_order(const Tensor& from) {
  Tensor to(from.type());
  const Shape& shape = from.shape();
  size_t width = size_of(from.dtype());
  Dims index = Dims::filled(shape.rank(), 0), stride = Dims::filled(shape.rank(), 1);
  for (int i = 1; i < shape.rank(); ++i) stride[i] = stride[i - 1] * shape[i - 1];
  int64_t source = 0;
  for (int64_t i = 0; i < to.elements(); ++i) {
    std::memcpy(to.data() + static_cast<size_t>(i) * width, from.data() + static_cast<size_t>(source) * width, width);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      source += stride[axis];
      if (++index[axis] < shape[axis]) break;
      source -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return to;
}

// A member's description of itself, read before any of its data is unpacked.
struct ArrayHeader {
  const ZipMember* member = nullptr;
  uint64_t bytes = 0;  // bytes of the header itself
  const NpyType* element = nullptr;
  bool fortran_order = false;
  Type type;
};

Result<ArrayHeader> read_header(const ZipMember& member) {
  ZipReader reader(member);
  RUNG_TRY(std::string text, read_header_text(reader));
  RUNG_TRY(auto header, parse_npy_header(text));
  const NpyType* element = type_named(header.descr);
  if (!element)
    return fail("got element type '{}', wanted one of <f2, <f4, <f8, |i1, |u1, <i4, <i8, |b1", header.descr);
  RUNG_TRY(Shape shape, checked_shape(header.shape));
  uint64_t wanted = static_cast<uint64_t>(shape.product()) * element->bytes;
  if (wanted != reader.remaining())
    return fail("got {} bytes of data, wanted {} for {} {}", reader.remaining(), wanted, header.descr, shape);
  return ArrayHeader{&member, member.size - wanted, element, header.fortran_order, {element->dtype, shape}};
}

Result<Tensor> read_array(const ArrayHeader& header) {
  ZipReader reader(*header.member);
  std::vector<std::byte> skipped(header.bytes);
  RUNG_CHECK(reader.read(skipped));
  Tensor tensor(header.type);
  if (header.element->descr == "<f8") {
    RUNG_CHECK(read_doubles(reader, tensor));
  } else {
    RUNG_CHECK(reader.read({tensor.data(), tensor.bytes()}));
  }
  RUNG_CHECK(reader.finish());
  if (header.type.dtype == DType::boolean) RUNG_CHECK(check_bools(tensor));
  return header.fortran_order ? from_fortran_order(tensor) : tensor;
}

using ArrayHeaders = std::map<std::string, ArrayHeader>;

// Reads the headers of every array that `wants` keeps.
Result<ArrayHeaders> read_headers(const std::vector<ZipMember>& members, const WantsArray& wants,
                                  const std::string& path) {
  ArrayHeaders kept;
  std::set<std::string> names;
  uint64_t total = 0;
  for (const auto& member : members) {
    if (!member.name.ends_with(".npy")) return fail("'{}': got member '{}', wanted only *.npy", path, member.name);
    std::string name = member.name.substr(0, member.name.size() - 4);
    if (!names.insert(name).second) return fail("'{}': two arrays are named '{}'", path, name);
    auto header = read_header(member);
    if (!header) return fail_in(header.error(), "'{}': array '{}'", path, name);
    Result<bool> wanted = wants ? wants(name, header->type) : true;
    if (!wanted) return tl::unexpected(wanted.error());
    if (!*wanted) continue;
    total += header->type.bytes();
    if (total > kMaxArchiveBytes)
      return fail("'{}': got arrays of {} bytes or more, wanted at most {}", path, total, kMaxArchiveBytes);
    kept.emplace(std::move(name), *header);
  }
  return kept;
}

Status add_array(ZipWriter& zip, const std::string& name, const Tensor& array) {
  const bool has_no_type = array.dtype() == DType::bf16 || is_f8(array.dtype());  // of numpy
  Tensor value = has_no_type ? convert(array, DType::f32) : array;
  NpyHeader header{std::string(type_of(value.dtype()).descr), false, {value.shape().begin(), value.shape().end()}};
  return zip.add(name + ".npy", make_npy_header(header), {value.data(), value.bytes()});
}

Result<NamedTensors> read_arrays(std::span<const std::byte> file, const std::string& path, const WantsArray& wants) {
  RUNG_TRY(auto members, read_zip_directory(file, path));
  RUNG_TRY(auto headers, read_headers(members, wants, path));
  NamedTensors arrays;
  for (const auto& [name, header] : headers) {
    auto array = read_array(header);
    if (!array) return fail_in(array.error(), "'{}': array '{}'", path, name);
    arrays.emplace(name, std::move(*array));
  }
  return arrays;
}

}  // namespace

Result<NamedTensors> parse_npz(std::span<const std::byte> file, const std::string& path, const WantsArray& wants) {
  return errors_of(ErrorKind::file, read_arrays(file, path, wants));
}

Result<NamedTensors> read_npz(const std::string& path, const WantsArray& wants) {
  RUNG_TRY(auto file, MappedFile::open(path));
  return parse_npz(file->bytes(), path, wants);
}

Result<std::map<std::string, Type>> read_npz_types(const std::string& path) {
  std::map<std::string, Type> types;
  RUNG_CHECK(read_npz(path, [&](const std::string& name, const Type& type) -> Result<bool> {
    types.emplace(name, type);
    return false;
  }));
  return types;
}

Status write_npz(const std::string& path, const NamedTensors& arrays) {
  return write_file_atomically(path, [&](std::ostream& out) -> Status {
    ZipWriter zip(out);
    for (const auto& [name, array] : arrays) RUNG_CHECK(add_array(zip, name, array));
    zip.finish();
    return {};
  });
}

}  // namespace rung
