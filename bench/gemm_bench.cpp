// How fast every linear row is on MiniLM's shapes: GFLOP/s, share of the FMA peak measured beside it, and weights'
// GB/s, with weights warm (one copy) and cold (copies beyond the last cache, one after another). Rows take turns; best
// of all.
// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/random.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/target.hpp"

namespace rung::cpu {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// FMA on registers alone, FLOP of one call.
__attribute__((target("avx2,fma"))) double fma_avx2() {
  __m256 sums[12];
#pragma GCC unroll 12
  for (int j = 0; j < 12; ++j) sums[j] = _mm256_set1_ps(static_cast<float>(j));
  __m256 a = _mm256_set1_ps(1.0001f), b = _mm256_set1_ps(1e-5f);
  for (int i = 0; i < 20000; ++i) {
    asm volatile("" : "+x"(a), "+x"(b));
#pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) sums[j] = _mm256_fmadd_ps(sums[j], a, b);
  }
#pragma GCC unroll 12
  for (int j = 0; j < 12; ++j) asm volatile("" : : "x"(sums[j]));
  return 20000.0 * 12 * 8 * 2;
}
__attribute__((target("avx512f"))) double fma_avx512() {
  __m512 sums[12];
#pragma GCC unroll 12
  for (int j = 0; j < 12; ++j) sums[j] = _mm512_set1_ps(static_cast<float>(j));
  __m512 a = _mm512_set1_ps(1.0001f), b = _mm512_set1_ps(1e-5f);
  for (int i = 0; i < 20000; ++i) {
    asm volatile("" : "+v"(a), "+v"(b));
#pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) sums[j] = _mm512_fmadd_ps(sums[j], a, b);
  }
#pragma GCC unroll 12
  for (int j = 0; j < 12; ++j) asm volatile("" : : "v"(sums[j]));
  return 20000.0 * 12 * 16 * 2;
}

double peak_gflops(Team& team) {
  double best = 0;
  for (const double begin = now(); now() - begin < 1.0;) {
    const double start = now();
    std::atomic<int64_t> flop{0};
    team.run_on_all([&](int) { flop += static_cast<int64_t>(cpu_info().avx512 ? fma_avx512() : fma_avx2()); });
    best = std::max(best, static_cast<double>(flop.load()) / (now() - start) / 1e9);
  }
  return best;
}

struct Shape3 {
  int64_t m, n, k;
};

Problem problem_for(const Shape3& s, DType type, int threads) {
  Linear op;
  op.slots.add(LinearSlot::bias);
  op.out = type;
  Problem p;
  p.op = op;
  p.inputs = {{type, Shape{s.m, s.k}, Strides{s.k, 1}, false},
              {type, Shape{s.n, s.k}, Strides{s.k, 1}, true},
              {DType::f32, Shape{s.n}, Strides{1}, true}};
  p.output = {type, Shape{s.m, s.n}, Strides{s.n, 1}, false};
  p.threads = threads;
  return p;
}

Tensor random_tensor(Type type, uint64_t seed) {
  Tensor t({DType::f32, type.shape});
  auto values = t.as<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = random_uniform(seed, i) - 0.5f;
  return convert(t, type.dtype);
}

// One row on one shape, with `copies` of its packed weights.
struct Contender {
  const Kernel* row = nullptr;
  Bound bound;
  std::vector<std::shared_ptr<std::byte>> weights;
  double best = 1e9;

  Contender(const Kernel* kernel, const Problem& problem, const std::vector<Tensor>& inputs, Tensor& out)
      : row(kernel) {
    bound = cpu::bind(*kernel, problem, {inputs[0].data(), inputs[1].data(), inputs[2].data()}, out.data());
    const size_t packed = kernel->packed_for(problem, cpu_info(), 1);
    const size_t bytes = packed ? packed : inputs[1].bytes();
    const size_t copies = std::max<size_t>(2, 2 * cpu_info().l3_bytes / bytes + 1);
    for (size_t i = 0; i < copies; ++i) {
      weights.push_back(aligned_bytes(bytes));
      std::memcpy(weights.back().get(), bound.inputs[1], bytes);
    }
  }
  void run(Team& team, size_t copy) {
    std::atomic<Fault> fault{Fault::none};
    bound.inputs[1] = weights[copy % weights.size()].get();
    const double start = now();
    bound.run(team, &fault);
    best = std::min(best, now() - start);
  }
};

void bench(const Shape3& s, DType type, int threads, double peak) {
  Team team(threads);
  const Problem problem = problem_for(s, type, threads);
  std::vector<Tensor> inputs = {random_tensor({type, problem.inputs[0].shape}, 1),
                                random_tensor({type, problem.inputs[1].shape}, 2),
                                random_tensor({DType::f32, problem.inputs[2].shape}, 3)};
  Tensor out({type, problem.output.shape});
  std::vector<Contender> contenders;
  for (const Kernel* row : cpu_target().kernels_for("linear"))
    if (row->role != Role::fallback && row->supports(problem, cpu_info()))
      contenders.emplace_back(row, problem, inputs, out);
  const double flop = 2.0 * static_cast<double>(s.m * s.n * s.k), bytes = static_cast<double>(inputs[1].bytes());
  for (bool cold : {false, true}) {
    for (Contender& c : contenders) c.best = 1e9;
    size_t next = 0;
    for (double start = now(); now() - start < 0.25 * static_cast<double>(contenders.size());)
      for (Contender& c : contenders)
        for (int i = 0; i < 20; ++i) c.run(team, cold ? next++ : 0);
    for (const Contender& c : contenders)
      std::printf(
          "%-4s m=%-4ld n=%-5ld k=%-5ld threads=%d %s  %-20s %9.1f us %7.1f GFLOP/s %5.1f %% of peak %6.1f GB/s\n",
          std::string(name_of(type)).c_str(), s.m, s.n, s.k, threads, cold ? "cold" : "warm",
          std::string(c.row->name).c_str(), c.best * 1e6, flop / c.best / 1e9, 100 * flop / c.best / 1e9 / peak,
          bytes / c.best / 1e9);
  }
  std::fflush(stdout);
}

void bench_all(int threads) {
  Team team(threads);
  const double peak = peak_gflops(team);
  std::printf("%s, %d threads: f32 FMA peak %.1f GFLOP/s\n", cpu_info().isa_text().c_str(), threads, peak);
  for (DType type : {DType::f32, DType::bf16})
    for (int64_t m : {16, 128, 256})
      for (Shape3 s : {Shape3{m, 384, 384}, Shape3{m, 1152, 384}, Shape3{m, 1536, 384}, Shape3{m, 384, 1536}})
        bench(s, type, threads, peak);
}

}  // namespace
}  // namespace rung::cpu

// gemm_bench [threads...]
int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) rung::cpu::bench_all(std::atoi(arguments[i]));
  if (count < 2)
    for (int threads : {1, 2}) rung::cpu::bench_all(threads);
}
