// One handle of a vendor's library for each device, made when a thread that has the device first asks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <mutex>

#include "device/gpu/runtime.hpp"

namespace rung::gpu {

template <class Handle>
class LibraryHandles {
 public:
  // Returns the handle of this thread's current context; `make` returns a Result<Handle>. Errors: there is no context.
  template <class Make>
  Result<Handle> here(const Runtime& runtime, const char* library, Make make) {
    Context context = nullptr;
    if (int code = runtime.context_current(&context)) return fail("{}: {}", library, runtime.error_text(code));
    if (!context) return fail("{} cannot start: this thread has no device", library);
    std::lock_guard lock(mutex_);
    if (auto it = handles_.find(context); it != handles_.end()) return it->second;
    RUNG_TRY(Handle made, make());
    return handles_[context] = made;
  }

 private:
  std::mutex mutex_;
  std::map<Context, Handle> handles_;
};

}  // namespace rung::gpu
