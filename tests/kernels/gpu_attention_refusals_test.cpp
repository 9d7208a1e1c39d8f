// Refusals of a GPU's rows of attention that no problem of the conformance suite meets. Nothing runs.
// SPDX-License-Identifier: Apache-2.0
#include "row_refusals.hpp"

namespace rung::test {
namespace {

TEST(AttentionRefusals, AreOfWhatNoKernelReads) {
  expect_refusals(std::array<Refusal, 3>{{
      {"attention_portable", "result = attention(q:@[1,4,2,8], k:@[1,4,2,8], v:@[1,4,2,8])", "f16", "f8e4m3fn",
       "only f32, bf16 and f16"},
      {"attention_portable", "result = attention(q:f32[1,4,2,8]@)", segments(4), segments(5), "more than 4 segments"},
      {"attention_mma",
       "result = attention(slice(q:bf16[1,4,2,@], axis=3, end=64), k:bf16[1,4,2,64], v:bf16[1,4,2,64])", "72", "68",
       "rows are not multiples of 16 bytes apart"},
  }});
}

TEST(AttentionRefusals, AreOfResults) {
  const std::string eight = "a result of 8 bits, or with a factor", other = "a result of f8e4m3fnuz, wanted f8e4m3fn";
  const std::string wide = "result = attention(q:bf16[1,9,8,256], k:bf16[1,181,1,256], v:bf16[1,181,1,256]@)";
  const std::string cached =
      "result = attention(q:bf16[1,1,4,64], length9:i64[1], k:bf16[1,90,2,64], v:bf16[1,90,2,64], slots=length@)";
  expect_refusals(std::array<Refusal, 8>{{
      {"attention_mma", wide, "", ", out=i8", eight},
      {"attention_mma", wide, "", ", factor=2", eight},
      {"attention_cdna", wide, ", out=f8e4m3fnuz, factor=2", ", out=f8e4m3fn",
       "a result of f8e4m3fn, wanted f8e4m3fnuz"},
      {"attention_cache", cached, "", ", out=i8", eight},
      {"attention_portable", cached, ", out=i8", ", out=f8e4m3fnuz", other},
      {"attention_portable", wide, ", out=f8e4m3fn", ", out=f8e4m3fnuz", other},
      {"attention_wgmma", wide, ", out=f8e4m3fn, factor=2", ", out=f8e4m3fnuz", other},
      {"attention_split_kv", wide, ", out=i8, factor=2", ", out=f8e4m3fnuz", other},
  }});
}

TEST(AttentionRefusals, AreOfSplitKeys) {
  const std::string_view row = "attention_split_kv";
  expect_refusals(std::array<Refusal, 5>{{
      {row, "result = attention(q:bf16[1,9,8,256], k:bf16[1,181,1,256], v:bf16[1,181,1,256]@)", "", ", after=0",
       "a span of keys"},
      {row, "result = attention(q:bf16[1,9,8,@], k:bf16[1,181,1,@], v:bf16[1,181,1,@])", "256", "128",
       "heads not 256 wide"},
      {row, "result = attention(q:bf16[1,9,@,256], k:bf16[1,181,1,256], v:bf16[1,181,1,256])", "8", "4",
       "not 8, 16 or 32 heads that share a key head"},
      {row, "result = attention(q:bf16[1,9,8,256], k:bf16[1,@,1,256], v:bf16[1,@,1,256])", "2048", "2049",
       "more keys than a cluster holds"},
      {row,
       "result = attention(q:bf16[1,9,8,256], mask:f32[1,@,9,181], k:bf16[1,181,1,256], v:bf16[1,181,1,256], "
       "slots=mask)",
       "1", "8", "a mask of each head"},
  }});
}

TEST(AttentionRefusals, AreOfCaches) {
  const std::string_view row = "attention_cache";
  expect_refusals(std::array<Refusal, 4>{{
      {row, "result = attention(q:f32[1,1,2,8]@)", segments(1), segments(2), "keys of several segments"},
      {row, "result = attention(q:bf16[1,@,4,64], k:bf16[1,90,2,64], v:bf16[1,90,2,64])", "4", "5",
       "more than 8 rows of a key head"},
      {row, "result = attention(q:bf16[1,@,4,64], length9:i64[1], k:bf16[1,90,2,64], v:bf16[1,90,2,64], slots=length)",
       "8", "9", "more than 16 rows of a key head"},
      {row, "result = attention(q:bf16[1,1,2,@], length9:i64[1], k:bf16[1,90,2,@], v:bf16[1,90,2,@], slots=length)",
       "40", "36", "rows are not multiples of 8 elements apart"},
  }});
}

TEST(AttentionRefusals, AreOfCachesOf8Bits) {
  const std::string cached =
      "result = attention(q:@[1,1,4,64], length9:i64[1], k:f8e4m3fn[1,90,2,64], "
      "v:f8e4m3fn[1,90,2,64], slots=length)";
  const std::string of_machine =
      "result = attention(q:bf16[1,1,4,64], length9:i64[1], k:@[1,90,2,64], "
      "v:@[1,90,2,64], slots=length)";
  const std::string masked = "result = attention(q:bf16[1,9,8,256], k:@[1,181,1,256], v:@[1,181,1,256])";
  const std::string token =
      "result = cached_attention(x:bf16[1,512], keys:@[9,2,64], values:@[9,2,64], "
      "length4:i64[1], c:f32[1,64], s:f32[1,64], length5:i64[1])";
  expect_refusals(std::array<Refusal, 8>{{
      {"attention_cache", cached, "bf16", "f32", "queries of f32 and keys of 8 bits"},
      {"attention_cache", of_machine, "f8e4m3fn", "f8e4m3fnuz", "keys of f8e4m3fnuz, wanted f8e4m3fn"},
      {"attention_portable", of_machine, "f8e4m3fn", "f8e4m3fnuz", "keys of f8e4m3fnuz, wanted f8e4m3fn"},
      {"attention_mma", of_machine, "f8e4m3fn", "f8e4m3fnuz", "keys of f8e4m3fnuz, wanted f8e4m3fn"},
      {"attention_wgmma", masked, "bf16", "f8e4m3fn", "keys of 8 bits"},
      {"attention_split_kv", masked, "bf16", "f8e4m3fn", "keys of 8 bits"},
      {"attention_cdna", masked, "bf16", "f8e4m3fnuz", "keys of 8 bits"},
      {"cached_attention_sm90", token, "f8e4m3fn", "f8e4m3fnuz", "caches of f8e4m3fnuz, wanted f8e4m3fn"},
  }});
}

// A head of queries, of keys and of values of that width, of one token.
std::string heads(int64_t width) {
  return fmt::format("x:f32[1,{}], k:f32[9,1,{}], v:f32[9,1,{}], p:i64[1], c:f32[1,{}], s:f32[1,{}]", 3 * width, width,
                     width, width, width);
}

TEST(AttentionRefusals, AreOfHeadsForCaches) {
  const std::string_view row = "cache_heads";
  expect_refusals(std::array<Refusal, 3>{{
      {row, "result = cache_heads(@)", heads(512), heads(514), "heads wider than 512"},
      {row,
       "result = cache_heads(x:bf16[1,12], slice(k:bf16[9,1,@], axis=2, end=4), v:bf16[9,1,4], p:i64[1], c:f32[1,4], "
       "s:f32[1,4])",
       "4", "6", "operand 1 is not dense"},
      {row, "result = cache_heads(x:f32[1,12], k:f32[9,1,4], v:f32[9,1,4], p:i64[1], c:@[1,4], s:f32[1,4])", "f16",
       "f8e4m3fn", "operand 4 is f8e4m3fn"},
  }});
}

// `queries` heads of queries of one token, of that width and type, and one of keys and of values.
std::string cached(int64_t queries, int64_t width, const char* type = "bf16") {
  return fmt::format("x:{2}[1,{0}], k:{2}[9,1,{1}], v:{2}[9,1,{1}], p:i64[1], c:f32[1,{1}], s:f32[1,{1}]",
                     (queries + 2) * width, width, type);
}

TEST(AttentionRefusals, AreOfHeadsWithTheirAttention) {
  const std::string_view row = "cached_attention_sm90";
  const std::string text = "result = cached_attention(@, length9:i64[1])";
  expect_refusals(std::array<Refusal, 6>{{
      {row,
       "result = cached_attention(x:bf16[@,24], k:bf16[9,1,8], v:bf16[9,1,8], p:i64[@], c:f32[@,8], s:f32[@,8], "
       "length9:i64[1])",
       "1", "2", "other than one token"},
      {row, text, cached(1, 8), cached(1, 8, "f32"), "only bf16 and f16"},
      {row, text, cached(16, 8), cached(17, 8), "more than 16 query heads of a key head"},
      {row, text, cached(1, 256), cached(1, 264), "heads wider than 256"},
      {row, text, cached(1, 40), cached(1, 36), "the heads' width is not a multiple of 8"},
      {row,
       "result = cached_attention(x:bf16[1,24], k:bf16[9,1,8], v:bf16[9,1,8], p:i64[1], c:@[1,8], s:f32[1,8], "
       "length9:i64[1])",
       "f16", "f8e4m3fn", "operand 4 is f8e4m3fn"},
  }});
}

TEST(AttentionRefusals, AreOfWarpgroups) {
  const std::string_view row = "attention_wgmma";
  const std::string width = "result = attention(q:bf16[1,9,4,@], k:bf16[1,9,4,@], v:bf16[1,9,4,@])";
  expect_refusals(std::array<Refusal, 10>{{
      {row, "result = attention(q:bf16[1,70,4,64], k:bf16[1,@,4,64], v:bf16[1,@,4,64], after=0)", "1", "0", "no keys"},
      {row, "result = attention(q:bf16[1,@,4,64], k:bf16[1,90,4,64], v:bf16[1,90,4,64], after=0)", "64", "63",
       "a span of keys, and fewer than 64 rows of a key head"},
      {row, "result = attention(q:bf16[1,70,4,64]@, after=0)", ", k:bf16[1,70,4,64], v:bf16[1,70,4,64]",
       ", k:bf16[1,30,4,64], v:bf16[1,30,4,64], l:bf16[1,40,4,64], w:bf16[1,40,4,64], segments=2",
       "a span of keys of several segments"},
      {row, "result = attention(q:bf16[1,90,4,72], m:f32[90,90], k:bf16[1,90,4,72], v:bf16[1,90,4,72], slots=mask@)",
       "", ", after=0", "a span of keys, or a cache, beside a mask"},
      {row, width, "72", "64", "heads not wider than 64, and no span of keys"},
      {row, width, "200", "192", "heads of 192: the kernel waits for a panel that is not copied"},
      {row, "result = attention(q:bf16[1,9,4,128], k:bf16[1,9,4,128], v:bf16[1,9,4,128], scale=@)", "0.5", "-0.5",
       "a scale that is not positive"},
      {row, "result = attention(q:bf16[1,9,@,128], k:bf16[1,9,1,128], v:bf16[1,9,1,128])", "4", "3",
       "heads that share a key head do not divide 64"},
      {row, "result = attention(q:bf16[@,9,4,128], k:bf16[@,9,2,128], v:bf16[@,9,2,128])", "1", "2",
       "several key heads, each of several heads, in a batch"},
      {row, "result = attention(q:bf16[2,9,2,128], broadcast(k:bf16[@,9,2,128], shape=[2,9,2,128]), v:bf16[2,9,2,128])",
       "2", "1", "an operand is broadcast"},
  }});
}

}  // namespace
}  // namespace rung::test
