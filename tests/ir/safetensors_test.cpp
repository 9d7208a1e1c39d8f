// safetensors files: what is written comes back, and no malformed file is accepted.
// SPDX-License-Identifier: Apache-2.0
#include "ir/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

std::string file_of(const std::string& header, size_t data_bytes) {
  std::string file;
  for (size_t i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + std::string(data_bytes, '\1');
}

Result<SafetensorsHeader> parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file.data(), file.size())), "f");
}

void expect_error(const std::string& file, const std::string& part) {
  auto result = parse(file);
  ASSERT_FALSE(result) << "accepted, wanted: " << part;
  EXPECT_THAT(result.error().message, HasSubstr(part));
}

std::string tensor(const std::string& name, const std::string& dtype_shape_offsets) {
  return "\"" + name + "\":{" + dtype_shape_offsets + "}";
}
const std::string kF32x2 = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";

TEST(Safetensors, RoundTripsTensorsOfEveryTypeWithMetadata) {
  TemporaryDirectory dir;
  TensorList tensors;
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::i64, DType::i32,
                      DType::i8, DType::u8, DType::boolean}) {
    Tensor t({dtype, {3, 1}});
    for (size_t i = 0; i < t.bytes(); ++i) t.data()[i] = static_cast<std::byte>(i % 2);
    tensors.emplace_back(std::string(name_of(dtype)), t);
  }
  ASSERT_TRUE(write_safetensors(dir / "a.safetensors", tensors, {{"plan", "{}"}}));
  auto file = Safetensors::open(dir / "a.safetensors");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->metadata(), (Metadata{{"plan", "{}"}}));
  EXPECT_EQ((*file)->tensors().size(), tensors.size()) << "padding must stay hidden";
  for (const auto& [name, wanted] : tensors) {
    auto got = (*file)->load(name);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->type(), wanted.type());
    EXPECT_EQ(std::memcmp(got->data(), wanted.data(), wanted.bytes()), 0) << name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(got->data()) % 64, 0u) << name;
  }
}

TEST(Safetensors, KeepsTheMappingAliveForSharingTensors) {
  TemporaryDirectory dir;
  ASSERT_TRUE(write_safetensors(dir / "a", {{"w", Tensor::of<float>({2}, {3.0f, 4.0f})}}, {}));
  Tensor shared = *(*Safetensors::open(dir / "a"))->load("w");
  EXPECT_EQ(shared.as<float>()[1], 4.0f);
}

TEST(Safetensors, CopiesATensorThatIsNotAligned) {
  TemporaryDirectory dir;
  std::string header = "{" + tensor("w", kF32x2) + "}";
  std::string file = file_of(header + std::string((8 - header.size() % 8) % 8 + 1, ' '), 8);
  auto opened = Safetensors::open(dir.write("a", file));
  ASSERT_TRUE(opened) << opened.error().message;
  auto loaded = (*opened)->load("w");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(loaded->data()) % 4, 0u);
  EXPECT_EQ(std::memcmp(loaded->data(), "\1\1\1\1\1\1\1\1", 8), 0);
}

// Whichever way it is read, a tensor is its own bytes and not those of the first.
TEST(Safetensors, GivesEachTensorsBytesWholeOrInParts) {
  TemporaryDirectory dir;
  TensorList tensors;
  for (const int64_t count : {3, 70, 1}) {
    Tensor tensor({DType::u8, {count}});
    for (size_t i = 0; i < tensor.bytes(); ++i) tensor.data()[i] = static_cast<std::byte>(10 * tensors.size() + i);
    tensors.emplace_back(std::string(1, static_cast<char>('c' - tensors.size())), tensor);
  }
  ASSERT_TRUE(write_safetensors(dir / "a", tensors, {}));
  const auto file = *Safetensors::open(dir / "a");
  for (const auto& [name, wanted] : tensors) {
    const auto copied = file->copy(name);
    ASSERT_TRUE(copied) << copied.error().message;
    EXPECT_TRUE(copied->type() == wanted.type());
    EXPECT_EQ(std::memcmp(copied->data(), wanted.data(), wanted.bytes()), 0) << name;
    const ReadBytes read = file->reader(name);
    for (size_t at = 0; at < wanted.bytes(); ++at) {
      std::byte one{};
      ASSERT_TRUE(read(at, &one, 1));
      EXPECT_EQ(one, wanted.data()[at]) << name << " at " << at;
    }
  }
  EXPECT_FALSE(file->copy("d"));
}

