// npz files: numpy's own come in, ours go out, malformed ones are refused before memory is taken for them.
// SPDX-License-Identifier: Apache-2.0
#include "import/npz.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "base/limits.hpp"
#include "import/npy_header.hpp"
#include "import/zip.hpp"
#include "support/numpy_archive.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

auto parse(const std::string& file) { return parse_npz(std::as_bytes(std::span(file.data(), file.size())), "in.npz"); }

void expect_error(const std::string& file, const std::string& part) {
  auto result = parse(file);
  ASSERT_FALSE(result) << "accepted, wanted: " << part;
  EXPECT_THAT(result.error().message, HasSubstr(part));
}

// One stored member "x.npy".
std::string archive_of(const std::string& head, const std::string& body, const std::string& name = "x.npy") {
  std::ostringstream out;
  ZipWriter zip(out);
  EXPECT_TRUE(zip.add(name, head, std::as_bytes(std::span(body.data(), body.size()))));
  zip.finish();
  return out.str();
}

// An array whose header is the dictionary as given.
std::string array_of(const std::string& dictionary, const std::string& body) {
  std::string head("\x93NUMPY\1\0", 8);
  head += static_cast<char>(dictionary.size());
  head += static_cast<char>(dictionary.size() >> 8);
  return archive_of(head + dictionary, body);
}

std::string floats(const std::string& shape, size_t count) {
  return array_of("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n", std::string(count * 4, '\0'));
}

TEST(Npz, ReadsWhatNumpyWroteDeflatedInFortranOrder) {
  auto arrays = parse(numpy_archive());
  ASSERT_TRUE(arrays) << arrays.error().message;
  ASSERT_EQ(arrays->size(), 2u);
  EXPECT_EQ(to_string(arrays->at("x").type()), "f32[2,3]");
  EXPECT_THAT(arrays->at("x").as<float>(), ElementsAre(0, 0.25f, 0.5f, 0.75f, 1, 1.25f));
  EXPECT_THAT(arrays->at("m").as<bool>(), ElementsAre(true, false));
}

TEST(Npz, RefusesEveryTruncationOfAFile) {
  std::string file = numpy_archive();
  for (size_t size = 0; size < file.size(); ++size) EXPECT_FALSE(parse(file.substr(0, size))) << size;
}

TEST(Npz, RefusesDamagedCompressedDataAndDamagedContent) {
  std::string file = numpy_archive();
  for (size_t at = 60; at < 60 + 80; ++at) {  // within x's deflated bytes
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(parse(damaged)) << at;
  }
  std::string stored = floats("(2,)", 2);
  stored[stored.find("PK\1\2") - 1] ^= 1;
  expect_error(stored, "got checksum");
}

// "x" f32[2] and "y" f32[3], whose data no longer has the checksum that the directory gives: read, it is an error.
std::string damaged_archive() {
  std::ostringstream out;
  ZipWriter zip(out);
  for (auto [name, count] : {std::pair<const char*, size_t>{"x.npy", 2}, {"y.npy", 3}}) {
    std::string body(count * 4, '\x11');
    EXPECT_TRUE(zip.add(name, make_npy_header({"<f4", false, {count}}), std::as_bytes(std::span(body))));
  }
  zip.finish();
  std::string file = out.str();
  for (size_t at; (at = file.find("\x11\x11\x11\x11")) != file.npos;) file.replace(at, 4, "hurt");
  return file;
}

Result<NamedTensors> parse(const std::string& file, const WantsArray& wants) {
  return parse_npz(std::as_bytes(std::span(file.data(), file.size())), "in.npz", wants);
}

TEST(Npz, JudgesEveryHeaderBeforeAnyDataIsRead) {
  auto refused = parse(damaged_archive(), [](const std::string& name, const Type& type) -> Result<bool> {
    if (name == "y") return fail("got {} {}", name, type);
    return true;
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "got y f32[3]");
  expect_error(damaged_archive(), "array 'x': got checksum");
}

TEST(Npz, LeavesOutWhatIsNotWanted) {
  std::string file = damaged_archive();
  auto none = parse(file, [](const std::string&, const Type&) -> Result<bool> { return false; });
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty());
  auto both = parse(numpy_archive(), [](const std::string& name, const Type&) -> Result<bool> { return name == "m"; });
  ASSERT_TRUE(both) << both.error().message;
  ASSERT_EQ(both->size(), 1u);
  EXPECT_THAT(both->at("m").as<bool>(), ElementsAre(true, false));
}

TEST(Npz, GivesTypesFromHeadersAlone) {
  TemporaryDirectory dir;
  auto types = read_npz_types(dir.write("a.npz", damaged_archive()));
  ASSERT_TRUE(types) << types.error().message;
  EXPECT_EQ(*types, (std::map<std::string, Type>{{"x", {DType::f32, {2}}}, {"y", {DType::f32, {3}}}}));
}

