// The row of scatter: each part of a call owns columns or rows of the result, and joins their updates in the op's
// order.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "ir/function_math.hpp"
#include "ir/with_type.hpp"
#include "kernels/cpu/kernel.hpp"

namespace rung::cpu {
namespace {

// Floats of 16 bits are joined in f32, and rounded once.
template <class T>
using Sum = std::conditional_t<kStoredFloat<T>, float, T>;

// Functors rather than a switch over the kind, which would stand in the innermost loop.
struct Set {
  template <class T>
  T operator()(T, T b) const {
    return b;
  }
};
struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return functions::max_of(a, b);
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return functions::min_of(a, b);
  }
};

template <class F>
void with_joining(ScatterKind kind, const F& f) {
  switch (kind) {
    case ScatterKind::add:
      return f(Add{});
    case ScatterKind::mul:
      return f(Mul{});
    case ScatterKind::max:
      return f(Max{});
    case ScatterKind::min:
      return f(Min{});
    default:
      return f(Set{});
  }
}

// x, updates and the result as rows of `width` elements.
struct Rows {
  int64_t count, width, updates, index_step;

  explicit Rows(const Problem& p)
      : count(p.output.shape[0]),
        width(count == 0 ? 0 : p.output.shape.product() / count),
        updates(p.inputs[1].shape[0]),
        index_step(p.inputs[1].strides[0]) {}
};

// The share of a part. Columns keep parts alike whatever the indices are; rows that are narrow leave none to share.
struct Owned {
  Range rows, columns;

  Owned(const Rows& all, const Call& call) : rows{0, all.count}, columns{0, all.width} {
    constexpr int64_t kColumns = 32;
    if (all.width >= kColumns * call.parts)
      columns = share(all.width, call.part, call.parts, kColumns);
    else
      rows = share(all.count, call.part, call.parts);
  }
};

template <class T, class Join>
class Scattering {
 public:
  Scattering(const Call& call, Sum<T>* sums, Join join)
      : call_(call), all_(call.problem), own_(all_, call), sums_(sums), join_(join) {}

  void run() {
    copy(call_.in<T>(0), sums_);
    if (all_.width == 1)
      join_elements();
    else
      join_rows();
    if constexpr (!std::is_same_v<Sum<T>, T>) copy(sums_, call_.out<T>());
  }

 private:
  template <class From, class To>
  void copy(const From* from, To* to) const {
    if (static_cast<const void*>(from) == static_cast<const void*>(to)) return;
    for (int64_t row = own_.rows.begin; row < own_.rows.end; ++row)
      for (int64_t i = row * all_.width + own_.columns.begin; i < row * all_.width + own_.columns.end; ++i)
        to[i] = static_cast<To>(from[i]);
  }

  // Without a branch, as where an index leads is no pattern: those of other parts are joined with a place of no one.
  void join_elements() {
    const auto* indices = call_.in<int64_t>(1);
    const T* updates = call_.in<T>(2);
    Sum<T>* first = sums_ + own_.rows.begin;
    Sum<T> others{};
    const auto mine = static_cast<uint64_t>(own_.rows.count()), most = static_cast<uint64_t>(all_.count);
    bool is_outside = false;
    for (int64_t i = 0; i < all_.updates; ++i) {
      const int64_t index = indices[i * all_.index_step];
      const auto at = static_cast<uint64_t>(index - own_.rows.begin);
      is_outside |= static_cast<uint64_t>(index) >= most;
      Sum<T>* to = at < mine ? first + at : &others;
      *to = join_(*to, static_cast<Sum<T>>(updates[i]));
    }
    if (is_outside) fail();
  }

  void join_rows() {
    const auto* indices = call_.in<int64_t>(1);
    for (int64_t i = 0; i < all_.updates; ++i) {
      const int64_t row = indices[i * all_.index_step];
      if (row < 0 || row >= all_.count) {
        fail();
        continue;
      }
      if (row < own_.rows.begin || row >= own_.rows.end) continue;
      const T* from = call_.in<T>(2) + i * all_.width;
      Sum<T>* to = sums_ + row * all_.width;
      for (int64_t j = own_.columns.begin; j < own_.columns.end; ++j)
        to[j] = join_(to[j], static_cast<Sum<T>>(from[j]));
    }
  }

  void fail() const { call_.fault->store(Fault::index_out_of_range, std::memory_order_relaxed); }

  const Call& call_;
  Rows all_;
  Owned own_;
  Sum<T>* sums_;
  Join join_;
};

bool sums_apart(const Problem& p) {
  return (is_narrow(p.output.dtype) || is_f8(p.output.dtype)) && p.as<Scatter>().kind != ScatterKind::set;
}

Verdict supports(const Problem& p, const Machine&) {
  if (!p.inputs[0].contiguous() || !p.inputs[2].contiguous()) return reject("x or the updates are not dense");
  return accept();
}

size_t scratch_bytes(const Problem& p, const Machine&) {
  return sums_apart(p) ? static_cast<size_t>(p.output.shape.product()) * sizeof(float) : 0;
}

Split split(const Problem& p, const Machine&) {
  constexpr double kElementUs = 1e-3, kLeastUs = 10;
  const auto elements = static_cast<double>(p.output.shape.product() + p.inputs[2].shape.product());
  return {elements * kElementUs < kLeastUs ? 1 : std::max(1, p.threads)};
}

void run(const Call& call) {
  with_type(call.problem.output.dtype, [&](auto tag) {
    using T = decltype(tag);
    with_joining(call.problem.as<Scatter>().kind, [&](auto join) {
      if constexpr (std::is_same_v<decltype(join),
                                   Set>) {  // moves bits: a round trip would change no number, but a NaN
        using Bits = std::conditional_t<kStoredFloat<T>, std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>, T>;
        Scattering<Bits, Set>(call, call.out<Bits>(), join).run();
      } else {
        auto* sums = std::is_same_v<Sum<T>, T> ? call.output : call.scratch;
        Scattering<T, decltype(join)>(call, static_cast<Sum<T>*>(sums), join).run();
      }
    });
  });
}

}  // namespace

extern const Kernel scatter_rows{.name = "scatter_rows",
                                 .op = "scatter",
                                 .supports = supports,
                                 .run = run,
                                 .scratch_bytes = scratch_bytes,
                                 .updates = 0,
                                 .split = split};

}  // namespace rung::cpu
