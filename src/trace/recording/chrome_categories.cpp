// Kineto's categories (ActivityType.h of libkineto), including the capitalised ones of its first versions.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/chrome_categories.hpp"

namespace rung::trace {
namespace {

constexpr CategoryRule kRules[] = {
    {"cpu_op", EventKind::host_op, {}},
    {"cuda_runtime", EventKind::runtime_call, {}},  // also HIP's calls
    {"kernel", EventKind::kernel, {}},
    {"cuda_driver", EventKind::runtime_call, {}},
    {"gpu_memcpy", EventKind::copy, {}},
    {"gpu_memset", EventKind::fill, {}},
    {"user_annotation", EventKind::range, {}},
    {"python_function", EventKind::function, {}},
    {"ac2g", {}, "flow arrows: correlation numbers tell the same"},
    {"fwdbwd", {}, "flow arrows: correlation numbers tell the same"},
    {"gpu_user_annotation", {}, "ranges drawn on streams: the host's are kept"},
    {"cuda_sync", {}, "waits drawn on streams: the host's calls are kept"},
    {"cuda_event", {}, "waits drawn on streams: the host's calls are kept"},
    {"overhead", {}, "the profiler's own work"},
    {"Trace", {}, "the profiler's own work"},
    {"cpu_instant_event", {}, "instants"},
    {"xpu_runtime", EventKind::runtime_call, {}},
    {"xpu_driver", EventKind::runtime_call, {}},
    {"privateuse1_runtime", EventKind::runtime_call, {}},
    {"privateuse1_driver", EventKind::runtime_call, {}},
    {"Operator", EventKind::host_op, {}},
    {"Runtime", EventKind::runtime_call, {}},
    {"Kernel", EventKind::kernel, {}},
    {"Memcpy", EventKind::copy, {}},
    {"Memset", EventKind::fill, {}},
};

}  // namespace

const CategoryRule* rule_of_category(std::string_view category) {
  for (const CategoryRule& rule : kRules)
    if (rule.category == category) return &rule;
  return nullptr;
}

}  // namespace rung::trace
