// Regions of models, each beside the ops that a plan without regions runs.
// SPDX-License-Identifier: Apache-2.0
#include "region_turns.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/random.hpp"
#include "ir/text.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/target.hpp"

namespace rung {
namespace {

struct RegionBench {
  const char* name;
  const char* region;
  const char* separate;
};

constexpr RegionBench kRegions[] = {
    {"soft-capped softmax [12,128,128]",
     "y = region(x:f32[12,128,128], program=\"r1=div(r0,30);r2=tanh(r1);r3=mul(r2,30);r4=row_max(r3);r5=sub(r3,r4);"
     "r6=exp(r5);r7=row_sum(r6);r8=reciprocal(r7);r9=mul(r6,r8);return r9:f32\")",
     "p = pointwise(x:f32[12,128,128], program=\"r1=div(r0,30);r2=tanh(r1);r3=mul(r2,30)\", out=f32)\ny = softmax(p)"},
    {"log-softmax [128,30522]",
     "y = region(x:f32[128,30522], program=\"r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=log(r4);"
     "r6=sub(r2,r5);return r6:f32\")",
     "m = reduce(x:f32[128,30522], kind=max, keep_dim=true)\n"
     "e = pointwise(x, m, program=\"r2=sub(r0,r1);r3=exp(r2)\", out=f32)\ns = reduce(e, keep_dim=true)\n"
     "y = pointwise(x, m, s, program=\"r3=sub(r0,r1);r4=log(r2);r5=sub(r3,r4)\", out=f32)"},
    {"log-softmax [4096,16]",
     "y = region(x:f32[4096,16], program=\"r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=log(r4);"
     "r6=sub(r2,r5);return r6:f32\")",
     "m = reduce(x:f32[4096,16], kind=max, keep_dim=true)\n"
     "e = pointwise(x, m, program=\"r2=sub(r0,r1);r3=exp(r2)\", out=f32)\ns = reduce(e, keep_dim=true)\n"
     "y = pointwise(x, m, s, program=\"r3=sub(r0,r1);r4=log(r2);r5=sub(r3,r4)\", out=f32)"},
    {"log-softmax [4096,10]",
     "y = region(x:f32[4096,10], program=\"r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=log(r4);"
     "r6=sub(r2,r5);return r6:f32\")",
     "m = reduce(x:f32[4096,10], kind=max, keep_dim=true)\n"
     "e = pointwise(x, m, program=\"r2=sub(r0,r1);r3=exp(r2)\", out=f32)\ns = reduce(e, keep_dim=true)\n"
     "y = pointwise(x, m, s, program=\"r3=sub(r0,r1);r4=log(r2);r5=sub(r3,r4)\", out=f32)"},
    {"log-softmax [4096,5]",
     "y = region(x:f32[4096,5], program=\"r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=log(r4);"
     "r6=sub(r2,r5);return r6:f32\")",
     "m = reduce(x:f32[4096,5], kind=max, keep_dim=true)\n"
     "e = pointwise(x, m, program=\"r2=sub(r0,r1);r3=exp(r2)\", out=f32)\ns = reduce(e, keep_dim=true)\n"
     "y = pointwise(x, m, s, program=\"r3=sub(r0,r1);r4=log(r2);r5=sub(r3,r4)\", out=f32)"},
    {"layer norm spelled out [128,768]",
     "y = region(x:f32[128,768], w:f32[768], b:f32[768], program=\"r3=row_mean(r0);r4=sub(r0,r3);r5=square(r4);"
     "r6=row_mean(r5);r7=add(r6,1e-05);r8=rsqrt(r7);r9=mul(r4,r8);r10=mul(r9,r1);r11=add(r10,r2);return r11:f32\")",
     "m = reduce(x:f32[128,768], kind=mean, keep_dim=true)\n"
     "d = pointwise(x, m, program=\"r2=sub(r0,r1);r3=square(r2)\", out=f32)\nv = reduce(d, kind=mean, keep_dim=true)\n"
     "y = pointwise(x, m, v, w:f32[768], b:f32[768], program=\"r5=sub(r0,r1);r6=add(r2,1e-05);r7=rsqrt(r6);"
     "r8=mul(r5,r7);r9=mul(r8,r3);r10=add(r9,r4)\", out=f32)"},
    {"layer norm and GELU [128,768]",
     "y = region(x:f32[128,768], w:f32[768], b:f32[768], program=\"r3=row_mean(r0);r4=sub(r0,r3);r5=square(r4);"
     "r6=row_mean(r5);r7=add(r6,1e-05);r8=rsqrt(r7);r9=mul(r4,r8);r10=mul(r9,r1);r11=add(r10,r2);r12=gelu(r11);"
     "return r12:f32\")",
     "y = gelu(layer_norm(x:f32[128,768], w:f32[768], b:f32[768], eps=1e-05))"},
    {"rms norm spelled out, with casts [128,1024]",
     "y = region(x:bf16[128,1024], w:bf16[1024], program=\"r2=square(r0);r3=row_mean(r2);r4=add(r3,1e-06);"
     "r5=rsqrt(r4);r6=mul(r0,r5);r7=bf16(r6);r8=mul(r7,r1);return r8:bf16\")",
     "q = pointwise(x:bf16[128,1024], program=\"r1=square(r0)\", out=f32)\nv = reduce(q, kind=mean, keep_dim=true)\n"
     "y = pointwise(x, v, w:bf16[1024], program=\"r3=add(r1,1e-06);r4=rsqrt(r3);r5=mul(r0,r4);r6=bf16(r5);"
     "r7=mul(r6,r2)\", out=bf16)"},
    {"argmax [64,32000]", "y = region(x:f32[64,32000], program=\"r1=row_argmax(r0);return r1:i64\")",
     "y = top_k(x:f32[64,32000], k=1)"},
    {"variance and mean [512,768]",
     "y = region(x:f32[512,768], program=\"r1=row_mean(r0);r2=sub(r0,r1);r3=square(r2);r4=row_mean(r3);"
     "return r1:f32,r4:f32\")",
     "m = reduce(x:f32[512,768], kind=mean, keep_dim=true)\n"
     "d = pointwise(x, m, program=\"r2=sub(r0,r1);r3=square(r2)\", out=f32)\ny = reduce(d, kind=mean, keep_dim=true)"},
};

constexpr double kSlow = 0.1;  // seconds: what takes longer runs three times

// The ops of a graph, each by the first row that takes it, or by one row of a name.
class Calls {
 public:
  Calls(const char* text, std::string_view row, int threads) {
    auto graph = parse_graph(text);
    if (!graph) std::printf("%s\n", graph.error().message.c_str()), std::exit(1);
    graph_ = std::move(*graph);
    for (NodeId id : graph_.order()) {
      if (const auto* input = graph_.as<Input>(id))
        fill(id, hash_of(input->name));
      else if (!is_view(graph_[id].op))
        add(id, row, threads);
    }
  }