TEST(Safetensors, AcceptsEmptyTensorsAndScalars) {
  auto header = parse(file_of("{" + tensor("e", R"("dtype":"F32","shape":[0,5],"data_offsets":[0,0])") + "," +
                                  tensor("s", R"("dtype":"I64","shape":[],"data_offsets":[0,8])") + "}",
                              8));
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(to_string(header->tensors.at("e").type), "f32[0,5]");
  EXPECT_EQ(to_string(header->tensors.at("s").type), "i64[]");
}

TEST(Safetensors, WriterRefusesDuplicateAndReservedNames) {
  std::ostringstream out;
  Tensor t = Tensor::of<float>({1}, {0.0f});
  EXPECT_FALSE(write_safetensors(out, {{"a", t}, {"a", t}}, {}));
  EXPECT_FALSE(write_safetensors(out, {{"__metadata__", t}}, {}));
  EXPECT_FALSE(write_safetensors(out, {{"__padding__0", t}}, {}));
}

TEST(Safetensors, RefusesFilesTooShortForTheirHeaderLength) { expect_error("1234567", "wanted at least 8"); }

TEST(Safetensors, RefusesAHeaderLengthBeyondTheFile) {
  std::string file = file_of("{}", 0);
  file[0] = 100;
  expect_error(file, "wanted a header of 100");
}

TEST(Safetensors, RefusesAHeaderOneByteBeyondTheFile) {
  std::string file = file_of("{}", 0);
  ASSERT_TRUE(parse(file));
  file[0] = 3;
  expect_error(file, "got 10 bytes, wanted a header of 3 after the first 8");
}

TEST(Safetensors, RefusesPaddingThatIsNotZero) {
  std::string file = file_of("{" + tensor("__padding__0", R"("dtype":"U8","shape":[2],"data_offsets":[0,2])") + "}", 2);
  expect_error(file, "padding between tensors is not zero");
  file.replace(file.size() - 2, 2, 2, '\0');
  auto header = parse(file);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_TRUE(header->tensors.empty());
}

TEST(Safetensors, NamesATensorThatIsNotThere) {
  TemporaryDirectory dir;
  ASSERT_TRUE(write_safetensors(dir / "a", {{"w", Tensor::of<float>({1}, {1})}}, {}));
  auto loaded = (*Safetensors::open(dir / "a"))->load("v");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("no tensor 'v'"));
}

TEST(Safetensors, RefusesAHeaderLengthBeyondMemory) {
  expect_error("\xff\xff\xff\xff\xff\xff\xff\x7f{}", "wanted at most 100000000");
}

TEST(Safetensors, RefusesAHeaderThatIsNoJsonObject) {
  expect_error(file_of("{\"a\":", 0), "not valid JSON");
  expect_error(file_of("[1]", 0), "wanted an object");
  expect_error(file_of("{} {}", 0), "not valid JSON");
  expect_error(file_of(std::string(100000, '['), 0), "nested deeper");
  expect_error(file_of("{\"a\xff\":{}}", 0), "not valid JSON");
}

TEST(Safetensors, RefusesDuplicateKeys) {
  expect_error(file_of("{" + tensor("w", kF32x2) + "," + tensor("w", kF32x2) + "}", 8), "duplicate key 'w'");
}

TEST(Safetensors, RefusesTruncatedData) {
  expect_error(file_of("{" + tensor("w", kF32x2) + "}", 7), "within the 7 bytes of data");
}

TEST(Safetensors, RefusesOverlappingTensors) {
  std::string header =
      "{" + tensor("a", kF32x2) + "," + tensor("b", R"("dtype":"F32","shape":[2],"data_offsets":[4,12])") + "}";
  expect_error(file_of(header, 12), "tensors 'a' and 'b' overlap");
}

