// Any bytes as an .npz file: refused, or arrays of reasonable size come back whole.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <sstream>

#include "import/npy_header.hpp"
#include "import/npz.hpp"
#include "import/zip.hpp"
#include "seeds.hpp"
#include "support/numpy_archive.hpp"

namespace {

std::string archive(const std::string& name, const rung::NpyHeader& header, const std::string& body) {
  std::ostringstream out;
  rung::ZipWriter zip(out);
  (void)zip.add(name, rung::make_npy_header(header), std::as_bytes(std::span(body.data(), body.size())));
  zip.finish();
  return out.str();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace rung;
  write_seeds(*argc, *argv,
              {archive("x.npy", {"<f8", true, {2, 3}}, std::string(48, '\0')),
               archive("m.npy", {"|b1", false, {3}}, std::string("\1\0\1", 3)),
               archive("i.npy", {"<i8", false, {}}, std::string(8, '\1')), archive("e.npy", {"<f4", false, {0}}, ""),
               numpy_archive()});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  auto arrays = parse_npz(std::as_bytes(std::span(data, size)), "fuzz");
  if (!arrays) return 0;
  uint64_t total = 0;
  for (const auto& [name, array] : *arrays) total += array.bytes();
  require(total <= size * uint64_t{1100} + 1100 * arrays->size(), "no more than deflate can pack");
  return 0;
}
