// Heads on their way into caches: what is rotated, normalised and stored where; and attention over these caches.
// SPDX-License-Identifier: Apache-2.0
#include "reference/run.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

// A quarter of a turn makes -y, x of x, y.
Inputs inputs_of(const std::vector<float>& x, const std::vector<int64_t>& places) {
  const auto rows = static_cast<int64_t>(places.size());
  const std::vector<float> zeros(places.size() * 2, 0.0f), ones(places.size() * 2, 1.0f);
  return {{"x", Tensor::of<float>({rows, 6}, x)},
          {"k", Tensor::of<float>({3, 1, 2}, {10, 11, 12, 13, 14, 15})},
          {"v", Tensor::of<float>({3, 1, 2}, {20, 21, 22, 23, 24, 25})},
          {"p", i64({rows}, places)},
          {"c", Tensor::of<float>({rows, 2}, zeros)},
          {"s", Tensor::of<float>({rows, 2}, ones)}};
}
constexpr const char* kOne = "cache_heads(x:f32[1,6], k:f32[3,1,2], v:f32[3,1,2], p:i64[1], c:f32[1,2], s:f32[1,2])";

TEST(CacheHeadsReference, RotatesQueriesAndKeysAndStoresTheRest) {
  const Inputs inputs = inputs_of({3, 4, 1, 2, 5, 6}, {1});
  const Tensor q = run(kOne, inputs);
  EXPECT_EQ(q.shape(), (Shape{1, 1, 2}));
  EXPECT_THAT(q.as<float>(), ElementsAre(-4, 3));
  EXPECT_THAT(run(fmt::format("result({})", kOne), inputs).as<float>(), ElementsAre(10, 11, -2, 1, 14, 15));
  EXPECT_THAT(run(fmt::format("result({}, index=2)", kOne), inputs).as<float>(), ElementsAre(20, 21, 5, 6, 24, 25));
}

TEST(CacheHeadsReference, StoresOneRowAfterAnother) {
  const char* two =
      "result(cache_heads(x:f32[2,6], k:f32[3,1,2], v:f32[3,1,2], p:i64[2], c:f32[2,2], s:f32[2,2]), index=2)";
  const std::vector<float> x{0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 3, 4};
  EXPECT_THAT(run(two, inputs_of(x, {2, 0})).as<float>(), ElementsAre(3, 4, 22, 23, 1, 2));
  EXPECT_THAT(run(two, inputs_of(x, {2, 2})).as<float>(), ElementsAre(20, 21, 22, 23, 3, 4));
}

// Both heads have a mean square of 25. Each is multiplied by its own weights, and values by none.
TEST(CacheHeadsReference, NormalisesHeadsByTheirOwnWeights) {
  Inputs inputs = inputs_of({1, 7, 7, 1, 5, 6}, {0});
  inputs["w"] = Tensor::of<float>({2, 2}, {4, 0, 0, 9});
  const char* normed =
      "cache_heads(x:f32[1,6], k:f32[3,1,2], v:f32[3,1,2], p:i64[1], c:f32[1,2], s:f32[1,2], w:f32[2,2], eps=0, "
      "weight_offset=1)";
  EXPECT_THAT(run(normed, inputs).as<float>(), ElementsAre(FloatNear(-1.4f, 1e-6f), FloatNear(1, 1e-6f)));
  const Tensor keys = run(fmt::format("result({})", normed), inputs);
  EXPECT_THAT(keys.as<float>().subspan(0, 2), ElementsAre(FloatNear(-2, 1e-6f), FloatNear(1.4f, 1e-6f)));
  EXPECT_THAT(run(fmt::format("result({}, index=2)", normed), inputs).as<float>().subspan(0, 2), ElementsAre(5, 6));
}

TEST(CacheHeadsReference, NamesAPlaceOutOfRange) {
  EXPECT_THAT(error_of(kOne, inputs_of({3, 4, 1, 2, 5, 6}, {3})), HasSubstr("place 3 at position 0: wanted 0 to 2"));
  EXPECT_THAT(error_of(kOne, inputs_of({3, 4, 1, 2, 5, 6}, {-1})), HasSubstr("place -1 at position 0"));
}

