// Any bytes as a safetensors file: refused, or every tensor lies within the file and may be read.
// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "ir/safetensors.hpp"
#include "seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace rung;
  std::ostringstream one, several;
  (void)write_safetensors(one, {{"w", Tensor::of<float>({2}, {1, 2})}}, {});
  (void)write_safetensors(several,
                          {{"a", Tensor::of<bf16>({1, 3}, {bf16(1), bf16(2), bf16(3)})},
                           {"b", Tensor::of<int64_t>({}, {7})},
                           {"c", Tensor({DType::boolean, {0, 2}})}},
                          {{"format", "x"}, {"plan", "{}"}});
  write_seeds(*argc, *argv, {one.str(), several.str()});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  auto file = std::as_bytes(std::span(data, size));
  auto header = parse_safetensors(file, "fuzz");
  if (!header) return 0;
  uint64_t covered = 0;
  for (const auto& [name, entry] : header->tensors) {
    require(entry.begin <= entry.end && entry.end <= size, "tensor within the file");
    require(entry.end - entry.begin == entry.type.bytes(), "size agrees with type");
    covered += entry.end - entry.begin;
  }
  require(covered <= size, "no byte belongs to two tensors");
  return 0;
}
