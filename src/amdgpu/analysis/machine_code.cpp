// Tells text from code objects.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/machine_code.hpp"

#include <algorithm>

#include "amdgpu/code/assembly.hpp"
#include "amdgpu/code/embedded_objects.hpp"

namespace rung::amdgpu {
namespace {

// Returns whether the file is text: text has no zero bytes, and all forms of code objects have some at their beginning.
bool is_text(std::span<const std::byte> file) {
  constexpr size_t kFront = 4096;
  const auto front = file.first(std::min(file.size(), kFront));
  return std::find(front.begin(), front.end(), std::byte{0}) == front.end();
}

Result<std::vector<KernelReading>> read_text(std::string_view text, const IsaOptions& options, std::optional<Isa> isa) {
  RUNG_TRY(const auto kernels, read_assembly(text, isa));
  std::vector<KernelReading> readings;
  for (const AssemblyKernel& kernel : kernels) {
    RUNG_TRY(auto reading, read_kernel(kernel.info, kernel.listing, options));
    reading.described = kernel.described;
    readings.push_back(std::move(reading));
  }
  return readings;
}

}  // namespace

Result<std::vector<KernelReading>> read_machine_code(std::span<const std::byte> file, const IsaOptions& options,
                                                     std::optional<Isa> isa) {
  if (!file.empty() && is_text(file))
    return read_text({reinterpret_cast<const char*>(file.data()), file.size()}, options, isa);
  std::vector<KernelReading> all;
  RUNG_CHECK(for_each_code_object(file, [&](std::span<const std::byte> bytes) -> Status {
    RUNG_TRY(const CodeObject object, read_code_object(bytes));
    RUNG_TRY(auto readings, read_kernels(object, options));
    std::move(readings.begin(), readings.end(), std::back_inserter(all));
    return {};
  }));
  return all;
}

}  // namespace rung::amdgpu
