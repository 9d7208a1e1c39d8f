// Compressed bundles of code objects: read whatever their version and method, refused where they lie or are out of
// proportion.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code/compressed_bundle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "amdgpu/analysis/machine_code.hpp"
#include "base/limits.hpp"
#include "support/made_bundle.hpp"
#include "support/made_code_object.hpp"

namespace rung::amdgpu {
namespace {

using ::rung::testing::bundle_of;
using ::rung::testing::by_zlib;
using ::rung::testing::by_zstd;
using ::rung::testing::compressed;
using ::rung::testing::MadeBundle;
using ::rung::testing::MadeCodeObject;
using ::rung::testing::MadeKernel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint16_t kVersions[]{1, 2, 3}, kMethods[]{0, 1};  // zlib, zstd

// The names of a file's kernels, or what is said instead.
std::vector<std::string> kernels_of(const std::string& file) {
  const auto read = read_machine_code(std::as_bytes(std::span(file)), {}, std::nullopt);
  if (!read) return {read.error().message};
  std::vector<std::string> names;
  for (const KernelReading& each : *read) names.push_back(each.kernel.name);
  return names;
}
std::string error_of(const std::string& file) { return kernels_of(file).front(); }

std::string object(const std::string& name) { return MadeCodeObject({MadeKernel{.name = name}}).file(); }

TEST(CompressedBundles, AreReadInEachVersionByEachMethod) {
  const std::string bundle = bundle_of({object("one"), object("two")});
  for (const uint16_t version : kVersions)
    for (const uint16_t method : kMethods)
      EXPECT_THAT(kernels_of(compressed(bundle, version, method)), ElementsAre("one", "two")) << version << method;
}

// What clang-offload-bundler 22 wrote of a kernel that stores a float, for two architectures.
TEST(CompressedBundles, OfClangAreRead) {
  for (const char* name : {"/bundles/zstd_2.hipfb", "/bundles/zstd_3.hipfb"}) {
    std::ifstream from(RUNG_TEST_DATA + std::string(name), std::ios::binary);
    const std::string file(std::istreambuf_iterator<char>(from), {});
    const auto read = read_machine_code(std::as_bytes(std::span(file)), {}, std::nullopt);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 2u);
    EXPECT_EQ((*read)[0].isa, Isa::gfx942);
    EXPECT_EQ((*read)[1].isa, Isa::gfx950);
    EXPECT_EQ((*read)[1].kernel.name, "kernel");
    EXPECT_EQ((*read)[1].code.global.accesses[2], 1u) << "a store of four bytes";
  }
}

// As the linker leaves them: those of several sources one after another, among other things.
TEST(CompressedBundles, AreFoundBesideOtherObjectsInTheirOrder) {
  const std::string zeros(77, '\0'), letters = "CCOB and CCOB" + zeros;
  const std::string file = zeros + compressed(bundle_of({object("one")}), 2, 1) + letters + object("two") + zeros +
                           compressed(bundle_of({object("three")}), 1, 0) + zeros +
                           compressed(bundle_of({object("four")}), 3, 1) + object("five");
  EXPECT_THAT(kernels_of(file), ElementsAre("one", "two", "three", "four", "five"));
}

TEST(CompressedBundles, WithoutAnObjectAreAsNone) {
  EXPECT_EQ(error_of(compressed("nothing of AMD's", 3, 1)), "the file has no AMD code object");
  EXPECT_EQ(error_of(compressed("", 3, 0)), "the file has no AMD code object");
}

// Its letters in a text, or before what no stream begins with.
TEST(CompressedBundles, AreRecognised) {
  const std::string zero(1, '\0');
  for (const std::string& file :
       {zero + "CCOB", MadeBundle{.version = 4, .stream = by_zstd("x")}.file(),
        MadeBundle{.version = 0, .stream = by_zstd("x")}.file(), MadeBundle{.method = 2, .stream = by_zstd("x")}.file(),
        MadeBundle{.method = 0, .stream = by_zstd("x")}.file(), MadeBundle{.method = 1, .stream = by_zlib("x")}.file(),
        MadeBundle{.stream = ""}.file()})
    EXPECT_EQ(error_of(file), "the file has no AMD code object");
}

TEST(CompressedBundles, ThatAreCutShortSaySo) {
  for (const uint16_t method : kMethods) {
    const std::string whole = compressed(bundle_of({object("one")}), 3, method);
    for (const size_t bytes : {size_t{40}, whole.size() / 2, whole.size() - 1})
      EXPECT_EQ(
          error_of(whole.substr(0, bytes)),
          fmt::format("the compressed bundle at byte 0: it is cut short: got {} bytes of {}", bytes, whole.size()));
    // The first version does not tell how long it is.
    const std::string first = compressed(bundle_of({object("one")}), 1, method);
    EXPECT_THAT(error_of(first.substr(0, first.size() / 2)), HasSubstr("its data is damaged or cut short"));
  }
  EXPECT_EQ(error_of(MadeBundle{.version = 2, .stream = by_zstd("x"), .longer = -20}.file()),
            "the compressed bundle at byte 0: got 14 bytes, fewer than its header");
}

TEST(CompressedBundles, ThatAreDamagedSaySo) {
  for (const uint16_t method : kMethods) {
    std::string file = compressed(bundle_of({object("one")}), 3, method);
    for (size_t at = 40; at < file.size(); at += 11) file[at] = static_cast<char>(file[at] ^ 0x55);
    EXPECT_THAT(error_of(file), StartsWith("the compressed bundle at byte 0: of ")) << method;
  }
  std::string file = compressed(object("one"), 3, 1);
  MadeCodeObject damaged({MadeKernel{.name = "one"}});
  std::string inside = damaged.file();
  inside[inside.find(".sgpr_count")] = 'x';
  EXPECT_EQ(error_of(compressed(inside, 3, 1)), "code object: kernel 'one': no '.sgpr_count'");
}

TEST(CompressedBundles, OfASizeUnlikeTheirHeadersAreRefused) {
  const std::string bundle = bundle_of({object("one")});
  for (const uint16_t method : kMethods) {
    const std::string stream = method == 0 ? by_zlib(bundle) : by_zstd(bundle);
    const auto with = [&](uint64_t bytes) { return error_of(MadeBundle{3, method, stream, bytes}.file()); };
    EXPECT_THAT(with(bundle.size() + 1), HasSubstr(fmt::format("it unpacks to {}", bundle.size())));
    EXPECT_THAT(with(bundle.size() - 1), StartsWith("the compressed bundle at byte 0: of "));
    EXPECT_THAT(with(0), StartsWith("the compressed bundle at byte 0: of 0 bytes unpacked"));
  }
}

// Before memory is taken for it.
TEST(CompressedBundles, OutOfProportionAreRefused) {
  const std::string zeros(32 << 20, '\0');
  for (const uint16_t method : kMethods)
    EXPECT_THAT(error_of(compressed(zeros, 3, method)), HasSubstr("it unpacks to 33554432 bytes, out of proportion"));
  // Nor do many of them together, each of which is small enough.
  const std::string each = compressed(zeros.substr(0, 4 << 20), 2, 1);
  std::string several;
  for (int i = 0; i < 8; ++i) several += each;
  EXPECT_THAT(error_of(each), HasSubstr("no AMD code object"));
  EXPECT_THAT(error_of(several), HasSubstr("it unpacks to 4194304 bytes, out of proportion"));
  EXPECT_EQ(error_of(MadeBundle{.stream = by_zstd("x"), .unpacked_bytes = kMaxUnpackedBundleBytes + 1}.file()),
            "the compressed bundle at byte 0: it unpacks to 1073741825 bytes, wanted at most 1073741824");
  EXPECT_THAT(error_of(MadeBundle{.stream = by_zstd("x"), .unpacked_bytes = ~uint64_t{0}}.file()),
              HasSubstr("it unpacks to 18446744073709551615 bytes"));
}

}  // namespace
}  // namespace rung::amdgpu
