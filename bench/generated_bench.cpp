// Times generated element-wise code and the interpreter in turns, on operands that stay in the second-level cache, and
// its bandwidth beside a plain triad on operands that do not; regions beside what they replace: generated_bench
// [THREADS [regions]]. With the word, regions alone.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/random.hpp"
#include "gpu_rows.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/target.hpp"
#include "region_turns.hpp"

namespace rung {
namespace {

struct Bench {
  const char* name;
  const char* text;
};

// Operands of 256 KB of f32 each, or less.
constexpr Bench kPrograms[] = {
    {"add and mul",
     "y = pointwise(a:T[65536], b:T[65536], c:T[65536], "
     "program=\"r3=mul(r0,r1);r4=add(r3,r2);r5=mul(r4,r0);r6=add(r5,0.5)\", out=T)"},
    {"GELU by erf",
     "y = pointwise(a:T[65536], "
     "program=\"r1=mul(r0,0.70710677);r2=erf(r1);r3=add(r2,1);r4=mul(r0,r3);r5=mul(r4,0.5)\", out=T)"},
    {"GELU by tanh and pow",
     "y = pointwise(a:T[65536], program=\"r1=pow(r0,3);r2=mul(r1,0.044715);r3=add(r0,r2);r4=mul(r3,0.7978846);"
     "r5=tanh(r4);r6=add(r5,1);r7=mul(r0,r6);r8=mul(r7,0.5)\", out=T)"},
    {"SwiGLU", "y = pointwise(a:T[65536], b:T[65536], program=\"r2=sigmoid(r0);r3=mul(r0,r2);r4=mul(r3,r1)\", out=T)"},
    {"bias and residual",
     "y = pointwise(a:T[128,512], b:T[512], c:T[128,512], "
     "program=\"r3=add(r0,r1);r4=add(r3,r2)\", out=T)"},
    {"cos of a rope table", "y = pointwise(a:T[1024,1], b:T[64], program=\"r2=mul(r0,r1);r3=cos(r2)\", out=T)"},
    {"sin of a rope table", "y = pointwise(a:T[1024,1], b:T[64], program=\"r2=mul(r0,r1);r3=sin(r2)\", out=T)"},
    {"rows of 16", "y = pointwise(a:T[4096,16], b:T[4096,1], program=\"r2=sub(r0,r1);r3=exp(r2)\", out=T)"},
    {"transposed operand",
     "y = pointwise(transpose(a:T[256,256], permutation=[1,0]), b:T[256,256], "
     "program=\"r2=add(r0,r1);r3=mul(r2,0.5)\", out=T)"},
    {"a small sum", "y = add(a:T[384], b:T[384])"},
    {"log", "y = log(positive:T[65536])"},
    {"pow", "y = pow(positive:T[65536], b:T[65536])"},
    {"mask", "y = pointwise(a:T[65536], b:T[65536], program=\"r2=gt(r0,r1);r3=select(r2,r0,-1);r4=exp(r3)\", out=T)"},
    {"tan", "y = formula(a:T[65536], kind=tan)"},
};

std::string with_type(std::string text, const char* type) {
  for (size_t at = 0; (at = text.find(":T[", at)) != std::string::npos;) text.replace(at + 1, 1, type);
  if (const size_t at = text.find("out=T"); at != std::string::npos) text.replace(at + 4, 1, type);
  return text;
}

Tensor values(const std::string& name, const Type& type) {
  Tensor wide({DType::f32, type.shape});
  for (size_t i = 0; i < wide.as<float>().size(); ++i) {
    const auto value = static_cast<float>(random_normal(1, i));
    wide.as<float>()[i] = name == "positive" ? std::abs(value) + 0.1f : value;
  }
  return convert(wide, type.dtype);
}

// A problem with operands; the tensors keep them alive.
struct Case {
  Graph graph;
  Problem problem;
  std::map<NodeId, Tensor> tensors;
  std::vector<const void*> inputs;
  std::shared_ptr<std::byte> output;
};

Case make_case(const std::string& text, int threads) {
  auto read = read_problem(text, threads);
  if (!read) std::printf("%s\n%s\n", text.c_str(), read.error().message.c_str()), std::exit(1);
  Case made{std::move(read->graph), std::move(read->problem), {}, {}, {}};
  for (NodeId operand : made.graph[read->node].operands) {
    const NodeId base = cpu::resolve_view(made.graph, operand).base;
    auto [found, fresh] = made.tensors.try_emplace(base);
    if (fresh) found->second = values(made.graph.as<Input>(base)->name, made.graph.type(base));
    made.inputs.push_back(found->second.data());
  }
  made.output = cpu::aligned_bytes(results_of(made.problem).back().end());
  return made;
}

using Clock = std::chrono::steady_clock;

template <class F>
double seconds(const F& f) {
  const auto start = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double least(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

void time_in_turns(const Bench& bench, const char* type, cpu::Team& team) {
  const Case made = make_case(with_type(bench.text, type), team.size());
  std::vector<cpu::Bound> rows;
  std::vector<std::string> names;
  for (const Kernel* row : cpu_target().kernels_for(op_family(made.problem.op)))
    if (row->supports(made.problem, cpu::cpu_info())) {
      rows.push_back(cpu::bind(*row, made.problem, made.inputs, made.output.get()));
      names.emplace_back(row->name);
    }
  std::vector<std::vector<double>> times(rows.size());
  std::atomic<Fault> fault{Fault::none};
  for (int round = 0; round < 41; ++round)
    for (size_t i = 0; i < rows.size(); ++i) {
      const int repeats = rows[i].kernel->role == Role::fallback ? 1 : 10;
      if (rows[i].kernel->role == Role::fallback && round > 2) continue;
      times[i].push_back(seconds([&] {
                           for (int r = 0; r < repeats; ++r) rows[i].run(team, &fault);
                         }) /
                         repeats);
    }
  std::printf("%s, %s\n", bench.name, type);
  const double first = least(times[0]);
  for (size_t i = 0; i < rows.size(); ++i)
    std::printf("  %-28s %9.2f us  %6.2f\n", names[i].c_str(), least(times[i]) * 1e6, least(times[i]) / first);
  std::vector<double> prepare;
  for (int i = 0; i < 21; ++i)
    prepare.push_back(seconds([&] { cpu::bind(*rows[0].kernel, made.problem, made.inputs, made.output.get()); }));
  rows.clear();  // the code is shared as long as anyone holds it
  std::vector<double> assemble;
  const Kernel& row = *cpu_target().kernels_for(op_family(made.problem.op)).front();
  for (int i = 0; i < 21; ++i)
    assemble.push_back(seconds([&] { cpu::bind(row, made.problem, made.inputs, made.output.get()); }));
  std::printf("  assembled in %.0f us, found again in %.0f us\n", least(assemble) * 1e6, least(prepare) * 1e6);
}

__attribute__((target("avx512f"))) void triad(const float* a, const float* b, const float* c, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i] + c[i];
}

void time_bandwidth(int64_t megabytes, cpu::Team& team) {
  const int64_t elements = megabytes * (1 << 20) / 4;
  const Case made = make_case(fmt::format("y = pointwise(a:f32[{0}], b:f32[{0}], c:f32[{0}], "
                                          "program=\"r3=mul(r0,r1);r4=add(r3,r2)\", out=f32)",
                                          elements),
                              team.size());
  const Kernel& row = *cpu_target().kernels_for("pointwise").front();
  const cpu::Bound bound = cpu::bind(row, made.problem, made.inputs, made.output.get());
  std::vector<double> ours, plain;
  std::atomic<Fault> fault{Fault::none};
  const auto in = [&](size_t i) { return static_cast<const float*>(made.inputs[i]); };
  auto* out = reinterpret_cast<float*>(made.output.get());
  for (int round = 0; round < 21; ++round) {
    ours.push_back(seconds([&] { bound.run(team, &fault); }));
    plain.push_back(seconds([&] {
      team.run(team.size(), [&](int part, int) {
        const auto mine = cpu::share(elements, part, team.size(), 64);
        triad(in(0) + mine.begin, in(1) + mine.begin, in(2) + mine.begin, out + mine.begin, mine.count());
      });
    }));
  }
  const double bytes = 16.0 * static_cast<double>(elements);
  std::printf("operands of %lld MB: %.1f GB/s, a plain triad %.1f GB/s, %.0f %%\n", static_cast<long long>(megabytes),
              bytes / least(ours) * 1e-9, bytes / least(plain) * 1e-9, 100 * least(plain) / least(ours));
}

}  // namespace
}  // namespace rung

int main(int argc, char** argv) {
  using namespace rung;
  cpu::Team team(argc > 1 ? std::atoi(argv[1]) : 1);
  std::printf("%s, %d threads, %s\n", cpu::cpu_info().name.c_str(), team.size(), cpu::cpu_info().isa_text().c_str());
  time_regions(team);
  if (argc > 2) return 0;
  for (const char* type : {"f32", "bf16"})
    for (const Bench& bench : kPrograms) time_in_turns(bench, type, team);
  for (int64_t megabytes : {16, 32, 64}) time_bandwidth(megabytes, team);
}
