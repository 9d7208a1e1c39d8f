// Element-wise programs of any functions, shapes, broadcasts and types, as generated code: each step gives what the
// judge gives, and the whole program gives the bits of its steps.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "kernels/target.hpp"
#include "support/random_programs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  size_t at = 0;
  const auto next = [&] { return at < size ? data[at++] : uint8_t{0}; };
  test::ProgramMaker maker([&](size_t below) {
    const size_t low = next();
    return (below > 256 ? low << 8 | next() : low) % below;
  });
  const test::RandomProgram made = maker.make();
  for (const char* name : {"pointwise_generated_avx512", "pointwise_generated_avx2"}) {
    const Kernel& row = *cpu_target().kernel_named(name);
    if (!row.supports(made.problem, cpu::cpu_info())) continue;
    if (const std::string text = test::difference(row, made); !text.empty()) {
      std::fprintf(stderr, "%s, %s: %s\n", name, as<Pointwise>(made.problem.op)->program.c_str(), text.c_str());
      std::abort();
    }
  }
  return 0;
}
