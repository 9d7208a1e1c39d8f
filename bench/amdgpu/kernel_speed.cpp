// What the emulator of AMD machine code executes in a second: two of our kernels, with all checks and with none.
// SPDX-License-Identifier: Apache-2.0
// kernel_speed FOLDER [THREADS]: FOLDER holds code objects norm.co and linear_tiled.co for one architecture.
#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

#include "amdgpu/decode.hpp"
#include "amdgpu/execute.hpp"
#include "amdgpu/image.hpp"
#include "amdgpu/memory.hpp"
#include "amdgpu/program.hpp"
#include "base/random.hpp"
#include "kernels/gpu/linear/linear_tiled_arguments.hpp"
#include "kernels/gpu/norm/norm_arguments.hpp"

namespace rung::amdgpu {
namespace {

struct Loaded {
  std::vector<char> file;
  CodeObject object;
  std::unique_ptr<Image> image;
  std::unique_ptr<Program> program;
};

Status load(const std::string& path, const std::string& kernel, Memory& memory, Loaded& to) {
  std::ifstream file(path, std::ios::binary);
  to.file.assign(std::istreambuf_iterator<char>(file), {});
  auto object = read_code_object(std::as_bytes(std::span(to.file)));
  if (!object) return fail_in(object.error(), "'{}'", path);
  to.object = std::move(*object);
  auto image = Image::load(to.object, memory);
  if (!image) return tl::unexpected(image.error());
  to.image = std::move(*image);
  const KernelInfo* info = to.object.find(kernel);
  if (info == nullptr) return fail("'{}' has no kernel '{}'", path, kernel);
  auto program = Program::make(to.object, *info, to.image->base());
  if (!program) return tl::unexpected(program.error());
  to.program = std::make_unique<Program>(std::move(*program));
  return {};
}

uint64_t floats(Memory& memory, size_t count, uint64_t seed) {
  const uint64_t address = memory.allocate(count * 4).value();
  if (seed == 0) return address;
  auto* data = reinterpret_cast<float*>(address);
  for (size_t n = 0; n < count; ++n) data[n] = random_normal_fast(seed, n);
  memory.mark_written(address, count * 4);
  return address;
}

void time_both(const char* name, const Dispatch& dispatch, Memory& memory, int threads) {
  for (const bool checked : {true, false}) {
    const Checks checks{.uninitialised = checked, .races = checked, .waits = checked};
    double best = 1e30;
    uint64_t instructions = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::clock_t begin = std::clock();  // of all threads: other work on the machine does not count
      auto done = execute(dispatch, memory, checks, threads);
      const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      if (!done) return fmt::print("{}: {}\n", name, done.error().message);
      for (const Finding& finding : done->findings) fmt::print("{}: {}\n", name, finding.text());
      instructions = done->counts.instructions;
      best = std::min(best, seconds);
    }
    fmt::print("{} {}: {} wave instructions, {:.2f} million a second and core\n", name,
               checked ? "with checks" : "without", instructions, static_cast<double>(instructions) / best / 1e6);
  }
}

void softmax(const std::string& folder, int threads) {
  Memory memory;
  Loaded code;
  if (auto made = load(folder + "/norm.co", "norm_2", memory, code); !made)
    return fmt::print("{}\n", made.error().message);
  const uint32_t rows = 2048, width = 1024;
  gpu::NormArguments a{};
  a.x = {floats(memory, rows * width, 1), 1, DType::f32, true};
  a.residual.type = a.weight.type = a.bias.type = DType::f32;
  a.out = {floats(memory, rows * width, 0), 1, DType::f32, true};
  a.rows.count = rows, a.rows.rank = 1;
  a.rows.size[0] = gpu::Divisor(rows);
  for (auto& stride : a.rows.stride) stride[0] = width;
  a.width = width, a.group = 64, a.kind = gpu::NormKind::softmax;
  time_both("softmax", {&*code.program, {rows / 4}, {256}, 0, std::as_bytes(std::span(&a, 1))}, memory, threads);
  double sum = 0;
  for (uint32_t n = 0; n < width; ++n) sum += reinterpret_cast<const float*>(a.out.base)[5 * width + n];
  fmt::print("softmax: the sum of a row is {}\n", sum);
}

void product(const std::string& folder, int threads) {
  Memory memory;
  Loaded code;
  if (auto made = load(folder + "/linear_tiled.co", "tiled", memory, code); !made) {
    std::string names;
    for (const KernelInfo& kernel : code.object.kernels) names += " " + kernel.name;
    return fmt::print("{}:{}\n", made.error().message, names);
  }
  const uint32_t m = 64, n = 256, k = 1024;
  gpu::TiledArguments a{};
  a.x = floats(memory, m * k, 1), a.w = floats(memory, n * k, 2), a.out = floats(memory, m * n, 0);
  a.batch.count = 1, a.batch.rank = 0;
  a.rows.count = m, a.rows.rank = 1;
  a.rows.size[0] = gpu::Divisor(m);
  for (auto& stride : a.rows.stride) stride[0] = k;
  a.x_step = 1, a.w_row = k, a.w_step = 1;
  a.m = m, a.n = n, a.k = k, a.half = 1;
  a.x_type = a.w_type = a.bias_type = a.residual_type = a.cos_type = a.sin_type = a.out_type = DType::f32;
  time_both("linear_tiled", {&*code.program, {n / 64, m / 64}, {256}, 0, std::as_bytes(std::span(&a, 1))}, memory,
            threads);
  double expected = 0;
  for (uint32_t i = 0; i < k; ++i)
    expected += double{reinterpret_cast<const float*>(a.x)[3 * k + i]} * reinterpret_cast<const float*>(a.w)[7 * k + i];
  fmt::print("linear_tiled: got {}, wanted {}\n", reinterpret_cast<const float*>(a.out)[3 * n + 7], expected);
}

}  // namespace
}  // namespace rung::amdgpu

int main(int count, char** words) {
  if (count < 2) return fmt::print("usage: kernel_speed FOLDER [THREADS]\n"), 2;
  const int threads = count > 2 ? std::atoi(words[2]) : 1;
  rung::amdgpu::softmax(words[1], threads);
  rung::amdgpu::product(words[1], threads);
}
