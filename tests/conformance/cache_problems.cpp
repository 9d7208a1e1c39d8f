// Problems of caches, of which T stands for the type: heads that go into them, and attention over them, filled up to a
// length, apart and in one op.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "problems.hpp"

namespace rung::test {
namespace {

constexpr const char* kCacheProblems[] = {
    // heads on their way there: of a token, of several, some of which have one place, with norms and without
    "result = cache_heads(x:T[1,1,512], keys:T[9,2,64], values:T[9,2,64], index:i64[1], c:f32[1,64], s:f32[1,64])",
    "result = cache_heads(x:T[1,1,64], keys:T[32,2,8], values:T[32,2,8], index:i64[1], c:f32[1,8], s:f32[1,8], "
    "w:f32[6,8])",
    "result = cache_heads(x:T[1,1,1152], keys:T[5,2,128], values:T[5,2,128], index:i64[1], c:f32[1,128], s:f32[1,128], "
    "w:T[7,128], eps=0.5, weight_offset=1)",
    "result = cache_heads(x:T[1,5,90], keys:T[4,1,18], values:T[4,1,18], index:i64[5], c:T[5,18], s:f32[5,18], "
    "scale:f32[4,18])",
    "result = cache_heads(x:T[70,36], keys:T[3,2,6], values:T[3,2,6], index:i64[70], c:f32[70,6], s:f32[70,6])",
    "result = cache_heads(x:T[1,1703,24], keys:T[1000,1,6], values:T[1000,1,6], index:i64[1703], c:f32[1703,6], "
    "s:f32[1703,6], w:f32[3,6])",
    "result = cache_heads(x:T[2,1536], keys:T[3,1,512], values:T[3,1,512], index:i64[2], c:f32[2,512], s:f32[2,512], "
    "w:f32[2,512], weight_offset=1)",
    // both in one op, of one token: what it stores is what it sees first, last, alone, again as a ring, with a window,
    // with a prefix, or not at all
    "result = cached_attention(x:T[1,1,512], keys:T[9,2,64], values:T[9,2,64], length4:i64[1], c:f32[1,64], "
    "s:f32[1,64], length5:i64[1], scale=0.125, after=0)",
    "result = cached_attention(x:T[1,1,1024], keys:T[300,1,128], values:T[300,1,128], length0:i64[1], c:f32[1,128], "
    "s:f32[1,128], w:T[7,128], length1:i64[1], eps=0.5, weight_offset=1)",
    "result = cached_attention(x:T[1,1,480], keys:T[64,3,40], values:T[64,3,40], length21:i64[1], c:T[1,40], "
    "s:f32[1,40], length150:i64[1], scale=0.158, before=62, after=0)",
    "result = cached_attention(x:T[1,1,768], keys:T[1024,2,64], values:T[1024,2,64], length1023:i64[1], c:f32[1,64], "
    "s:f32[1,64], length1024:i64[1], scale=0.125, after=0)",
    "result = cached_attention(x:T[1,1,3072], keys:T[1000,8,64], values:T[1000,8,64], length699:i64[1], c:f32[1,64], "
    "s:f32[1,64], length700:i64[1], scale=0.125, after=0)",
    "result = cached_attention(x:T[1,2304], keys:T[400,2,64], values:T[400,2,64], length332:i64[1], c:f32[1,64], "
    "s:f32[1,64], length333:i64[1], scale=0.125)",
    "result = cached_attention(x:T[1,1,1536], keys:T[2000,4,128], values:T[2000,4,128], length1998:i64[1], "
    "c:f32[1,128], s:f32[1,128], w:f32[8,128], length1999:i64[1], scale=0.088, softcap=30, after=0)",
    "result = cached_attention(x:T[1,1,1536], keys:T[600,1,256], values:T[600,1,256], length529:i64[1], c:f32[1,256], "
    "s:f32[1,256], length530:i64[1], scale=0.0625, before=300, after=0)",
    "result = cached_attention(x:T[1,1,1024], keys:T[129,1,256], values:T[129,1,256], length97:i64[1], c:f32[1,256], "
    "s:f32[1,256], w:f32[3,256], length5000:i64[1], scale=0.0625, softcap=3, weight_offset=1)",
    "result = cached_attention(x:T[1,1,1792], keys:T[4000,1,128], values:T[4000,1,128], length3899:i64[1], "
    "c:f32[1,128], s:f32[1,128], length3900:i64[1], scale=0.088, after=0)",
    "result = cached_attention(x:T[1,1,384], keys:T[3000,1,64], values:T[3000,1,64], length499:i64[1], c:f32[1,64], "
    "s:f32[1,64], length3500:i64[1], scale=0.125, after=0)",
    "result = cached_attention(x:T[1,1,144], keys:T[160,2,24], values:T[160,2,24], length99:i64[1], c:f32[1,24], "
    "s:f32[1,24], length100:i64[1], scale=0.2, before=11, after=0, prefix=7)",
    "result = cached_attention(x:T[1,1,64], keys:T[50,2,8], values:T[50,2,8], length3:i64[1], c:f32[1,8], s:f32[1,8], "
    "w:f32[6,8], length40:i64[1], scale=0.35)",
    "result = cached_attention(x:T[1,1,64], keys:T[50,2,8], values:T[50,2,8], length45:i64[1], c:f32[1,8], "
    "s:f32[1,8], length40:i64[1], scale=0.35)",
    // and of several
    "result = cached_attention(x:T[1,3,90], keys:T[40,1,18], values:T[40,1,18], index:i64[3], c:f32[3,18], "
    "s:f32[3,18], length12:i64[1], scale=0.25, after=0)",
    // one query: a cache that is partly filled, full, begun, and one that has begun again as a ring
    "result = attention(q:T[1,1,4,32], length22:i64[1], k:T[1,64,2,32], v:T[1,64,2,32], slots=length, scale=0.177, "
    "after=0)",
    "result = attention(q:T[1,1,8,64], length1024:i64[1], k:T[1,1024,2,64], v:T[1,1024,2,64], slots=length, "
    "scale=0.125, after=0)",
    "result = attention(q:T[1,1,2,128], length1:i64[1], k:T[1,300,1,128], v:T[1,300,1,128], slots=length, after=0)",
    "result = attention(q:T[1,1,6,40], length150:i64[1], k:T[1,64,3,40], v:T[1,64,3,40], slots=length, scale=0.158, "
    "before=62, after=0)",
    "result = attention(q:T[1,1,32,64], length700:i64[1], k:T[1,1000,8,64], v:T[1,1000,8,64], slots=length, "
    "scale=0.125, after=0)",
    "result = attention(q:T[1,1,5,33], length5000:i64[1], k:T[1,129,5,33], v:T[1,129,5,33], slots=length, scale=0.2, "
    "softcap=3)",
    "result = attention(q:T[1,1,4,256], length530:i64[1], k:T[1,600,1,256], v:T[1,600,1,256], slots=length, "
    "scale=0.0625, before=300, after=0)",
    "result = attention(q:T[2,1,3,5], length9:i64[1], k:T[2,12,3,5], v:T[2,12,3,5], slots=length)",
    // heads before places, and keys and values that stand side by side
    "result = attention(q:T[1,1,8,64], length37:i64[1], transpose(k:T[1,2,90,64], permutation=[0,2,1,3]), "
    "transpose(v:T[1,2,90,64], permutation=[0,2,1,3]), slots=length, scale=0.125, after=0)",
    "kv: T[1,90,4,64] = input()\n"
    "result = attention(q:T[1,1,8,64], length81:i64[1], slice(kv, axis=2, begin=0, end=2), slice(kv, axis=2, begin=2, "
    "end=4), slots=length, scale=0.125, after=0)",
    // several queries: behind a text, in a ring, with a window and with a prefix, and as the whole text
    "result = attention(q:T[1,5,4,64], length70:i64[1], k:T[1,128,2,64], v:T[1,128,2,64], slots=length, scale=0.125, "
    "after=0)",
    "result = attention(q:T[1,9,4,32], length70:i64[1], k:T[1,32,2,32], v:T[1,32,2,32], slots=length, scale=0.177, "
    "before=20, after=0)",
    "result = attention(q:T[1,8,2,24], length100:i64[1], k:T[1,160,2,24], v:T[1,160,2,24], slots=length, scale=0.2, "
    "before=11, after=0, prefix=7)",
    "result = attention(q:T[1,40,4,64], length200:i64[1], k:T[1,256,2,64], v:T[1,256,2,64], slots=length, "
    "scale=0.125, after=0)",
    "result = attention(q:T[1,70,4,40], length333:i64[1], k:T[1,130,2,40], v:T[1,130,2,40], slots=length, "
    "scale=0.158, before=50, after=0)",
    "result = attention(q:T[1,33,3,16], length33:i64[1], k:T[1,200,3,16], v:T[1,200,3,16], slots=length, scale=0.25, "
    "softcap=5, after=0)",
    "result = attention(q:T[1,12,2,32], length40:i64[1], k:T[1,48,2,32], v:T[1,48,2,32], slots=length, scale=0.177)",
    // enough of them for warpgroups: behind a text, as the whole text, in rings that end within a tile and at its end,
    // with a window, with a prefix, and all keys
    "result = attention(q:T[1,150,8,64], length333:i64[1], k:T[1,400,2,64], v:T[1,400,2,64], slots=length, "
    "scale=0.125, after=0)",
    "result = attention(q:T[1,129,4,128], length129:i64[1], k:T[1,129,1,128], v:T[1,129,1,128], slots=length, "
    "scale=0.088, after=0)",
    "result = attention(q:T[1,100,2,72], length431:i64[1], k:T[1,230,2,72], v:T[1,230,2,72], slots=length, "
    "scale=0.118, before=130, after=0)",
    "result = attention(q:T[1,64,1,256], length320:i64[1], k:T[1,192,1,256], v:T[1,192,1,256], slots=length, "
    "scale=0.0625, before=127, after=0)",
    "result = attention(q:T[1,90,4,40], length300:i64[1], k:T[1,310,2,40], v:T[1,310,2,40], slots=length, "
    "scale=0.158, before=70, after=0, prefix=21)",
    "result = attention(q:T[1,80,2,64], length100:i64[1], k:T[1,512,2,64], v:T[1,512,2,64], slots=length, "
    "scale=0.125)",
};

}  // namespace

std::span<const char* const> cache_problems() { return kCacheProblems; }

std::vector<std::string> narrow_cache_problems(const std::string& type) {
  std::vector<std::string> all;
  for (std::string text : kCacheProblems) {
    for (const char* cache : {"keys:T", "values:T", "k:T", "v:T", "kv: T"})
      for (size_t at = text.find(cache); at != std::string::npos; at = text.find(cache, at + 1))
        text.replace(at + std::string_view(cache).size() - 1, 1, type);
    all.push_back(std::move(text));
  }
  all.insert(all.end(),
             {
                 "result = attention(q:T[1,1,4,64], mask:f32[1,1,1,90], k:" + type + "[1,90,2,64], v:" + type +
                     "[1,90,2,64], slots=mask, scale=0.125)",
                 "result = attention(q:T[2,7,3,16], k:" + type + "[2,37,3,16], v:" + type + "[2,37,3,16], scale=0.25)",
             });
  return all;
}

}  // namespace rung::test
