// Reads the values of an ONNX file's tensors.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/tensors.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/float8.hpp"
#include "ir/bool_bytes.hpp"
#include "ir/checked_shape.hpp"

namespace rung::onnx {
namespace {

struct DataType {
  int64_t number;
  std::string_view name;
  std::optional<DType> dtype;    // none: tensors of ours do not have it
  size_t bytes = 0;              // of an element in raw data; 0 of types with several elements in a byte
  std::optional<DType> carrier;  // a type that holds each of its values; none: there is none
  int bits = 0;                  // of an element of a type with a carrier
};

constexpr DataType kTypes[] = {
    {1, "float", DType::f32, 4},
    {2, "uint8", DType::u8, 1},
    {3, "int8", DType::i8, 1},
    {4, "uint16", {}, 2, DType::i32, 16},
    {5, "int16", {}, 2, DType::i32, 16},
    {6, "int32", DType::i32, 4},
    {7, "int64", DType::i64, 8},
    {8, "string", {}},
    {9, "bool", DType::boolean, 1},
    {10, "float16", DType::f16, 2},
    {11, "double", {}, 8},
    {12, "uint32", {}, 4, DType::i64, 32},
    {13, "uint64", {}, 8, DType::i64, 64},
    {14, "complex64", {}},
    {15, "complex128", {}},
    {16, "bfloat16", DType::bf16, 2},
    {17, "float8e4m3fn", {}, 1, DType::f32, 8},
    {18, "float8e4m3fnuz", {}, 1, DType::f32, 8},
    {19, "float8e5m2", {}, 1, DType::f32, 8},
    {20, "float8e5m2fnuz", {}, 1, DType::f32, 8},
    {21, "uint4", {}, 0, DType::u8, 4},
    {22, "int4", {}, 0, DType::i8, 4},
    {23, "float4e2m1", {}, 0, DType::f32, 4},
    {24, "float8e8m0", {}, 1, DType::f32, 8},
    {25, "uint2", {}, 0, DType::u8, 2},
    {26, "int2", {}, 0, DType::i8, 2},
};

constexpr int64_t kDouble = 11;

const DataType* type_numbered(int64_t number) {
  const auto found = std::ranges::find(kTypes, number, &DataType::number);
  return found == std::end(kTypes) ? nullptr : found;
}

class BytesWeight : public Weight {
 public:
  BytesWeight(std::string name, Type type, std::shared_ptr<MappedFile> file, std::string_view bytes)
      : Weight(std::move(name), type), file_(std::move(file)), bytes_(bytes) {}

  Result<Tensor> load() const override {
    auto* data = reinterpret_cast<std::byte*>(const_cast<char*>(bytes_.data()));
    if (type().dtype == DType::boolean) RUNG_CHECK(check_bools(file_->path(), name(), type(), data));
    if (reinterpret_cast<uintptr_t>(data) % size_of(type().dtype) == 0)
      return Tensor(type(), MappedFile::lend(file_, {data, type().bytes()}));
    Tensor copy(type());
    std::memcpy(copy.data(), data, type().bytes());
    return copy;
  }

