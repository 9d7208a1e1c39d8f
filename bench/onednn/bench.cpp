// How fast one version of oneDNN is on MiniLM's products, used as rung's rows use it: a primitive for each thread over
// its share of the columns, weights in the library's own layout. Compiles against oneDNN 2 and 3; compare.sh takes
// turns between builds. bench THREADS MILLISECONDS prints "key median best"
// lines in microseconds; bench 0 the library alone.
// SPDX-License-Identifier: Apache-2.0
#include <dnnl_debug.h>
#include <dnnl.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using dnnl::memory;
using Type = memory::data_type;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// All threads leave it together; they spin, as rung's team does.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}
  void wait() {
    const int round = round_.load();
    if (arrived_.fetch_add(1) + 1 == threads_) {
      arrived_ = 0;
      round_ = round + 1;
      return;
    }
    while (round_.load() == round) __builtin_ia32_pause();
  }

 private:
  int threads_;
  std::atomic<int> arrived_{0}, round_{0};
};

struct Linear {
  std::string name;
  int64_t m, n, k;
  bool gelu = false, residual = false;
};

// A matrix of this layout, its values made in plain rows first.
memory filled(const memory::desc& desc, const memory::dims& dims, float scale) {
  memory values({dims, Type::f32, memory::format_tag::ab}, engine());
  auto* at = static_cast<float*>(values.get_data_handle());
  for (int64_t i = 0; i < dims[0] * dims[1]; ++i) at[i] = scale * static_cast<float>(i * 7919 % 257 - 128) / 128.0f;
  memory out(desc, engine());
  dnnl::stream stream(engine());
  dnnl::reorder(values, out).execute(stream, values, out);
  stream.wait();
  return out;
}

// One thread's columns of x w' + bias, then gelu, or a residual added.
class Part {
 public:
  Part(const Linear& p, Type type, memory& x, int64_t columns) : columns_(columns) {
    const memory::desc any({p.k, columns}, type, memory::format_tag::any), bias({1, columns}, type, {columns, 1});
    const memory::desc out({p.m, columns}, type, {p.n, 1});
    dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
    if (p.gelu) after.append_eltwise(dnnl::algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
#else
    if (p.gelu) after.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
#endif
    if (p.residual) after.append_binary(dnnl::algorithm::binary_add, out);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc description(engine(), x.get_desc(), any, bias, out, attributes);
#else
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(x.get_desc(), any, bias, out), attributes,
                                                   engine());
#endif
    matmul_ = dnnl::matmul(description);
    implementation = description.impl_info_str();
    weights_ = filled(description.weights_desc(), {p.k, columns}, 0.05f);
    scratch_ = memory(description.scratchpad_desc(), engine());
    out_ = filled(out, {p.m, columns}, 0.5f), residual_ = filled(out, {p.m, columns}, 0.5f);
    bias_ = filled(bias, {1, columns}, 0.5f);
    arguments_ = {{DNNL_ARG_SRC, x},
                  {DNNL_ARG_WEIGHTS, weights_},
                  {DNNL_ARG_BIAS, bias_},
                  {DNNL_ARG_DST, out_},
                  {DNNL_ARG_SCRATCHPAD, scratch_}};
    if (p.residual) arguments_.insert({DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, residual_});
    for (const auto& [role, value] : arguments_) raw_.push_back({role, value.get()});
  }
  void run() const { dnnl_primitive_execute(matmul_.get(), stream_.get(), static_cast<int>(raw_.size()), raw_.data()); }
  // |first output - the sum by hand|, f32 without activation: catches a library that computes something else.
  double error(const Linear& p, memory& x) {
    run();
    memory plain({{p.k, columns_}, Type::f32, memory::format_tag::ab}, engine());
    dnnl::stream stream(engine());
    dnnl::reorder(weights_, plain).execute(stream, weights_, plain);
    const auto* w = static_cast<float*>(plain.get_data_handle());
    const auto* a = static_cast<float*>(x.get_data_handle());
    double sum = static_cast<float*>(bias_.get_data_handle())[0];
    for (int64_t i = 0; i < p.k; ++i) sum += static_cast<double>(a[i]) * w[i * columns_];
    if (p.gelu) sum = 0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0)));
    if (p.residual) sum += static_cast<float*>(residual_.get_data_handle())[0];
    return std::abs(sum - static_cast<float*>(out_.get_data_handle())[0]);
  }
  std::string implementation;

 private:
  int64_t columns_;
  dnnl::matmul matmul_;
  dnnl::stream stream_{engine()};
  memory weights_, scratch_, out_, bias_, residual_;
  std::unordered_map<int, memory> arguments_;
  std::vector<dnnl_exec_arg_t> raw_;
};

