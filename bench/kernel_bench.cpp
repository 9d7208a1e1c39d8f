// Times kernel rows. kernel_bench [THREADS] [ROW-OR-OP] [FILE]: the processor's, on a small BERT at 16, 128 and 256
// tokens, or on the graphs that stand in a file, one in a line;
// kernel_bench DEVICE [ROW-OR-OP] [FILE]: those of a GPU, such as cuda or hip:1, on the layers of Pi0 or a file's
// graphs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/cpu/peaks.hpp"
#include "gpu_rows.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/device_word.hpp"
#include "kernels/target.hpp"

namespace rung {
namespace {

// S stands for the tokens, T for the type. Inputs named "w..." are constants; "index" holds zeros.
constexpr const char* kProblems[] = {
    "qkv: T[1,S,1152] = input()\n"
    "y = attention(reshape(slice(qkv, axis=2, begin=0, end=384), shape=[1,S,12,32]), mask:f32[1,1,1,S], "
    "reshape(slice(qkv, axis=2, begin=384, end=768), shape=[1,S,12,32]), "
    "reshape(slice(qkv, axis=2, begin=768, end=1152), shape=[1,S,12,32]), slots=mask, scale=0.17677669)",
    "y = attention(q:T[1,S,8,64], mask:f32[S,S], k:T[1,S,8,64], v:T[1,S,8,64], slots=mask, scale=0.125)",
    "y = attention(q:T[1,S,8,64], k:T[1,S,8,64], v:T[1,S,8,64], scale=0.125, after=0)",
    "y = attention(q:T[1,S,8,64], k:T[1,S,8,64], v:T[1,S,8,64], scale=0.125, before=63, after=0)",
    "y = attention(q:T[1,51,8,256], k:T[1,S,1,256], v:T[1,S,1,256], scale=0.0625)",
    "y = linear(x:T[1,S,384], w:T[1152,384], wb:T[1152], slots=bias, out=T)",
    "y = linear(x:T[1,S,384], w:T[384,384], wb:T[384], r:T[1,S,384], slots=bias+residual, out=T)",
    "y = linear(x:T[1,S,384], w:T[1536,384], wb:T[1536], slots=bias, activation=gelu, out=T)",
    "y = linear(x:T[1,S,1536], w:T[384,1536], wb:T[384], slots=bias, out=T)",
    "y = linear(x:i8[1,S,384], w:i8[1152,384], wb:f32[1152], ws:f32[1152], s:f32[1,S], slots=bias+scale+x_scale, "
    "out=T)",
    "y = linear(x:i8[1,S,384], w:i8[384,384], wb:f32[384], r:T[1,S,384], ws:f32[384], s:f32[1,S], "
    "slots=bias+residual+scale+x_scale, out=T)",
    "y = linear(x:i8[1,S,384], w:i8[1536,384], wb:f32[1536], ws:f32[1536], s:f32[1,S], slots=bias+scale+x_scale, "
    "activation=gelu, out=T)",
    "y = linear(x:i8[1,S,1536], w:i8[384,1536], wb:f32[384], ws:f32[384], s:f32[1,S], slots=bias+scale+x_scale, out=T)",
    "y = linear(x:T[1,S,384], w:i8[1536,384], ws:f32[1536], slots=scale, out=T)",
    "y = quantize(x:T[1,S,384], to=i8)",
    "y = quantize(x:T[1,S,1536], to=i8)",
    "y = matmul(x:T[12,S,32], transpose(z:T[12,S,32], permutation=[0,2,1]))",
    "y = layer_norm(x:T[1,S,384], r:T[1,S,384], w:T[384], wb:T[384], slots=residual, out=T)",
    "y = rms_norm(x:T[1,S,384], w:T[384], out=T)",
    "y = softmax(x:T[12,S,S])",
    "y = l2_normalize(x:T[1,384])",
    "y = masked_mean(x:T[1,S,384], mask:f32[1,S])",
    "y = reduce(x:T[1,S,384], kind=sum, axis=1)",
    "y = gelu(x:T[1,S,1536])",
    "y = add(x:T[1,S,384], z:T[1,S,384])",
    "y = add(x:T[1,S,384], w:T[384])",
    "y = select(keep:bool[1,S,1], x:T[1,S,384], z:T[1,1,384])",
    "y = cast(x:T[1,S,384], to=bf16)",
    "y = pointwise(x:T[1,S,384], z:T[1,S,384], w:T[384], program=\"r3=add(r0,r1);r4=add(r3,r2)\", out=T)",
    "y = pointwise(x:T[12,S,S], program=\"r1=mul(r0,0.02);r2=tanh(r1);r3=mul(r2,50)\", out=T)",
    "y = region(x:T[12,S,S], program=\"r1=mul(r0,0.02);r2=tanh(r1);r3=mul(r2,50);r4=row_max(r3);r5=sub(r3,r4);"
    "r6=exp(r5);r7=row_sum(r6);r8=div(r6,r7);return r8:T\")",
    "y = region(x:T[1,S,384], r:T[1,S,384], w:T[384], wb:T[384], program=\"r4=add(r0,r1);r5=row_mean(r4);r6=sub(r4,r5);"
    "r7=square(r6);r8=row_mean(r7);r9=add(r8,1e-05);r10=rsqrt(r9);r11=mul(r6,r10);r12=mul(r11,r2);r13=add(r12,r3);"
    "return r13:T,r4:T\")",
    "y = gated_mul(x:T[1,S,1536], z:T[1,S,1536])",
    "y = rope(x:T[1,S,12,32], c:f32[S,1,32], s:f32[S,1,32])",
    "y = gather(w:T[30522,384], index:i64[1,S])",
    "y = transpose(x:T[1,S,12,32], permutation=[0,2,1,3])",
    "y = reshape(transpose(x:T[1,12,S,32], permutation=[0,2,1,3]), shape=[1,S,384])",
    "y = slice(x:T[1,S,1152], axis=2, begin=384, end=768)",
    "y = broadcast(x:T[1,1,384], shape=[1,S,384])",
    "y = concat(x:T[1,S,384], z:T[1,S,384], axis=1)",
    "y = im2col(x:T[1,3,S,S], patch=16)",
    "y = conv(x:T[1,S,S,64], w:T[64,3,3,64], before=[1,1], after=[1,1], activation=relu)",
    "y = conv(x:T[1,S,S,96], w:T[96,3,3,1], groups=96, before=[1,1], after=[1,1])",
    "y = pool(x:T[1,S,S,64], window=[3,3], stride=[2,2], before=[1,1], after=[1,1])",
    "y = cumsum(x:T[1,S], axis=1)",
    "y = group_norm(x:T[1,S,S,64], groups=8)",
    "y = recurrence(x:T[S,1,1024], w:T[1024,256], z:T[1,256], r:T[1,256])",
    "y = recurrence(x:T[S,1,768], w:T[768,256], z:T[1,256], r:T[256], cell=gru)",
};

std::string with(std::string text, const std::string& tokens, const std::string& type) {
  for (size_t i = 0; i < text.size(); ++i) {
    bool alone =
        i > 0 && std::strchr(":=[, ", text[i - 1]) && i + 1 < text.size() && std::strchr("[],)\"", text[i + 1]);
    if (alone && text[i] == 'S') text.replace(i, 1, tokens);
    if (alone && text[i] == 'T') text.replace(i, 1, type);
  }
  return text;
}

struct Work {
  double flops = 0, bytes = 0;
};

Work work_of(const Problem& p) {
  Work work;
  for (const Operand& x : p.inputs) work.bytes += static_cast<double>(x.shape.product() * size_of(x.dtype));
  double out = static_cast<double>(p.output.shape.product());
  for (const ResultPlace& result : results_of(p)) work.bytes += static_cast<double>(result.type.bytes());
  if (as<Linear>(p.op) || as<MatMul>(p.op)) work.flops = 2 * out * static_cast<double>(p.inputs[0].shape.back());
  if (as<Conv>(p.op)) work.flops = 2 * out * static_cast<double>(p.inputs[1].shape.product() / p.inputs[1].shape[0]);
  if (const auto* attention = as<Attention>(p.op))
    work.flops = 4 * out / static_cast<double>(p.output.shape[1]) *
                 attention->span.pairs(p.output.shape[1], p.inputs[attention->first_key()].shape[1]);
  if (as<Gather>(p.op)) work.bytes = 2 * out * static_cast<double>(size_of(p.output.dtype));
  return work;
}

Tensor values(const std::string& name, const Type& type) {
  Tensor wide({DType::f32, type.shape});
  if (name != "index")
    for (size_t i = 0; i < wide.as<float>().size(); ++i) wide.as<float>()[i] = random_normal(1, i);
  return convert(wide, type.dtype);
}

// The median of warm runs, microseconds.
double time_us(const cpu::Bound& bound, cpu::Team& team) {
  using Clock = std::chrono::steady_clock;
  std::atomic<Fault> fault{Fault::none};
  std::vector<double> times;
  auto begin = Clock::now();
  do {
    auto start = Clock::now();
    bound.run(team, &fault);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (times.size() < 5 || (times.size() < 2000 && Clock::now() - begin < std::chrono::milliseconds(60)));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void time_rows(const std::string& text, cpu::Team& team, const std::string& filter) {
  auto read = read_problem(text, team.size());
  if (!read) return (void)std::printf("%s\n%s\n", text.c_str(), read.error().message.c_str());
  auto& [graph, node, problem] = *read;
  std::map<NodeId, Tensor> tensors;
  std::vector<const void*> inputs;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    auto view = cpu::resolve_view(graph, graph[node].operands[i]);
    auto [found, fresh] = tensors.try_emplace(view.base);
    if (fresh) found->second = values(graph.as<Input>(view.base)->name, graph.type(view.base));
    inputs.push_back(found->second.data() + view.offset * static_cast<int64_t>(size_of(found->second.dtype())));
  }
  const auto output = cpu::aligned_bytes(results_of(problem).back().end());
  Work work = work_of(problem);
  std::printf("%s\n", text.substr(text.rfind("y = ")).c_str());
  for (const Kernel* row : cpu_target().kernels_for(op_family(problem.op))) {
    if (row->name.find(filter) == std::string_view::npos && row->op != filter) continue;
    if (auto verdict = row->supports(problem, cpu::cpu_info()); !verdict) {
      std::printf("  %-28s %s\n", row->name.data(), verdict.reason.c_str());
      continue;
    }
    double us = time_us(cpu::bind(*row, problem, inputs, output.get()), team);
    std::printf("  %-28s %10.2f us %8.2f GB/s %8.1f GFLOP/s\n", row->name.data(), us, work.bytes / us * 1e-3,
                work.flops / us * 1e-3);
  }
}

std::vector<std::string> lines_of(const char* path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace
}  // namespace rung

int main(int argc, char** argv) {
  using namespace rung;
  std::string where = argc > 1 ? argv[1] : "", filter = argc > 2 ? argv[2] : "";
  const std::vector<std::string> graphs = argc > 3 ? lines_of(argv[3]) : std::vector<std::string>{};
  if (argc > 3 && graphs.empty()) return (void)std::fprintf(stderr, "%s: no graphs in it\n", argv[3]), 1;
  if (auto device = parse_device(where); device && device->kind != "cpu") {
    Status timed = time_gpu_rows(where, filter, graphs);
    if (!timed) std::fprintf(stderr, "%s\n", timed.error().message.c_str());
    return timed ? 0 : 1;
  }
  cpu::Team team(argc > 1 ? std::atoi(argv[1]) : cpu::cpu_info().cores);
  std::printf("%s, %d threads, %s\n", cpu::cpu_info().name.c_str(), team.size(), cpu::cpu_info().isa_text().c_str());
  std::printf("read %.1f GB/s, multiply-add %.1f GFLOP/s, hand-off %.2f us, barrier %.2f us\n", measure_read_gbps(team),
              measure_fma_gflops(team), measure_handoff_us(team), measure_barrier_us(team));
  for (const std::string& graph : graphs) time_rows(graph, team, filter);
  if (!graphs.empty()) return 0;
  for (const char* type : {"f32", "bf16"})
    for (const char* problem : kProblems)
      for (const char* tokens : {"16", "128", "256"}) time_rows(with(problem, tokens, type), team, filter);
}