// Two tokens of four heads: what they store is seen by them, and the cache is a ring once more is stored than it holds.
TEST(CachedAttentionReference, IsAttentionOverTheCachesThatHeadsLeave) {
  for (const DType cache : {DType::bf16, DType::f8e4m3fn}) {
    const std::string operands =
        fmt::format("x:bf16[1,2,24], k:{0}[5,1,4], v:{0}[5,1,4], p:i64[2], c:f32[2,4], s:f32[2,4]", cache);
    const std::string norm = ", w:f32[5,4]", heads = ", eps=0.5, weight_offset=1";
    const std::string fields = ", scale=0.5, softcap=2, before=3, after=0, prefix=1";
    for (const int64_t length : {2, 4, 11}) {
      const auto places = i64({2}, {(length - 2) % 5, (length - 1) % 5});
      const Inputs inputs{{"x", to_bf16(random({1, 2, 24}, 1))},
                          {"k", convert(random({5, 1, 4}, 2), cache)},
                          {"v", convert(random({5, 1, 4}, 3), cache)},
                          {"p", places},
                          {"c", random({2, 4}, 4)},
                          {"s", random({2, 4}, 5)},
                          {"w", random({5, 4}, 6)},
                          {"n", i64({1}, {length})}};
      for (const bool normed : {true, false}) {
        const std::string one =
            "cached_attention(" + operands + (normed ? norm : "") + ", n:i64[1]" + (normed ? heads : "") + fields + ")";
        const std::string apart = "cache_heads(" + operands + (normed ? norm + heads : "") + ")";
        const Tensor wanted = run(apart +
                                      "\nk_next = reshape(result(result), shape=[1,5,1,4])\n"
                                      "v_next = reshape(result(result, index=2), shape=[1,5,1,4])\n"
                                      "return y=attention(result, n:i64[1], k_next, v_next, slots=length" +
                                      fields + ")",
                                  inputs);
        const Tensor got = run(one, inputs);
        EXPECT_EQ(got.type(), wanted.type());
        EXPECT_EQ(values_of(got), values_of(wanted)) << one;
        for (const int index : {1, 2}) {
          const auto filled = [&](const std::string& op) {
            return values_of(run(fmt::format("result({}, index={})", op, index), inputs));
          };
          EXPECT_EQ(filled(one), filled(apart)) << index;
        }
      }
    }
  }
}

// 1.03 and 300.5 lie between numbers of e4m3, and 500 beyond the largest one. What was stored before stays.
TEST(CacheHeadsReference, RoundsWhatItStoresIn8Bits) {
  const char* narrow =
      "cache_heads(x:f32[1,6], k:f8e4m3fn[3,1,2], v:f8e4m3fn[3,1,2], p:i64[1], c:f32[1,2], s:f32[1,2])";
  Inputs inputs = inputs_of({3.03f, 4, 1.03f, 300.5f, 500, 0.001f}, {1});
  for (const char* cache : {"k", "v"}) inputs[cache] = convert(inputs[cache], DType::f8e4m3fn);
  EXPECT_THAT(run(narrow, inputs).as<float>(), ElementsAre(-4, 3.03f)) << "queries are not rounded";
  EXPECT_THAT(values_of(run(fmt::format("result({})", narrow), inputs)), ElementsAre(10, 11, -288, 1, 14, 15));
  EXPECT_THAT(values_of(run(fmt::format("result({}, index=2)", narrow), inputs)),
              ElementsAre(20, 20, 448, 0.001953125f, 24, 24));
}

TEST(CachedAttentionReference, NamesWhatItCannotUse) {
  const char* text =
      "cached_attention(x:f32[1,6], k:f32[3,1,2], v:f32[3,1,2], p:i64[1], c:f32[1,2], s:f32[1,2], n:i64[1])";
  Inputs inputs = inputs_of({3, 4, 1, 2, 5, 6}, {3});
  inputs["n"] = i64({1}, {3});
  EXPECT_THAT(error_of(text, inputs), HasSubstr("place 3 at position 0: wanted 0 to 2"));
  inputs["p"] = i64({1}, {2});
  inputs["n"] = i64({1}, {0});
  EXPECT_THAT(error_of(text, inputs), HasSubstr("got a length of 0, wanted 1 queries at least"));
}

}  // namespace
}  // namespace rung