struct Setting {
  int threads;
  double budget_us;  // for each line
};

struct Times {
  double median_us, best_us;
};

// The layers one after another, each cut into a part for each thread: of runs of the whole.
Times measure(const std::vector<std::vector<Part>>& layers, const Setting& setting) {
  Barrier barrier(setting.threads);
  std::atomic<bool> done{false};
  auto work = [&](size_t thread) {
    for (const auto& parts : layers) {
      parts[thread].run();
      barrier.wait();
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < setting.threads; ++t)
    others.emplace_back([&, t] {
      for (barrier.wait(); !done; barrier.wait()) work(static_cast<size_t>(t));
    });
  auto once = [&] {
    const double start = now_us();
    barrier.wait();
    work(0);
    return now_us() - start;
  };
  once();
  std::vector<double> times;
  for (const double begin = now_us(); times.size() < 3 || now_us() - begin < setting.budget_us;)
    times.push_back(once());
  done = true;
  barrier.wait();
  for (auto& other : others) other.join();
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

const char* name_of(Type type) { return type == Type::f32 ? "f32" : "bf16"; }

bool bench(const std::string& name, const std::vector<Linear>& linears, Type type, const Setting& setting) {
  std::vector<memory> inputs;
  inputs.reserve(linears.size());
  std::vector<std::vector<Part>> layers;
  try {
    for (const Linear& p : linears) {
      inputs.push_back(filled({{p.m, p.k}, type, {p.k, 1}}, {p.m, p.k}, 1.0f));
      auto& parts = layers.emplace_back();
      for (int t = 0; t < setting.threads; ++t) parts.emplace_back(p, type, inputs.back(), p.n / setting.threads);
    }
  } catch (const dnnl::error& error) {
    return std::printf("# %s %s: %s\n", name_of(type), name.c_str(), error.what()), true;
  }
  if (type == Type::f32)
    if (double error = layers[0][0].error(linears[0], inputs[0]); !(error < 1e-4))
      return std::fprintf(stderr, "%s: wrong by %g\n", name.c_str(), error), false;
  const Times times = measure(layers, setting);
  std::printf("%s:%s %.2f %.2f %s\n", name_of(type), name.c_str(), times.median_us, times.best_us,
              layers[0][0].implementation.c_str());
  return true;
}

std::vector<Linear> layer(int64_t m) {
  return {{"qkv", m, 1152, 384},
          {"projection", m, 384, 384, false, true},
          {"up", m, 1536, 384, true},
          {"down", m, 384, 1536, false, true}};
}

}  // namespace

int main(int count, char** arguments) {
  setenv("OMP_NUM_THREADS", "1", 0);
  const Setting setting{count > 1 ? std::atoi(arguments[1]) : 1, count > 2 ? std::atof(arguments[2]) * 1e3 : 20e3};
  const dnnl_version_t* v = dnnl_version();
  std::printf("# oneDNN %d.%d.%d %s, %d threads\n", v->major, v->minor, v->patch,
              dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa()), setting.threads);
  if (setting.threads < 1) return 0;
  bool right = true;
  for (Type type : {Type::f32, Type::bf16})
    for (int64_t m : {16, 128, 256}) {
      std::vector<Linear> model;
      for (const Linear& p : layer(m)) right = bench(p.name + ",m=" + std::to_string(m), {p}, type, setting) && right;
      for (int i = 0; i < 6; ++i)
        for (const Linear& p : layer(m)) model.push_back(p);
      right = bench("six_layers,m=" + std::to_string(m), model, type, setting) && right;
    }
  return right ? 0 : 1;
}
