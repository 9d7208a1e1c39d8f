// Any bytes as a code object: refused, or all that it tells of lies within the file, and its code can be read.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/machine_code.hpp"
#include "amdgpu/code/code_object.hpp"
#include "amdgpu/run/image.hpp"
#include "seeds.hpp"
#include "support/made_bundle.hpp"
#include "support/made_code_object.hpp"

namespace {

bool within(std::span<const std::byte> part, std::span<const std::byte> file) {
  return part.empty() || (part.data() >= file.data() && part.data() + part.size() <= file.data() + file.size());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using rung::testing::MadeCodeObject;
  rung::write_seeds(
      *argc, *argv,
      {MadeCodeObject({{.name = "a"}}).file(),
       // global_load_dwordx4, ds_write_b128, s_waitcnt, s_and_saveexec_b64, v_lshl_add_u32 and a branch back
       MadeCodeObject({{.name = "loop",
                        .code = {0xdc5c8000, 0x047f0002, 0xd9be0000, 0x00000401, 0xbf8c0f70, 0xbe82206a, 0xd1fd0001,
                                 0x04010900, 0xbf85fff7, 0xbf810000}}})
           .file(),
       rung::testing::compressed(rung::testing::bundle_of({MadeCodeObject({{.name = "b"}}).file()}), 3, 1),
       rung::testing::compressed(MadeCodeObject({{.name = "c"}}).file(), 1, 0),
       MadeCodeObject({{.name = "add", .arguments = {{"by_value", 0, 8}}, .argument_bytes = 8, .lds_bytes = 64},
                       {.name = "other", .scratch_bytes = 16}},
                      rung::amdgpu::Isa::gfx950)
           .file()});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  using namespace rung::amdgpu;
  const auto file = std::as_bytes(std::span(data, size));
  if (const auto kernels = read_machine_code(file, {}, Isa::gfx942))
    for (const KernelReading& kernel : *kernels)
      require(kernel.code.in_loops <= kernel.code.instructions, "what is in loops is in the kernel");
  auto object = read_code_object(file);
  if (!object) return 0;
  uint64_t bytes = 0;
  for (const Segment& segment : object->segments) {
    require(within(segment.data, file), "a segment's bytes are the file's");
    require(segment.data.size() <= segment.bytes, "a segment's bytes fit into it");
    bytes = segment.address + segment.bytes;
  }
  for (const KernelInfo& kernel : object->kernels) {
    const auto code = object->at(kernel.entry, kernel.code_bytes);
    require(!code.empty() && within(code, file), "a kernel's code is in the file");
    for (const KernelArgument& argument : kernel.arguments)
      require(argument.offset + argument.size <= kernel.argument_bytes, "arguments fit into their block");
  }
  if (bytes > (16 << 20)) return 0;
  Memory memory;
  require(Image::load(*object, memory).has_value(), "what was read can be loaded");
  return 0;
}