  bool complete() const { return complete_; }
  double seconds(cpu::Team& team) const {
    std::atomic<Fault> fault{Fault::none};
    const auto start = std::chrono::steady_clock::now();
    for (const cpu::Bound& call : calls_) call.run(team, &fault);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  static uint64_t hash_of(const std::string& name) { return static_cast<uint64_t>(name[0]); }
  void fill(NodeId id, uint64_t seed) {
    Tensor wide({DType::f32, graph_.shape(id)});
    for (size_t i = 0; i < wide.as<float>().size(); ++i)
      wide.as<float>()[i] = static_cast<float>(random_normal(seed, i));
    tensors_.emplace(id, convert(wide, graph_.type(id).dtype));
    memory_[id] = tensors_.at(id).data();
  }

  void add(NodeId id, std::string_view name, int threads) {
    const Problem problem = cpu::problem_of(graph_, id, threads);
    const auto rows = cpu_target().kernels_for(op_family(problem.op));
    const auto row = std::ranges::find_if(rows, [&](const Kernel* each) {
      return (name.empty() || each->name == name) && each->supports(problem, cpu::cpu_info());
    });
    if (row == rows.end()) return void(complete_ = false);
    std::vector<const void*> inputs;
    for (NodeId operand : graph_[id].operands) inputs.push_back(memory_.at(cpu::resolve_view(graph_, operand).base));
    outputs_.push_back(cpu::aligned_bytes(results_of(problem).back().end()));
    memory_[id] = outputs_.back().get();
    calls_.push_back(cpu::bind(**row, problem, inputs, outputs_.back().get()));
  }

  Graph graph_;
  std::map<NodeId, Tensor> tensors_;
  std::map<NodeId, std::byte*> memory_;
  std::vector<std::shared_ptr<std::byte>> outputs_;
  std::vector<cpu::Bound> calls_;
  bool complete_ = true;
};

void time_in_turns(const RegionBench& bench, cpu::Team& team) {
  std::vector<std::pair<std::string, Calls>> ways;
  for (const char* row : {"region_generated_avx512", "region_generated_avx2", "region_avx512", "region_avx2"})
    ways.emplace_back(row, Calls(bench.region, row, team.size()));
  ways.emplace_back("separate ops", Calls(bench.separate, "", team.size()));
  std::erase_if(ways, [](const auto& way) { return !way.second.complete(); });
  std::vector<std::vector<double>> times(ways.size());
  for (int round = 0; round < 61; ++round)
    for (size_t i = 0; i < ways.size(); ++i)
      if (round < 3 || times[i].front() < kSlow) times[i].push_back(ways[i].second.seconds(team));
  std::printf("%s\n", bench.name);
  for (size_t i = 0; i < ways.size(); ++i) {
    std::ranges::sort(times[i]);
    std::printf("  %-28s %9.2f us, median %9.2f us\n", ways[i].first.c_str(), times[i].front() * 1e6,
                times[i][times[i].size() / 2] * 1e6);
  }
}

}  // namespace

void time_regions(cpu::Team& team) {
  for (const RegionBench& bench : kRegions) time_in_turns(bench, team);
}

}  // namespace rung
