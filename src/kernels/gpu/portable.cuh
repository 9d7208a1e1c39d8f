// The machine that kernels see: the interface that one file for each vendor implements, vendor/NAME.cuh.
// SPDX-License-Identifier: Apache-2.0
// No kernel names a vendor, its instructions or its number of lanes; features of a single architecture are in files
// named *_sm90 and in sm90/. Keywords, indices and vector types are CUDA's (__device__, __shared__, __grid_constant__,
// threadIdx, float2, uint4, make_uint4, min, max, INFINITY), the functions on floats C's (sqrtf, rsqrtf, expf, logf,
// sinf, cosf, tanhf, erff, erfcf, powf, fmaf, fabsf, fmaxf, nanf).
//
//   RUNG_KERNEL(threads) name(const __grid_constant__ NameArguments a) { ... }
//                                       an entry of the module. No block has more than `threads` threads, by default
//                                       1024; a second value is the least number of blocks that share a multiprocessor,
//                                       if a vendor's compiler can be told
// Lanes
//   kLanes, lane(), warp()              threads in lock-step; this one's number, and its warp's in the block
//   shuffle(x, from), shuffle_xor(x, mask), any_lane(x)
//   sync_warp(), sync_block()           barriers: earlier writes to shared memory are visible after them
// Elements
//   in_memory<T>(address)          a pointer that the compiler knows to point into global memory
//   bf16, f16, to_float(x), from_float<T>(x), as_float(bits), as_bits(x), f16_bits_to_float(bits)
//   pack<T>(low, high), unpack<T>(word) two neighbouring 16-bit elements in a word, `low` first in memory
//   f8e4m3, f8e5m2, kFnuz               names of formats of 8 bits, as base/float8.hpp defines them: OCP's or, where
//                                       kFnuz is set, those without infinities and -0
//   pack_4<F>(x), unpack_4<F>(word)     four such elements in a word, the first one lowest, from and to a float4:
//                                       rounded to nearest even, saturated, infinities too; a NaN stays, of any sign
//   WordPair, WordQuad                  8 and 16 bytes that are only moved
//   store_first(to, array, count)       the first `count` elements of an array in registers
// Fast math
//   fast_exp2(x)                        2^x to 2 units in the last place, 0 for -inf
//   fast_exp(x), fast_inverse(x), fast_divide(x, y)   to about 2 units in the last place of ordinary results
// Time and order
//   pause_ns(ns)                        pauses this warp for about `ns` nanoseconds
//   wait_for_producers()                waits until all earlier kernels of the stream have ended and their writes are
//                                       visible; does nothing if kernels do not overlap
//   allow_dependents()                  lets the next kernel start when every block has called this or ended; that one
//                                       waits for the end of this one in its wait_for_producers()
//   prefetch_to_l2(p)                   prefetches a line of memory: for weights, before wait_for_producers()
// Copies of 16 bytes from global to shared memory, in groups that are under way beside the thread
//   CopyGroup<count> group;             a group of a thread's copies. If the machine does not make copies by itself,
//                                       registers hold the `count` copies that have numbers
//   group.issue(i, to, from, valid)     issues copy i of the group, which issues all its numbers or none; i is known at
//                                       compile time, and both places are aligned to 16. A copy that is not valid reads
//                                       nothing and writes zeros. `to` is the copy's until all of the group have landed
//   group.issue(to, from, valid)        issues a copy without a number, for which no registers are kept
//   group.end()                         ends the group, after its last copy
//   group.put()                         puts copies that registers hold into their places, once the work beside them is
//                                       done
//   wait_for_groups<pending>()          waits until all groups of this thread but the last `pending` have landed;
//                                       copies of other threads need a barrier as well
// Matrix fragments of a warp: c[16, kFragmentColumns] += a[16,16] b[16, kFragmentColumns], with 16-bit elements in a
// and b and f32 sums. A lane has kLaneRows rows of c, kRowStep apart, and kLaneColumns neighbouring columns of each:
// c.x[i * kLaneColumns + j] is column j of its row i.
//   FragmentA, FragmentB, FragmentC
//   fragment_row(lane), fragment_column(lane)   the place in c of a lane's first row and column
//   row_sum(x), row_max(x)              reduce over the lanes that share a row; leads_row(lane): their first lane
//   lane_max(c, i)                      the largest of a lane's columns of its row i
//   load_a(p, pitch)                    loads a from shared memory, `pitch` elements from row to row
//   load_b_by_columns(b, p, pitch)      loads kFragmentsOf16 fragments side by side: 16 columns, each a row in memory
//   load_b_by_rows(b, p, pitch)         loads the same from a matrix whose rows are b's
//   multiply_add_16<T>(c, a, b)         adds to the kFragmentsOf16 fragments from c on
//   a_from_c<T>(c)                      the kFragmentsOf16 fragments from c on as the operand a, rounded to T
//   store_row(p, c, i, factor), store_row(p, c, i)   store a lane's part of its row i, times factor and rounded to T,
//                                       or in f32; p is the row's first element
#pragma once
#include "kernels/gpu/vendor/vendor.cuh"

namespace rung::gpu {

inline constexpr int kFragmentsOf16 = 16 / kFragmentColumns;

// Sums over `width` neighbouring lanes (a power of two); every lane gets the result, by the same order of additions.
template <int width = kLanes>
__device__ inline float lanes_sum(float x) {
#pragma unroll
  for (int step = width / 2; step > 0; step /= 2) x += shuffle_xor(x, step);
  return x;
}
template <int width = kLanes>
__device__ inline float lanes_max(float x) {
#pragma unroll
  for (int step = width / 2; step > 0; step /= 2) x = fmaxf(x, shuffle_xor(x, step));
  return x;
}

}  // namespace rung::gpu
