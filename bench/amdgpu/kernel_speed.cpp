// What the emulator of AMD machine code executes in a second: rows of the kernel table, with all checks and with none.
// SPDX-License-Identifier: Apache-2.0
// amdgpu_bench [DEVICE [PART-OF-A-ROW'S-NAME]]: on emu:gfx942 unless another is named.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <string_view>

#include "device/gpu/emulated.hpp"
#include "device/gpu/gpu.hpp"
#include "gpu_rows.hpp"
#include "kernels/target.hpp"
#include "tune/gpu_trial.hpp"

namespace rung {
namespace {

struct Subject {
  std::string_view row, problem;  // inputs named "w..." are constants
};
constexpr Subject kSubjects[] = {
    {"softmax_gpu", "y = softmax(x:f32[2048,1024])"},
    {"layer_norm_gpu", "y = layer_norm(x:f32[1,512,384], w:f32[384], wb:f32[384])"},
    {"rms_norm_gpu", "y = rms_norm(x:f32[1,512,1024], w:f32[1024], weight_offset=1, out=bf16)"},
    {"pointwise_gpu",
     "y = pointwise(x:f32[1,512,384], z:f32[1,512,384], w:f32[384], "
     "program=\"r3=add(r0,r1);r4=gelu(r3);r5=add(r4,r2)\", out=f32)"},
    {"linear_tiled", "y = linear(x:f32[64,1024], w:f32[256,1024])"},
    {"linear_skinny_cdna", "y = linear(x:bf16[1,51,1024], w:bf16[768,1024], out=bf16)"},
    {"linear_wide_cdna", "y = linear(x:bf16[1,256,512], w:bf16[512,512], out=bf16)"},
    {"attention_mma", "y = attention(q:bf16[1,128,12,64], k:bf16[1,128,12,64], v:bf16[1,128,12,64], scale=0.125)"},
};

// Millions of wave instructions a second of one core, the best of three launches: others share the machine.
Result<double> millions_a_second(GpuTrial& trial, gpu::Context device) {
  double best = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    gpu::take_emulated_counts(device);
    const std::clock_t begin = std::clock();  // of all threads: other work on the machine does not count
    if (auto timed = trial.time(0); !timed) return tl::unexpected(timed.error());
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const auto executed = static_cast<double>(gpu::take_emulated_counts(device).instructions);
    best = std::max(best, executed / std::max(seconds, 1e-6) * 1e-6);
  }
  return best;
}

Status time_subject(const Target& target, const Subject& subject) {
  RUNG_TRY(BenchProblem read, read_problem(std::string(subject.problem), 0));
  const Kernel* row = target.kernel_named(subject.row);
  if (!row) return fail("no row '{}'", subject.row);
  if (Verdict takes = target.supports(*row, read.problem); !takes) return fail("'{}': {}", subject.row, takes.reason);
  RUNG_TRY(GpuTrialOperands operands, GpuTrialOperands::make(target, read.problem, 0));
  RUNG_TRY(GpuTrial trial, GpuTrial::make(operands, {row, {}}));
  const gpu::Context device = target.gpu->context();
  double rates[2] = {};
  for (const bool checked : {true, false}) {
    gpu::set_emulated_checks(device, {.uninitialised = checked, .races = checked, .waits = checked});
    RUNG_TRY(rates[checked], millions_a_second(trial, device));
  }
  fmt::print("{:<20} {:8.2f} with checks {:8.2f} without\n", subject.row, rates[1], rates[0]);
  return {};
}

Status time_all(const std::string& device, const std::string& part) {
  RUNG_TRY(const DeviceWord word, parse_device(device));
  RUNG_TRY(const Target* target, open_target(word));
  fmt::print("{}: million wave instructions a second and core\n", device);
  for (const Subject& subject : kSubjects)
    if (subject.row.find(part) != std::string_view::npos) RUNG_CHECK(time_subject(*target, subject));
  return {};
}

}  // namespace
}  // namespace rung

int main(int count, char** words) {
  const auto done = rung::time_all(count > 1 ? words[1] : "emu:gfx942", count > 2 ? words[2] : "");
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}
