// Times how long code for generated kernels takes to make, cold and from the cache: code_bench [KERNELS
// [sm_90|gfx942]]. Each kernel is another region, as a large model has them. The caches are folders of its own.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "base/cores.hpp"
#include "base/scratch_folder.hpp"
#include "device/gpu/compilers/compiler.hpp"
#include "ir/text.hpp"
#include "kernels/generated/gpu/code.hpp"
#include "measure/clock.hpp"

namespace rung {
namespace {

// Programs of the kinds that models have; @ becomes a number, which makes them distinct.
constexpr const char* kPrograms[] = {
    "r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=div(r3,r4);r6=mul(r5,@);return r6:bf16",
    "r1=row_mean(r0);r2=sub(r0,r1);r3=mul(r2,r2);r4=row_mean(r3);r5=add(r4,@);r6=rsqrt(r5);r7=mul(r2,r6);return "
    "r7:bf16",
    "r1=mul(r0,r0);r2=row_mean(r1);r3=add(r2,@);r4=rsqrt(r3);r5=mul(r0,r4);return r5:bf16,r4:f32",
    "r1=mul(r0,@);r2=tanh(r1);r3=row_max(r2);r4=sub(r2,r3);r5=exp(r4);r6=row_sum(r5);r7=log(r6);r8=sub(r4,r7);"
    "return r8:f32",
    "r1=mul(r0,@);r2=gelu(r1);r3=row_sum(r2);r4=row_mean(r1);return r2:bf16,r3:f32,r4:f32",
};
constexpr const char* kShapes[] = {"[128,768]", "[512,1024]", "[1,197,384]", "[12,128,128]", "[2048,2560]"};

Result<std::vector<std::string>> sources_for(const gpu::GpuInfo& gpu, int count) {
  std::vector<std::string> sources;
  for (int i = 0; i < count; ++i) {
    std::string program = kPrograms[i % std::size(kPrograms)];
    program.replace(program.find('@'), 1, fmt::format("0.{:04}", i + 1));
    RUNG_TRY(const Graph graph, parse_graph(fmt::format("y = region(x:{}{}, program=\"{}\")", i % 2 ? "bf16" : "f32",
                                                        kShapes[i / 5 % std::size(kShapes)], program)));
    const NodeId node = graph.outputs()[0].node;
    Problem problem{.op = graph[node].op, .inputs = {}, .output = {}};
    const auto operand_of = [&](const Type& type) {
      return Operand{type.dtype, type.shape, contiguous_strides(type.shape)};
    };
    for (const NodeId operand : graph[node].operands) problem.inputs.push_back(operand_of(graph.type(operand)));
    problem.output = operand_of(graph.type(node));
    RUNG_TRY(gpu::GeneratedSource source, gpu::generate_source(problem, gpu));
    sources.push_back(std::move(source.text));
  }
  return sources;
}

double working_seconds(int who) {
  rusage used{};
  getrusage(who, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Gets the code of all sources in a process of its own, which knows only what the cache holds.
void time_all(const char* cache, const std::vector<std::string>& sources, const gpu::GpuInfo& gpu) {
  const pid_t child = fork();
  if (child != 0) return void(waitpid(child, nullptr, 0));
  const auto seconds = checked_seconds_of([&] { return gpu::compile_all(sources, gpu); });
  if (seconds)
    std::printf("%s cache: %zu compiled, %.2f s on %d cores, which worked %.2f s\n", cache, gpu::compilations(),
                *seconds, usable_cores(), working_seconds(RUSAGE_SELF) + working_seconds(RUSAGE_CHILDREN));
  else
    std::printf("%s\n", seconds.error().message.c_str());
  std::fflush(stdout);
  _exit(seconds ? 0 : 1);
}

Status run(int count, const std::string& word) {
  const bool nvidia = word == "sm_90";
  const gpu::GpuInfo gpu{.name = word,
                         .runtime = nvidia ? "cuda" : "emu",
                         .architecture = nvidia ? 90 : 0x942,
                         .multiprocessors = nvidia ? 132 : 304,
                         .lanes = nvidia ? 32 : 64};
  RUNG_TRY(const auto sources, sources_for(gpu, count));
  RUNG_TRY(const ScratchFolder folder, ScratchFolder::create());
  setenv("RUNG_CACHE_DIR", (folder / "cache").c_str(), 1);
  std::printf("%s: %zu distinct sources\n", word.c_str(), std::set(sources.begin(), sources.end()).size());
  std::fflush(stdout);
  for (const char* cache : {"cold", "warm"}) time_all(cache, sources, gpu);
  return {};
}

}  // namespace
}  // namespace rung

int main(int count, char** arguments) {
  const auto done = rung::run(count > 1 ? std::atoi(arguments[1]) : 100, count > 2 ? arguments[2] : "gfx942");
  if (!done) std::printf("%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
