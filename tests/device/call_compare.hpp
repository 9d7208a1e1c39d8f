// Whether a function is declared by hand as a header declares it, but for the names of its types.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

namespace rung::gpu {

// Passed alike: pointers are pointers, and an enumeration is the integer of its size.
template <class Ours, class Theirs>
constexpr bool kAlike = std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>&& std::is_floating_point_v<Ours> ==
                            std::is_floating_point_v<Theirs>&& std::is_void_v<Ours> == std::is_void_v<Theirs> &&
                        sizeof(Ours) == sizeof(Theirs);

// What a pointer leads to, where either says: a library writes as much as there is room for.
template <class Ours, class Theirs>
constexpr bool kLeadAlike = [] {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using A = std::remove_cv_t<std::remove_pointer_t<Ours>>;
    using B = std::remove_cv_t<std::remove_pointer_t<Theirs>>;
    if constexpr (std::is_void_v<A> || std::is_void_v<B>)
      return true;
    else
      return kAlike<A, B>;
  }
  return true;
}();

template <class Ours, class Theirs>
struct SameCall;
template <class R, class... A, class S, class... B>
struct SameCall<R (*)(A...), S (*)(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) != sizeof...(B))
      return false;
    else
      return kAlike<R, S> && ((kAlike<A, B> && kLeadAlike<A, B>)&&...);
  }();
};

}  // namespace rung::gpu
