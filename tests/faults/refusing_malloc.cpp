// Counts before glibc's own functions are called.
// SPDX-License-Identifier: Apache-2.0
#include "refusing_malloc.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<long> g_asked{0}, g_refused{0}, g_alive{0};

// RUNG_REFUSE_ALLOCATION, read at the first allocation, which comes before anything else could read it.
long refused() {
  static std::atomic<bool> read{false};
  if (!read.exchange(true))
    if (const char* n = getenv("RUNG_REFUSE_ALLOCATION")) g_refused = atol(n);
  return g_refused;
}
bool is_refused() {
  const long n = refused();
  const bool refuse = ++g_asked == n;
  if (refuse) errno = ENOMEM;
  return refuse;
}
void* counted(void* block) {
  g_alive += block != nullptr;
  return block;
}

[[gnu::destructor]] void tell() {
  const char* path = getenv("RUNG_ALLOCATIONS");
  if (!path) return;
  const long asked = g_asked;
  FILE* file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "%ld\n", asked);
  fclose(file);
}

}  // namespace

extern "C" {
void refuse_allocation(long n) { g_asked = 0, refused(), g_refused = n; }
long allocations_asked() { return g_asked; }
long allocations_alive() { return g_alive; }

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);

void* malloc(size_t bytes) noexcept { return is_refused() ? nullptr : counted(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) noexcept {
  return is_refused() ? nullptr : counted(__libc_calloc(count, bytes));
}
void* realloc(void* block, size_t bytes) noexcept {
  if (is_refused()) return nullptr;
  g_alive -= block != nullptr;
  return counted(__libc_realloc(block, bytes));
}
void* memalign(size_t alignment, size_t bytes) noexcept {
  return is_refused() ? nullptr : counted(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept { return memalign(alignment, bytes); }
int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  *block = memalign(alignment, bytes);
  return *block ? 0 : ENOMEM;
}
void free(void* block) noexcept {
  g_alive -= block != nullptr;
  __libc_free(block);
}

// mmap() as the system defines it; the arguments after `bytes` go on as they come.
void* map_memory(void* at, size_t bytes, ...) noexcept asm("mmap");
void* map_memory(void* at, size_t bytes, ...) noexcept {
  if (is_refused()) return MAP_FAILED;
  va_list rest;
  va_start(rest, bytes);
  const int protection = va_arg(rest, int), flags = va_arg(rest, int), file = va_arg(rest, int);
  const auto offset = va_arg(rest, off_t);
  va_end(rest);
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}
}