 private:
  std::shared_ptr<MappedFile> file_;
  std::string_view bytes_;
};

Result<Shape> shape_of(const TensorProto& tensor) {
  const auto negative = std::ranges::find_if(tensor.dims, [](int64_t size) { return size < 0; });
  if (negative != tensor.dims.end()) return fail("got size {}", *negative);
  return checked_shape(std::vector<uint64_t>(tensor.dims.begin(), tensor.dims.end()));
}

Result<uint64_t> number_at(const TensorProto& tensor, const char* key, uint64_t left_out) {
  const auto found = tensor.external_data.find(key);
  if (found == tensor.external_data.end()) return left_out;
  uint64_t value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return fail("{}: got '{}', wanted a number", key, text);
  return value;
}

struct Bytes {
  std::shared_ptr<MappedFile> file;
  std::string_view bytes;
};

Result<Bytes> external_bytes(const TensorProto& tensor, ExternalFiles& external) {
  const auto location = tensor.external_data.find("location");
  if (location == tensor.external_data.end()) return fail("its values lie in another file, whose name is not given");
  RUNG_TRY(auto file, external.open(location->second));
  const std::string_view all(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  RUNG_TRY(const uint64_t offset, number_at(tensor, "offset", 0));
  RUNG_TRY(const uint64_t length, number_at(tensor, "length", offset > all.size() ? 0 : all.size() - offset));
  if (offset > all.size() || length > all.size() - offset)
    return fail("got {} bytes from {} of '{}', which has {}", length, offset, location->second, all.size());
  return Bytes{std::move(file), all.substr(offset, length)};
}

template <class From, class To>
Result<Tensor> converted(const std::vector<From>& values, const Shape& shape) {
  if (values.size() != static_cast<size_t>(shape.product())) return fail("got {} values for {}", values.size(), shape);
  Tensor out({dtype_of<To>(), shape});
  for (size_t i = 0; i < values.size(); ++i) {
    const To value = static_cast<To>(values[i]);
    const bool wraps = std::is_unsigned_v<From> && value < To{};
    const bool same = static_cast<From>(value) == values[i] || std::isnan(static_cast<double>(values[i]));
    if (wraps || !same) return fail("got {}, which {} does not hold", values[i], dtype_of<To>());
    out.as<To>()[i] = value;
  }
  return out;
}

template <class T>
std::vector<T> elements_of(std::string_view raw) {
  std::vector<T> values(raw.size() / sizeof(T));
  std::memcpy(values.data(), raw.data(), values.size() * sizeof(T));
  return values;
}

bool is_signed(const DataType& type) { return type.name.starts_with("int"); }

template <class Float>
std::vector<float> floats_of(std::string_view codes) {
  std::vector<float> values;
  for (const char code : codes) {
    Float number;
    number.bits = static_cast<uint8_t>(code);
    values.push_back(static_cast<float>(number));
  }
  return values;
}

// 0xff is NaN; the others are powers of two.
std::vector<float> powers_of_two(std::string_view codes) {
  std::vector<float> values;
  for (const char code : codes) {
    const auto exponent = static_cast<uint8_t>(code);
    values.push_back(exponent == 0xff ? std::nanf("") : std::ldexp(1.0f, exponent - 127));
  }
  return values;
}

std::vector<int64_t> unpacked(const DataType& type, std::string_view raw, size_t count) {
  const size_t in_byte = 8 / static_cast<size_t>(type.bits);
  const int64_t span = int64_t{1} << type.bits;
  std::vector<int64_t> values;
  for (size_t i = 0; i < count && i / in_byte < raw.size(); ++i) {
    const int64_t bits = static_cast<uint8_t>(raw[i / in_byte]) >> (i % in_byte * static_cast<size_t>(type.bits));
    const int64_t value = bits & (span - 1);
    values.push_back(is_signed(type) && value >= span / 2 ? value - span : value);
  }
  return values;
}

std::vector<float> floats_of_f4(const std::vector<int64_t>& codes) {
  constexpr float kSizes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  std::vector<float> values;
  for (const int64_t code : codes) values.push_back(code < 8 ? kSizes[code] : -kSizes[code - 8]);
  return values;
}

// Values of less than 16 bits, whose field has a byte of their bits for each number.
Result<Tensor> widened_small(const DataType& type, const TensorProto& tensor, std::string_view raw,
                             const Shape& shape) {
  std::string listed;
  for (const int32_t value : tensor.int32_data) listed.push_back(static_cast<char>(value));
  const std::string_view codes = raw.empty() ? listed : raw;
  const auto count = static_cast<size_t>(shape.product());
  switch (type.number) {
    case 17:
      return converted<float, float>(floats_of<f8e4m3fn>(codes), shape);
    case 18:
      return converted<float, float>(floats_of<f8e4m3fnuz>(codes), shape);
    case 19:
      return converted<float, float>(floats_of<f8e5m2>(codes), shape);
    case 20:
      return converted<float, float>(floats_of<f8e5m2fnuz>(codes), shape);
    case 23:
      return converted<float, float>(floats_of_f4(unpacked(type, codes, count)), shape);
    case 24:
      return converted<float, float>(powers_of_two(codes), shape);
    default:
      if (is_signed(type)) return converted<int64_t, int8_t>(unpacked(type, codes, count), shape);
      return converted<int64_t, uint8_t>(unpacked(type, codes, count), shape);
  }
}

// Values of types that the graph has not.
Result<Tensor> widened(const DataType& type, const TensorProto& tensor, std::string_view raw, const Shape& shape) {
  const auto ints = [&] { return std::vector<int64_t>(tensor.int32_data.begin(), tensor.int32_data.end()); };
  switch (type.number) {
    case 4:
      if (raw.empty()) return converted<int64_t, int32_t>(ints(), shape);
      return converted<uint16_t, int32_t>(elements_of<uint16_t>(raw), shape);
    case 5:
      if (raw.empty()) return converted<int64_t, int32_t>(ints(), shape);
      return converted<int16_t, int32_t>(elements_of<int16_t>(raw), shape);
    case 11:
      return converted<double, float>(raw.empty() ? tensor.double_data : elements_of<double>(raw), shape);
    case 12:
      if (raw.empty()) return converted<uint64_t, int64_t>(tensor.uint64_data, shape);
      return converted<uint32_t, int64_t>(elements_of<uint32_t>(raw), shape);
    case 13:
      return converted<uint64_t, int64_t>(raw.empty() ? tensor.uint64_data : elements_of<uint64_t>(raw), shape);
    default:
      return widened_small(type, tensor, raw, shape);
  }
}

// Values in the fields of their type: 16-bit floats as bits of integers.
Result<Tensor> listed(const TensorProto& tensor, const Type& type) {
  Tensor out;
  const auto fill = [&](const auto& list, auto as) -> Status {
    using To = decltype(as);
    if (list.size() != static_cast<size_t>(type.elements())) return fail("got {} values for {}", list.size(), type);
    out = Tensor(type);
    for (size_t i = 0; i < list.size(); ++i) reinterpret_cast<To*>(out.data())[i] = static_cast<To>(list[i]);
    return {};
  };
  switch (type.dtype) {
    case DType::f32:
      RUNG_CHECK(fill(tensor.float_data, float{}));
      break;
    case DType::i64:
      RUNG_CHECK(fill(tensor.int64_data, int64_t{}));
      break;
    case DType::i32:
      RUNG_CHECK(fill(tensor.int32_data, int32_t{}));
      break;
    case DType::f16:
    case DType::bf16:
      RUNG_CHECK(fill(tensor.int32_data, uint16_t{}));
      break;
    default:
      RUNG_CHECK(fill(tensor.int32_data, uint8_t{}));
  }
  if (type.dtype == DType::boolean) RUNG_CHECK(check_bools("tensor", tensor.name, type, out.data()));
  return out;
}

}  // namespace

Result<DType> dtype_of_number(int64_t data_type) {
  const DataType* type = type_numbered(data_type);
  if (!type) return fail("got element type {}, which is none of ONNX's", data_type);
  if (type->dtype) return *type->dtype;
  if (type->carrier) return *type->carrier;
  return fail("got elements of {}, wanted bool, an integer, or a float of at most 32 bits", type->name);
}

std::optional<Carried> carried_type(int64_t data_type) {
  const DataType* type = type_numbered(data_type);
  if (!type || !type->carrier) return std::nullopt;
  return Carried{type->number, type->name, *type->carrier, type->bits, is_signed(*type)};
}

Result<std::shared_ptr<MappedFile>> ExternalFiles::open(const std::string& location) {
  namespace fs = std::filesystem;
  if (const auto found = files_.find(location); found != files_.end()) return found->second;
  const fs::path relative(location);
  const bool leaves =
      relative.is_absolute() || std::ranges::any_of(relative, [](const fs::path& part) { return part == ".."; });
  if (location.empty() || leaves || location.find('\0') != location.npos)
    return fail("its values lie in '{}', wanted a file in the model's folder", location);
  fs::path path = folder_.empty() ? "." : folder_;
  for (const fs::path& part : relative) {
    path /= part;
    std::error_code error;
    if (fs::is_symlink(path, error)) return fail("its values lie behind the link '{}'", path.string());
  }
  RUNG_TRY(auto file, MappedFile::open(path.string()));
  return files_.emplace(location, std::move(file)).first->second;
}

Result<std::shared_ptr<const Weight>> weight_of(const TensorProto& tensor, const std::shared_ptr<MappedFile>& file,
                                                ExternalFiles& external) {
  const DataType* known = type_numbered(tensor.data_type);
  if (!known || (!known->dtype && !known->carrier && known->number != kDouble))
    return fail("got elements of {}", known ? known->name : "no known type");
  RUNG_TRY(const Shape shape, shape_of(tensor));
  Bytes held{file, tensor.raw_data};
  if (tensor.is_external) {
    RUNG_TRY(held, external_bytes(tensor, external));
  }
  const auto count = static_cast<size_t>(shape.product()), bits = static_cast<size_t>(known->bits);
  const size_t wanted = known->bytes == 0 ? (count * bits + 7) / 8 : count * known->bytes;
  if (!held.bytes.empty() && held.bytes.size() != wanted)
    return fail("got {} bytes for {} elements of {}, wanted {}", held.bytes.size(), shape.product(), known->name,
                wanted);
  if (!known->dtype) {
    RUNG_TRY(Tensor values, widened(*known, tensor, held.bytes, shape));
    return std::make_shared<Literal>(tensor.name, std::move(values));
  }
  const Type type{*known->dtype, shape};
  if (!held.bytes.empty() || wanted == 0)
    return std::make_shared<BytesWeight>(tensor.name, type, held.file, held.bytes);
  RUNG_TRY(Tensor values, listed(tensor, type));
  return std::make_shared<Literal>(tensor.name, std::move(values));
}

Result<std::string_view> bytes_in_file(const TensorProto& tensor, ExternalFiles& external) {
  if (!tensor.is_external) return tensor.raw_data;
  RUNG_TRY(const Bytes held, external_bytes(tensor, external));
  return held.bytes;
}

}  // namespace rung::onnx