// A deflated member that says it holds f32[count]. Behind its header there is nothing to inflate.
std::string bomb(uint64_t count) {
  std::string head = make_npy_header({"<f4", false, {count}});
  const size_t header = head.size();
  head.append(16, '\0');  // of data, so that the header does not end where the damage begins
  std::string block = {'\0', static_cast<char>(head.size()), static_cast<char>(head.size() >> 8),
                       static_cast<char>(~head.size()), static_cast<char>(~head.size() >> 8)};  // not the last, stored
  std::string packed = block + head + std::string(count * 4 / 1032 + 1, '\xff');
  std::string file = archive_of(packed, "");
  auto put = [&](size_t at, size_t bytes, uint64_t value) {
    for (size_t i = 0; i < bytes; ++i) file[at + i] = static_cast<char>(value >> (8 * i));
  };
  size_t entry = file.find("PK\1\2");
  put(entry + 10, 2, 8);
  put(entry + 24, 4, header + count * 4);
  return file;
}

TEST(Npz, RefusesArraysTogetherLargerThanItsLimitUnread) {
  expect_error(bomb(kMaxArchiveBytes / 4 + 1), "wanted at most 1073741824");
  expect_error(bomb(1000), "its compressed data is damaged");
}

TEST(Npz, RoundTripsEveryDType) {
  TemporaryDirectory dir;
  NamedTensors arrays{
      {"f4", Tensor::of<float>({2, 2}, {1, -2, 3.5f, 4})},
      {"f2", Tensor::of<f16>({1}, {f16(0.5f)})},
      {"i8", Tensor::of<int64_t>({2}, {-1, int64_t{1} << 40})},
      {"i4", Tensor::of<int32_t>({}, {-7})},
      {"i1", Tensor::of<int8_t>({1}, {-128})},
      {"u1", Tensor::of<uint8_t>({1, 1, 1}, {255})},
      {"b1", Tensor::of<bool>({3}, {true, false, true})},
      {"empty", Tensor({DType::f32, {0, 4}})},
  };
  ASSERT_TRUE(write_npz(dir / "a.npz", arrays));
  auto read = read_npz(dir / "a.npz");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), arrays.size());
  for (const auto& [name, wanted] : arrays) {
    const Tensor& got = read->at(name);
    EXPECT_EQ(got.type(), wanted.type()) << name;
    EXPECT_EQ(std::memcmp(got.data(), wanted.data(), wanted.bytes()), 0) << name;
  }
}

TEST(Npz, WritesShortFloatsAsF32) {
  TemporaryDirectory dir;
  const Tensor short_float = Tensor::of<bf16>({1}, {bf16(1.5f)});
  ASSERT_TRUE(write_npz(dir / "a.npz", {{"x", short_float}, {"y", convert(short_float, DType::f8e4m3fn)}}));
  EXPECT_THAT(read_npz(dir / "a.npz")->at("x").as<float>(), ElementsAre(1.5f));
  EXPECT_THAT(read_npz(dir / "a.npz")->at("y").as<float>(), ElementsAre(1.5f));
}

TEST(Npz, KeepsTheOldFileWhenWritingFails) {
  TemporaryDirectory dir;
  dir.write("a.npz", "old");
  // The size is refused before anything is read.
  const Tensor huge({DType::u8, {int64_t{5} << 30}}, std::make_shared<std::byte>());
  auto status = write_npz(dir / "a.npz", {{"x", huge}});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("'x.npy': got 5368709"));
  EXPECT_EQ(std::filesystem::file_size(dir / "a.npz"), 3u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1) << "a temporary was left";
  status = write_npz(dir / "none/a.npz", {});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("none/a.npz"));
}

TEST(Npz, RefusesTypesItDoesNotKnow) {
  for (const char* descr : {"'>f4'", "'<f16'", "'<U5'", "'|O'", "'<c8'", "'<u4'"})
    expect_error(array_of(std::string("{'descr': ") + descr + ", 'fortran_order': False, 'shape': (1,), }", "1234"),
                 "wanted one of <f2, <f4");
  expect_error(array_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"),
               "wanted a string");
}

TEST(Npz, RefusesAShapeThatDisagreesWithTheData) {
  expect_error(floats("(3,)", 2), "array 'x': got 8 bytes of data, wanted 12 for <f4 [3]");
  expect_error(floats("(1,)", 2), "got 8 bytes of data, wanted 4");
  expect_error(floats("(1000000000, 1000000000)", 2), "the number of elements overflows");
  expect_error(floats("(100000000000,)", 2), "wanted 400000000000");
  expect_error(floats("(18446744073709551615,)", 2), "got dimension");
  expect_error(floats("(1,1,1,1,1,1,1,1,2)", 2), "at most 8 dimensions");
}

