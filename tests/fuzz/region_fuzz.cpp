// Element-wise programs and regions of any functions, shapes, broadcasts and types, as generated code: each step gives
// what the judge gives, and the whole program the bits of its steps.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "kernels/target.hpp"
#include "support/random_regions.hpp"

namespace rung {
namespace {

void stop_if(const std::string& text, const char* name, std::string_view program) {
  if (text.empty()) return;
  std::fprintf(stderr, "%s, %s: %s\n", name, std::string(program).c_str(), text.c_str());
  std::abort();
}

void compare_program(const test::Decide& decide) {
  const test::RandomProgram made = test::ProgramMaker(decide).make();
  for (const char* name : {"pointwise_generated_avx512", "pointwise_generated_avx2"}) {
    const Kernel& row = *cpu_target().kernel_named(name);
    if (!row.supports(made.problem, cpu::cpu_info())) continue;
    stop_if(test::difference(row, made), name, as<Pointwise>(made.problem.op)->program);
  }
}

void compare_region(const test::Decide& decide, test::RegionValues values) {
  const test::RandomRegion made = test::RegionMaker(decide, values).make_region();
  for (const char* name : {"region_generated_avx512", "region_generated_avx2"}) {
    const Kernel& row = *cpu_target().kernel_named(name);
    if (!row.supports(made.operands.problem, cpu::cpu_info())) continue;
    stop_if(test::difference(row, made, values), name, as<Region>(made.operands.problem.op)->program);
  }
}

}  // namespace
}  // namespace rung

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  size_t at = 0;
  const auto next = [&] { return at < size ? data[at++] : uint8_t{0}; };
  const test::Decide decide = [&](size_t below) {
    const size_t low = next();
    return (below > 256 ? low << 8 | next() : low) % below;
  };
  switch (decide(3)) {
    case 0:
      compare_program(decide);
      break;
    case 1:
      compare_region(decide, test::RegionValues::any);
      break;
    default:
      compare_region(decide, test::RegionValues::whole);
  }
  return 0;
}
