// Whether oneDNN's generated code leaves the thread's stack: a 1 kHz timer looks at the interrupted stack pointer while
// products run. A host's signal handler without an alternate stack would write wherever that pointer stands.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/time.h>
#include <ucontext.h>
#include <dnnl.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <vector>

namespace {

uintptr_t stack_begin, stack_end;
volatile long inside, outside;

void look(int, siginfo_t*, void* context) {
  const auto pointer = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
  if (pointer >= stack_begin && pointer < stack_end)
    inside = inside + 1;
  else
    outside = outside + 1;
}

void find_stack() {
  pthread_attr_t attributes;
  void* address = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &address, &size);
  pthread_attr_destroy(&attributes);
  stack_begin = reinterpret_cast<uintptr_t>(address), stack_end = stack_begin + size;
}

// The handler itself runs on memory of its own, so that looking breaks nothing.
void look_every_millisecond() {
  static char memory[64 << 10];
  stack_t own{};
  own.ss_sp = memory, own.ss_size = sizeof memory;
  sigaltstack(&own, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = look;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval each{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &each, nullptr);
}

void multiply(dnnl::memory::data_type type, int64_t m, int64_t n, int64_t k) {
  using dnnl::memory;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const memory::desc x({m, k}, type, {k, 1}), w({k, n}, type, memory::format_tag::any), out({m, n}, type, {n, 1});
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc description(engine, x, w, out);
#else
  const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(x, w, out), engine);
#endif
  dnnl::matmul matmul(description);
  dnnl::stream stream(engine);
  memory a(x, engine), b(description.weights_desc(), engine), c(out, engine);
  inside = 0;
  outside = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(700))
    matmul.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
  std::printf("%-5s m=%-4ld n=%-5ld k=%-5ld %-28s stack pointer elsewhere in %ld of %ld looks\n",
              type == memory::data_type::f32 ? "f32" : "bf16", static_cast<long>(m), static_cast<long>(n),
              static_cast<long>(k), description.impl_info_str(), outside, inside + outside);
}

}  // namespace

int main() {
  find_stack();
  look_every_millisecond();
  const dnnl_version_t* v = dnnl_version();
  std::printf("oneDNN %d.%d.%d\n", v->major, v->minor, v->patch);
  for (auto type : {dnnl::memory::data_type::f32, dnnl::memory::data_type::bf16})
    for (int64_t m : {16, 128}) {
      try {
        multiply(type, m, 1536, 384);
        multiply(type, m, 384, 1536);
      } catch (const dnnl::error& error) {
        std::printf("bf16: %s\n", error.what());
      }
    }
}