TEST(Npz, RefusesMalformedHeaders) {
  auto with = [](const std::string& dictionary) { return array_of(dictionary, "1234"); };
  expect_error(with("{'descr': '<f4', 'fortran_order': False, }"), "got 2 keys");
  expect_error(with("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"), "key 'descr' twice");
  expect_error(with("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }"), "wanted True or False");
  expect_error(with("{'descr': '<f4', 'fortran_order': False, 'shape': (1), }"), "wanted ','");
  expect_error(with("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"), "wanted a non-negative integer");
  expect_error(with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"), "got key 'x'");
  expect_error(with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } 1"), "wanted the end");
  expect_error(with("{'descr': '<f4"), "wanted a closed string");
  expect_error(with(""), "wanted '{'");
}

TEST(Npz, RefusesMembersThatAreNotArrays) {
  expect_error(archive_of("hello, this is text", ""), "not a .npy array");
  expect_error(archive_of("", "", "notes.txt"), "wanted only *.npy");
  expect_error(archive_of(std::string("\x93NUMPY\4\0\0\0", 10), ""), "got .npy version 4.0");
  expect_error(archive_of("\x93NU", ""), "cut short");
  expect_error(archive_of(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12), ""), "wanted at most 0");
  expect_error(archive_of(std::string("\x93NUMPY\2\0\x11\x27\0\0", 12), std::string(20000, ' ')),
               "got an array header of 10001 bytes, wanted at most 10000");
}

TEST(Npz, AcceptsVersionsTwoAndThree) {
  std::string dictionary = "{'shape': (1,), 'descr': \"<f4\", 'fortran_order': True}\n";
  for (char version : {'\2', '\3'}) {
    std::string head = std::string("\x93NUMPY") + version + '\0' + static_cast<char>(dictionary.size());
    auto arrays = parse(archive_of(head + std::string(3, '\0') + dictionary, std::string("\0\0\x80\x3f", 4)));
    ASSERT_TRUE(arrays) << arrays.error().message;
    EXPECT_THAT(arrays->at("x").as<float>(), ElementsAre(1.0f));
  }
}

TEST(Npz, RefusesBoolsOtherThanZeroAndOne) {
  expect_error(array_of("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", std::string("\1\2", 2)),
               "got 2 at element 1, wanted 0 or 1");
}

TEST(Npz, RefusesTwoArraysOfOneName) {
  std::ostringstream out;
  ZipWriter zip(out);
  std::string head = make_npy_header({"<f4", false, {0}});
  EXPECT_TRUE(zip.add("x.npy", head, {}));
  EXPECT_TRUE(zip.add("x.npy", head, {}));
  zip.finish();
  expect_error(out.str(), "two arrays are named 'x'");
}

// Writes a little-endian number over part of the directory's only entry.
std::string patched(std::string file, size_t field, size_t bytes, uint64_t value) {
  size_t at = file.find("PK\1\2") + field;
  for (size_t i = 0; i < bytes; ++i) file[at + i] = static_cast<char>(value >> (8 * i));
  return file;
}

TEST(Zip, RefusesWhatItCannotUnpackSafely) {
  std::string file = floats("(2,)", 2);
  expect_error(patched(file, 8, 2, 1), "is encrypted");
  expect_error(patched(file, 10, 2, 12), "got compression method 12");
  expect_error(patched(file, 20, 4, 1 << 30), "cannot hold");
  expect_error(patched(patched(file, 20, 4, 1 << 30), 24, 4, 1 << 30), "wanted it within the archive's");
  expect_error(patched(patched(file, 10, 2, 8), 24, 4, 4000000000u), "cannot hold 4000000000");
  expect_error(patched(file, 24, 4, 0xffffffff), "cannot hold 4294967295");
  expect_error(patched(file, 42, 4, 5), "no member header at byte 5");
  expect_error(patched(file, 42, 4, 4000000000u), "no member header");
  expect_error(patched(file, 28, 2, 60000), "the directory is cut short");
  expect_error("", "not a zip archive");
  expect_error(std::string(100, 'x'), "not a zip archive");
}

TEST(Zip, RefusesMembersThatShareBytes) {
  std::string file = archive_of(make_npy_header({"<f4", false, {100}}), std::string(400, '\0'));
  size_t directory = file.find("PK\1\2"), end = file.find("PK\5\6");
  std::string entry = file.substr(directory, end - directory);
  std::string doubled = file.substr(0, end) + entry + entry + file.substr(end);
  size_t record = end + 2 * entry.size();
  doubled[record + 8] = doubled[record + 10] = 3;
  doubled[record + 12] = static_cast<char>(3 * entry.size());
  expect_error(doubled, "members overlap");
}

TEST(NpyHeader, RoundTripsThroughItsText) {
  for (const auto& shape : std::vector<std::vector<uint64_t>>{{}, {3}, {2, 3}, {1, 2, 3, 4}}) {
    std::string head = make_npy_header({"<i8", true, shape});
    EXPECT_EQ(head.size() % 64, 0u);
    auto header = parse_npy_header(head.substr(10));
    ASSERT_TRUE(header) << header.error().message;
    EXPECT_EQ(header->descr, "<i8");
    EXPECT_TRUE(header->fortran_order);
    EXPECT_EQ(header->shape, shape);
  }
}

}  // namespace
}  // namespace rung