TEST(Safetensors, RefusesBytesThatBelongToNoTensor) {
  std::string header = "{" + tensor("a", R"("dtype":"F32","shape":[2],"data_offsets":[4,12])") + "}";
  expect_error(file_of(header, 12), "4 bytes before tensor 'a'");
  expect_error(file_of("{" + tensor("w", kF32x2) + "}", 9), "1 bytes at the end");
}

TEST(Safetensors, RefusesOffsetsThatOverflowOrRunBackwards) {
  expect_error(file_of("{" + tensor("w", R"("dtype":"F32","shape":[2],"data_offsets":[8,0])") + "}", 8), "in order");
  expect_error(
      file_of("{" + tensor("w", R"("dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615])") + "}", 8),
      "in order");
  expect_error(
      file_of("{" + tensor("w", R"("dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551624])") + "}", 8),
      "two non-negative integers");
  expect_error(file_of("{" + tensor("w", R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])") + "}", 8),
               "two non-negative integers");
}

TEST(Safetensors, RefusesShapesThatOverflowOrAreNegative) {
  auto with_shape = [](const std::string& shape) {
    return file_of("{" + tensor("w", R"("dtype":"F32","data_offsets":[0,8],"shape":)" + shape) + "}", 8);
  };
  expect_error(with_shape("[4294967296,4294967296]"), "overflows");
  expect_error(with_shape("[0,4294967296,4294967296,4294967296]"), "overflows");
  expect_error(with_shape("[9223372036854775807]"), "got dimension 9223372036854775807, wanted at most");
  expect_error(with_shape("[-2]"), "wanted a non-negative integer");
  expect_error(with_shape("[2.0]"), "wanted a non-negative integer");
  expect_error(with_shape("[1,1,1,1,1,1,1,1,2]"), "got rank 9");
  expect_error(with_shape("\"2\""), "no shape");
}

TEST(Safetensors, RefusesASizeThatDisagreesWithTheShape) {
  expect_error(file_of("{" + tensor("w", R"("dtype":"F32","shape":[3],"data_offsets":[0,8])") + "}", 8),
               "got 8 bytes, wanted 12 for f32[3]");
}

TEST(Safetensors, RefusesUnknownDTypes) {
  expect_error(file_of("{" + tensor("w", R"("dtype":"F64","shape":[1],"data_offsets":[0,8])") + "}", 8),
               "got dtype 'F64', wanted one of F32, F16");
  expect_error(file_of("{" + tensor("w", R"("dtype":7,"shape":[1],"data_offsets":[0,8])") + "}", 8), "no dtype");
  expect_error(file_of("{\"w\":3}", 0), "wanted an object");
}

TEST(Safetensors, RefusesMetadataThatIsNotStrings) {
  expect_error(file_of(R"({"__metadata__":{"a":1}})", 0), "wanted a string");
  expect_error(file_of(R"({"__metadata__":[]})", 0), "wanted an object");
}

TEST(Safetensors, RefusesBoolsOtherThanZeroAndOne) {
  TemporaryDirectory dir;
  std::string file = file_of("{" + tensor("m", R"("dtype":"BOOL","shape":[2],"data_offsets":[0,2])") + "}", 2);
  file.back() = 7;
  auto opened = Safetensors::open(dir.write("a", file));
  ASSERT_TRUE(opened);
  auto loaded = (*opened)->load("m");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("got 7 at element 1, wanted 0 or 1"));
  auto copied = (*opened)->copy("m");
  ASSERT_FALSE(copied);
  EXPECT_THAT(copied.error().message, HasSubstr("got 7 at element 1, wanted 0 or 1"));
}

TEST(Safetensors, LeavesNothingBehindInAnUnwritableFolder) {
  auto status = write_safetensors("/nonexistent/a", {{"a", Tensor::of<float>({1}, {0.0f})}}, {});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("/nonexistent/a"));
}

}  // namespace
}  // namespace rung
