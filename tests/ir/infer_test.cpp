// The type rules: what each op gives, and what it refuses before anything could read or write outside its memory.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "type_rule.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

class TypeRule : public testing::TestWithParam<Rule> {};
TEST_P(TypeRule, GivesItsType) { EXPECT_EQ(type_of(GetParam().expression), GetParam().result); }

INSTANTIATE_TEST_SUITE_P(
    Elementwise, TypeRule,
    testing::Values(Rule{"exp(a:bf16[2])", "bf16[2]"}, Rule{"abs(a:i64[2])", "i64[2]"},
                    Rule{"add(a:i32[2,1], b:i32[3])", "i32[2,3]"}, Rule{"lt(a:f32[2], b:f32[1])", "bool[2]"},
                    Rule{"eq(a:bool[2], b:bool[2])", "bool[2]"}, Rule{"and(a:bool[2], b:bool[2])", "bool[2]"},
                    Rule{"cast(a:f32[2], to=i8)", "i8[2]"}, Rule{"select(c:bool[2,1], a:f16[3], b:f16[1])", "f16[2,3]"},
                    Rule{"rope(x:bf16[1,2,4], c:f32[2,4], s:f32[2,4])", "bf16[1,2,4]"},
                    Rule{"gated_mul(g:f32[2], u:f32[2])", "f32[2]"},
                    Rule{"pointwise(a:f32[2,1], b:bool[3], program=\"r2=mul(r0,r1)\", out=bf16)", "bf16[2,3]"},
                    Rule{"region(a:bf16[2,3], b:f32[3], program=\"r2=row_sum(r0);r3=mul(r1,r2);return r3:f16\")",
                         "f16[2,3]"},
                    Rule{"region(a:f32[2,3], program=\"r1=row_argmax(r0);return r1:i64\")", "i64[2,1]"},
                    Rule{"result(region(a:f32[2,3], program=\"r1=row_max(r0);return r0:f32,r1:bf16\"))", "bf16[2,1]"},
                    Rule{"region(a:f32[], program=\"r1=exp(r0);return r1:f32\")", "f32[]"}));

INSTANTIATE_TEST_SUITE_P(
    Contractions, TypeRule,
    testing::Values(Rule{"matmul(a:f32[5,1,2,3], b:f32[4,3,6])", "f32[5,4,2,6]"},
                    Rule{"linear(x:bf16[1,2,3], w:bf16[8,3], out=f32)", "f32[1,2,8]"},
                    Rule{"linear(x:f32[2,3], w:f32[8,3], b:f32[8], r:f32[2,4], slots=bias+residual, "
                         "gated=true)",
                         "f32[2,4]"},
                    Rule{"linear(x:i8[2,3], w:i8[8,3], c:f32[8], s:f32[2], slots=scale+x_scale)", "f32[2,8]"},
                    Rule{"linear(x:f8e4m3fn[1,2,3], w:f8e4m3fn[8,3], c:f32[8], slots=scale, gated=true, factor=2, "
                         "out=f8e4m3fn)",
                         "f8e4m3fn[1,2,4]"},
                    Rule{"linear(x:bf16[2,3], w:i8[8,3], c:f32[8], slots=scale)", "f32[2,8]"},
                    Rule{"quantize(x:bf16[2,3,4], to=i8)", "i8[2,3,4]"},
                    Rule{"result(quantize(x:bf16[2,3,4]))", "f32[2,3]"},
                    Rule{"result(linear(x:bf16[2,3], w:bf16[32,3], g:f32[32], slots=norm_weight, norm_run=32, "
                         "normed=f8e4m3fn))",
                         "f8e4m3fn[2,32]"},
                    Rule{"attention(q:f32[1,5,4,8], k:f32[1,6,2,8], v:f32[1,6,2,8])", "f32[1,5,4,8]"},
                    Rule{"attention(q:f32[1,5,4,8], m:f32[5,9], k:f32[1,6,2,8], v:f32[1,6,2,8], l:f32[1,3,2,8], "
                         "o:f32[1,3,2,8], slots=mask, segments=2)",
                         "f32[1,5,4,8]"},
                    Rule{"conv(x:f32[1,9,8,3], w:f32[5,3,2,3], b:f32[5], slots=bias, stride=[2,2])", "f32[1,4,4,5]"},
                    Rule{"conv(x:f32[2,9,4], w:f32[6,3,2], groups=2, dilation=[2], before=[1], after=[2])",
                         "f32[2,8,6]"},
                    Rule{"conv(x:f32[1,3,4,5,2], w:f32[7,1,2,3,2])", "f32[1,3,3,3,7]"},
                    Rule{"conv(x:bf16[1,9,4], w:bf16[6,3,4], b:f32[2,6], slots=bias)", "bf16[1,7,6]"},
                    Rule{"conv(x:f32[1,4,3], w:f32[5,3,3], transposed=true, stride=[2], before=[1], after=[1], "
                         "extra=[1])",
                         "f32[1,8,5]"},
                    Rule{"pool(x:f32[1,7,5,3], window=[3,2], stride=[2,1], after=[1,0])", "f32[1,3,4,3]"},
                    Rule{"im2col(x:f32[1,3,9,4], patch=2)", "f32[1,8,12]"}));

INSTANTIATE_TEST_SUITE_P(
    OfSeveralResults, TypeRule,
    testing::Values(Rule{"top_k(x:i64[2,9], k=3)", "i64[2,3]"}, Rule{"top_k(x:bf16[2,9], k=3)", "bf16[2,3]"},
                    Rule{"top_k(x:f32[2,9], k=9)", "f32[2,9]"}, Rule{"result(top_k(x:bf16[2,9], k=3))", "i64[2,3]"},
                    Rule{"linear(x:f16[2,3], w:f16[64,3], g:f32[64], slots=norm_weight, norm_run=32)", "f32[2,64]"},
                    Rule{"result(linear(x:f16[2,3], w:f16[64,3], g:f32[64], slots=norm_weight, norm_run=32))",
                         "bf16[2,64]"},
                    Rule{"result(linear(x:f16[2,3], w:f16[64,3], g:f32[64], slots=norm_weight, norm_run=32), index=2)",
                         "f32[2,2]"}));

INSTANTIATE_TEST_SUITE_P(Movement, TypeRule,
                         testing::Values(Rule{"reshape(a:f32[2,6], shape=[3,4])", "f32[3,4]"},
                                         Rule{"transpose(a:f32[2,3,4], permutation=[2,0,1])", "f32[4,2,3]"},
                                         Rule{"slice(a:f32[9], axis=0, begin=1, end=8, step=3)", "f32[3]"},
                                         Rule{"slice(a:f32[9], axis=-1, begin=9, end=9)", "f32[0]"},
                                         Rule{"concat(a:f32[2,3], b:f32[2,4], axis=1)", "f32[2,7]"},
                                         Rule{"broadcast(a:f32[1,3], shape=[2,5,3])", "f32[2,5,3]"},
                                         Rule{"gather(t:f32[9,4], i:i64[2,3], axis=0)", "f32[2,3,4]"},
                                         Rule{"gather(t:f32[9,4], i:i32[], axis=-1)", "f32[9]"}));

INSTANTIATE_TEST_SUITE_P(Reductions, TypeRule,
                         testing::Values(Rule{"softmax(a:f16[2,3], axis=0)", "f16[2,3]"},
                                         Rule{"reduce(a:f32[2,3], kind=max, axis=0)", "f32[3]"},
                                         Rule{"reduce(a:f32[2,3], kind=mean, axis=-1, keep_dim=true)", "f32[2,1]"},
                                         Rule{"reduce(a:bool[2,3], kind=sum, axis=0)", "i64[3]"},
                                         Rule{"reduce(a:i8[2,0], kind=sum, axis=1)", "i64[2]"},
                                         Rule{"cumsum(a:bool[3])", "i64[3]"}, Rule{"cumsum(a:bf16[3])", "bf16[3]"},
                                         Rule{"layer_norm(x:bf16[2,4], w:f32[4], b:f32[4], out=f32)", "f32[2,4]"},
                                         Rule{"rms_norm(x:f32[2,4], w:bf16[4], out=bf16)", "bf16[2,4]"},
                                         Rule{"l2_normalize(x:f16[2,4])", "f16[2,4]"},
                                         Rule{"masked_mean(x:bf16[2,3,4], m:f32[2,3])", "bf16[2,4]"}));

// Sizes, ranks and numbers of heads that are just allowed.
INSTANTIATE_TEST_SUITE_P(
    AtTheirLimits, TypeRule,
    testing::Values(
        Rule{"select(c:bool[2,3], a:f32[3], b:f32[3])", "f32[2,3]"}, Rule{"ne(a:bool[2], b:bool[2])", "bool[2]"},
        Rule{"ge(a:i64[2], b:i64[2])", "bool[2]"}, Rule{"not(a:bool[2])", "bool[2]"}, Rule{"relu(a:i64[2])", "i64[2]"},
        Rule{"square(a:i32[2])", "i32[2]"}, Rule{"neg(a:i8[2])", "i8[2]"},
        Rule{"rope(x:f32[3,2], c:f32[2], s:f32[2])", "f32[3,2]"}, Rule{"linear(x:f32[3], w:f32[8,3])", "f32[8]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], b:f32[8], slots=bias, gated=true)", "f32[2,4]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,4], c, slots=cos+sin, rotated_heads=2)", "f32[2,8]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,2], c, slots=cos+sin, rotated_heads=1, out=bf16)", "bf16[2,8]"},
        Rule{"linear(x:f32[2,64], w:f32[8,64], q:f32[2,2], slots=squares)", "f32[2,8]"},
        Rule{"matmul(a:bf16[2,3], b:bf16[3,5])", "bf16[2,5]"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[1,6,1,8], v:f32[1,6,1,8])", "f32[1,5,4,8]"},
        Rule{"attention(q:f32[2,5,4,8], m:f32[2,4,5,6], k:f32[2,6,4,8], v:f32[2,6,4,8], slots=mask)", "f32[2,5,4,8]"},
        Rule{"conv(x:f32[1,3,2,3], w:f32[5,3,2,3])", "f32[1,1,1,5]"},
        Rule{"im2col(x:f32[1,3,2,2], patch=2)", "f32[1,1,12]"}, Rule{"reshape(a:f32[1], shape=[])", "f32[]"},
        Rule{"slice(a:f32[9], axis=0, begin=0, end=9, step=9)", "f32[1]"},
        Rule{"slice(a:f32[9], axis=0, begin=0, end=8, step=2)", "f32[4]"},
        Rule{"slice(a:f32[9], axis=0, begin=0, end=9, step=2)", "f32[5]"},
        Rule{"concat(a:f32[2,3], axis=0)", "f32[2,3]"}, Rule{"concat(a:f32[2], b:f32[2], c:f32[5], axis=-1)", "f32[9]"},
        Rule{"gather(t:f32[1,1,1,1,1], i:i64[1,1,1,1], axis=0)", "f32[1,1,1,1,1,1,1,1]"},
        Rule{"reduce(a:bool[2,3], kind=max, axis=1)", "bool[2]"},
        Rule{"reduce(a:f16[2,3], kind=sum, axis=1)", "f16[2]"},
        Rule{"reduce(a:i32[2,3], kind=sum, axis=1, keep_dim=true)", "i64[2,1]"},
        Rule{"layer_norm(x:bf16[2,4], r:f32[2,4], w:f32[4], b:f32[4], slots=residual)", "f32[2,4]"},
        Rule{"top_k(x:f32[1], k=1)", "f32[1]"}, Rule{"softmax(a:f32[2,3], axis=-2)", "f32[2,3]"}));

class RefusedType : public testing::TestWithParam<Rule> {};
TEST_P(RefusedType, IsNamed) { EXPECT_THAT(type_of(GetParam().expression), HasSubstr(GetParam().result)); }

INSTANTIATE_TEST_SUITE_P(
    Elementwise, RefusedType,
    testing::Values(Rule{"exp(a:i64[2])", "exp: operand: got i64[2], wanted a float type"},
                    Rule{"neg(a:bool[2])", "got bool[2], wanted numbers"},
                    Rule{"not(a:f32[2])", "got f32[2], wanted bool"},
                    Rule{"add(a:f32[2], b:f16[2])", "got operands of f32 and f16, wanted one dtype"},
                    Rule{"add(a:f32[2], b:f32[3])", "do not broadcast"},
                    Rule{"add(a:bool[2], b:bool[2])", "got bool[2], wanted numbers"},
                    Rule{"and(a:f32[2], b:f32[2])", "got f32[2], wanted bool"},
                    Rule{"pow(a:i64[2], b:i64[2])", "operand: got i64[2], wanted a float type"},
                    Rule{"select(c:f32[2], a:f32[2], b:f32[2])", "condition: got f32[2], wanted bool"},
                    Rule{"select(c:bool[2], a:f32[2], b:i64[2])", "wanted one dtype"},
                    Rule{"rope(x:f32[2,3], c:f32[3], s:f32[3])", "wanted an even last dimension"},
                    Rule{"rope(x:f32[2,4], c:f32[3,4], s:f32[4])", "cos: got shape [3,4]"},
                    Rule{"rope(x:f32[1,4], c:f32[4], s:f32[2,4])", "sin: got shape [2,4], wanted one that broadcasts"},
                    Rule{"gated_mul(g:f32[2], u:f32[1])", "wanted equal types"},
                    Rule{"exp(a:f32[2], b:f32[2])", "got 2 operands, wanted 1"}));

INSTANTIATE_TEST_SUITE_P(
    Contractions, RefusedType,
    testing::Values(
        Rule{"matmul(a:f32[2,3], b:f32[4,5])", "inner dimensions differ"},
        Rule{"matmul(a:f32[3], b:f32[3,5])", "wanted rank 2 or more"},
        Rule{"matmul(a:f32[2,2,3], b:f32[3,3,5])", "do not broadcast"},
        Rule{"matmul(a:f32[2,3], b:bf16[3,5])", "wanted one dtype"},
        Rule{"linear(x:f32[2,3], w:f32[8,4])", "inner dimensions differ"},
        Rule{"linear(x:f32[2,3], w:f32[7,3], gated=true)", "wanted an even number of rows"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], b:f32[4], slots=bias)", "bias: got shape [4], wanted [8]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], r:f32[8], slots=residual)", "residual: got shape [8], wanted [2,8]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], out=i8)", "got output type i8"},
        Rule{"linear(x:f32[2,3], w:f32[64,3], g:f32[64], slots=norm_weight, norm_run=32, gated=true)",
             "got norm weights with a gate or rotated heads, wanted neither"},
        Rule{"linear(x:f32[2,3], w:f32[40,3], g:f32[40], slots=norm_weight, norm_run=32)",
             "norm_weight: got a result of 40 columns, wanted runs of 32"},
        Rule{"linear(x:f32[2,3], w:f32[64,3], g:f32[32], slots=norm_weight, norm_run=32)",
             "norm_weight: got shape [32]"},
        Rule{"linear(x:f32[2,40], w:f32[8,40], q:f32[2,3], slots=squares)",
             "squares: got f32[2,3], wanted rows of means whose number divides the columns of x, f32[2,40]"},
        Rule{"linear(x:f32[2,3], w:f32[64,3], norm_run=32)", "got norm_run=32, wanted the length of a run beside"},
        Rule{"linear(x:f32[2,3], w:f32[64,3], g:f32[64], slots=norm_weight)", "got norm_run=0, wanted"},
        Rule{"linear(x:f32[2,64], w:f32[8,64], q:f32[3,4], slots=squares)", "squares: got shape [3,4], wanted [2,4]"},
        Rule{"result(linear(x:f32[2,3], w:f32[8,3]))", "result: got index 1 of linear, wanted 1 to 0"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], rotated_heads=-1)", "got -1 rotated heads"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], slots=bias)", "got 2 operands, wanted 3"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], b:f32[8])", "got 3 operands, wanted 2"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,4], rotated_heads=1, slots=cos)",
             "got 1 rotated heads, wanted slots cos and sin beside them and only there"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], rotated_heads=1)",
             "got 1 rotated heads, wanted slots cos and sin beside them and only there"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,4], c, slots=cos+sin)",
             "got 0 rotated heads, wanted slots cos and sin beside them and only there"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,4], c, slots=cos+sin, rotated_heads=1, activation=relu)",
             "got rotated heads with a gate, an activation or a residual, wanted none of them"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[1,6,3,8], v:f32[1,6,3,8])", "do not fit"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[2,6,2,8], v:f32[2,6,2,8])", "do not fit"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[1,6,2,4], v:f32[1,6,2,4])", "do not fit"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[1,6,2,8], v:f32[1,7,2,8])", "wanted equal types"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[1,6,2,8], v:f32[1,6,2,8], l:f32[1,6,4,8], o:f32[1,6,4,8], segments=2)",
             "do not fit"},
        Rule{"attention(q:f32[1,5,4,8], m:f32[5,5], k:f32[1,6,2,8], v:f32[1,6,2,8], slots=mask)",
             "mask: got shape [5,5], wanted one that broadcasts to [1,4,5,6]"},
        Rule{"attention(q:f32[1,5,4,8], m:bf16[5,6], k:f32[1,6,2,8], v:f32[1,6,2,8], slots=mask)", "wanted f32"},
        Rule{"attention(q:f32[1,5,4,8], segments=0)", "got 0 segments"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[1,6,2,8], v:f32[1,6,2,8], segments=2)",
             "got 3 operands, wanted 1 and two for each of 2 segments"},
        Rule{"conv(x:f32[1,2,8,3], w:f32[5,3,2,3])", "no window fits"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,2,4])", "channels do not fit"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,2,3], b:f32[4], slots=bias)", "bias: got shape [4]"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,2,3], b:f32[3,5], slots=bias)", "factors and bias: got shape [3,5]"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,2,3], b:f32[1,2,5], slots=bias)", "bias: got shape [1,2,5]"},
        Rule{"conv(x:f32[1,8,8,4], w:f32[6,3,2,2], groups=4)", "in 4 groups: channels do not fit"},
        Rule{"conv(x:f32[1,8,8,4], w:f32[5,3,2,2], groups=2)", "in 2 groups: channels do not fit"},
        Rule{"conv(x:f32[1,8,8,4], w:f32[4,3,2,4], groups=0)", "in 0 groups: channels do not fit"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,2,3], last=relu)", "a last activation without a residual"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,2,3], extra=[1,1])", "in a transposed one only"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,2,3], tail=\"r1=add(r0,r7)\")", "r7"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,2,3], stride=[2])", "stride: got [2], wanted none or 2 numbers"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,2,3], r:f32[1,6,7,4], slots=residual)", "residual: got shape [1,6,7,4]"},
        Rule{"conv(x:f32[1,1,1,3], w:f32[5,2,2,3], transposed=true, before=[1,1], after=[1,1])", "no window fits"},
        Rule{"pool(x:f32[1,8,8,3], window=[2])", "window: got [2], wanted 2 numbers"},
        Rule{"pool(x:f32[1,8,8,3], window=[2,9])", "no window fits"},
        Rule{"pool(x:f32[1,8,8,3], window=[2,2], kind=mean, places=true)", "got places of mean"},
        Rule{"im2col(x:f32[1,3,9,1], patch=2)", "wanted an image of at least one patch"},
        Rule{"im2col(x:f32[1,3,9,9], patch=0)", "wanted an image of at least one patch"}));

INSTANTIATE_TEST_SUITE_P(Formulas, TypeRule,
                         testing::Values(Rule{"formula(x:f16[2,3], kind=tan)", "f16[2,3]"},
                                         Rule{"formula(x:f32[2,1], y:f32[3], kind=atan2)", "f32[2,3]"},
                                         Rule{"formula(x:u8[2,1], y:u8[3], kind=shift_left)", "u8[2,3]"},
                                         Rule{"formula(x:i64[2], y:i64[2], kind=floor_mod)", "i64[2]"},
                                         Rule{"scatter(x:f32[5,2], i:i64[3], u:f32[3,2], kind=add)", "f32[5,2]"},
                                         Rule{"scatter(x:bool[5], i:i64[3], u:bool[3])", "bool[5]"}));

INSTANTIATE_TEST_SUITE_P(
    Caches, TypeRule,
    testing::Values(Rule{"cache_heads(x:f16[1,3,40], k:f16[9,2,4], v:f16[9,2,4], p:i64[3], c:f32[3,4], s:f32[3,4])",
                         "f16[1,3,6,4]"},
                    Rule{"cache_heads(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[2], c:f16[2,2], s:f32[2,2], "
                         "w:bf16[2,2])",
                         "f32[2,1,2]"},
                    Rule{
                        "result(cache_heads(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[2], c:f32[2,2], s:f32[2,2]), "
                        "index=2)",
                        "f32[5,1,2]"},
                    Rule{"cached_attention(x:f16[1,3,40], k:f16[9,2,4], v:f16[9,2,4], p:i64[3], c:f32[3,4], "
                         "s:f32[3,4], n:i64[1], scale=0.5, before=3, after=0)",
                         "f16[1,3,6,4]"},
                    Rule{"result(cached_attention(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[2], c:f16[2,2], "
                         "s:f32[2,2], w:bf16[2,2], n:i64[1]))",
                         "f32[5,1,2]"}));

INSTANTIATE_TEST_SUITE_P(
    Caches, RefusedType,
    testing::Values(
        Rule{"cached_attention(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[2], c:f32[2,2], s:f32[2,2])",
             "got 6 operands, wanted 7 or 8"},
        Rule{"cached_attention(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[1], c:f32[2,2], s:f32[2,2], n:i64[1])",
             "places: got shape [1], wanted [2]"},
        Rule{"cached_attention(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[2], c:f32[2,2], s:f32[2,2], n:i32[1])",
             "length: got i32[1], wanted i64[1]"},
        Rule{"cached_attention(x:f32[6,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[6], c:f32[6,2], s:f32[6,2], n:i64[1])",
             "got 6 queries of a cache of 5 keys"},
        Rule{"cached_attention(x:f32[1,14], k:f32[5,2,2], v:f32[5,2,2], p:i64[1], c:f32[1,2], s:f32[1,2], n:i64[1])",
             "batch, heads or head sizes do not fit"},
        Rule{"cached_attention(x:f32[1,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[1], c:f32[1,2], s:f32[1,2], n:i64[1], "
             "softcap=-1)",
             "got softcap -1, wanted a number from 0 on"},
        Rule{"cache_heads(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2])", "got 3 operands, wanted 6 or 7"},
        Rule{"cache_heads(x:i64[2,6], k:i64[5,1,2], v:i64[5,1,2], p:i64[2], c:f32[2,2], s:f32[2,2])",
             "x: got i64[2,6]"},
        Rule{"cache_heads(x:f32[2,6], k:f32[5,2], v:f32[5,2], p:i64[2], c:f32[2,2], s:f32[2,2])", "keys: got f32[5,2]"},
        Rule{"cache_heads(x:f32[2,6], k:f32[5,1,2], v:f32[4,1,2], p:i64[2], c:f32[2,2], s:f32[2,2])",
             "values: got shape [4,1,2]"},
        Rule{"cache_heads(x:f32[2,6], k:f32[5,1,2], v:f16[5,1,2], p:i64[2], c:f32[2,2], s:f32[2,2])",
             "wanted one dtype"},
        Rule{"cache_heads(x:f32[2,9], k:f32[5,1,3], v:f32[5,1,3], p:i64[2], c:f32[2,3], s:f32[2,3])",
             "wanted heads of an even width"},
        Rule{"cache_heads(x:f32[2,4], k:f32[5,1,2], v:f32[5,1,2], p:i64[2], c:f32[2,2], s:f32[2,2])",
             "wanted rows of more than 2 heads of 2 columns"},
        Rule{"cache_heads(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i32[2], c:f32[2,2], s:f32[2,2])",
             "places: got i32[2], wanted i64[2]"},
        Rule{"cache_heads(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[1], c:f32[2,2], s:f32[2,2])",
             "places: got shape [1], wanted [2]"},
        Rule{"cache_heads(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[2], c:f32[2], s:f32[2,2])",
             "cos: got shape [2]"},
        Rule{"cache_heads(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[2], c:f32[2,2], s:i64[2,2])",
             "sin: got i64[2,2]"},
        Rule{"cache_heads(x:f32[2,6], k:f32[5,1,2], v:f32[5,1,2], p:i64[2], c:f32[2,2], s:f32[2,2], w:f32[3,2])",
             "norm_weight: got shape [3,2], wanted [2,2]"}));

INSTANTIATE_TEST_SUITE_P(
    Sampling, TypeRule,
    testing::Values(Rule{"sample(x:bf16[1,9], s:f32[8], d:i64[2])", "i64[1]"},
                    Rule{"sample(x:f32[9], s:f32[8], d:i64[2], b:f32[9], slots=bias)", "i64[1]"},
                    Rule{"sample(x:f32[1], s:f32[8], d:i64[2], n:i32[1], slots=seen)", "i64[1]"},
                    Rule{"sample(x:f16[9], s:f32[8], d:i64[2], b:f32[9], n:i64[9], slots=bias+seen)", "i64[1]"}));

INSTANTIATE_TEST_SUITE_P(
    Sampling, RefusedType,
    testing::Values(
        Rule{"sample(x:f32[9], s:f32[8])", "got 2 operands, wanted 3"},
        Rule{"sample(x:i64[9], s:f32[8], d:i64[2])", "logits: got i64[9]"},
        Rule{"sample(x:f32[2,9], s:f32[8], d:i64[2])", "logits: got f32[2,9], wanted [V] or [1,V]"},
        Rule{"sample(x:f32[], s:f32[8], d:i64[2])", "logits: got f32[], wanted [V] or [1,V]"},
        Rule{"sample(x:f32[0], s:f32[8], d:i64[2])", "wanted 1 to 4194304 of them"},
        Rule{"sample(x:f32[4194305], s:f32[8], d:i64[2])", "wanted 1 to 4194304 of them"},
        Rule{"sample(x:f32[9], s:f32[7], d:i64[2])", "settings: got f32[7], wanted f32[8]"},
        Rule{"sample(x:f32[9], s:f32[8], d:i32[2])", "draw: got i32[2], wanted i64[2]"},
        Rule{"sample(x:f32[9], s:f32[8], d:i64[2], b:f16[9], slots=bias)", "bias: got f16[9], wanted f32[9]"},
        Rule{"sample(x:f32[9], s:f32[8], d:i64[2], n:f32[9], slots=seen)", "seen: got f32[9], wanted i64[9]"},
        Rule{"sample(x:f32[9], s:f32[8], d:i64[2], n:i32[8], slots=seen)", "seen: got shape [8], wanted [9]"}));

INSTANTIATE_TEST_SUITE_P(
    Recurrences, TypeRule,
    testing::Values(Rule{"recurrence(x:f32[5,2,12], w:f32[12,3], h:f32[2,3], c:f32[2,3])", "f32[5,2,3]"},
                    Rule{"result(recurrence(x:f16[5,2,12], w:f16[12,3], h:f16[2,3], c:f16[2,3]))", "f16[1,2,3]"},
                    Rule{"recurrence(x:f32[1,2,9], w:f32[9,3], h:f32[2,3], b:f32[3], cell=gru)", "f32[1,2,3]"},
                    Rule{"recurrence(x:f32[1,2,3], w:f32[3,3], h:f32[2,3], cell=rnn)", "f32[1,2,3]"},
                    Rule{"group_norm(x:bf16[2,5,6,8], groups=4)", "bf16[2,5,6,8]"},
                    Rule{"group_norm(x:f32[2,8], groups=8)", "f32[2,8]"}));

INSTANTIATE_TEST_SUITE_P(
    Recurrences, RefusedType,
    testing::Values(
        Rule{"recurrence(x:f32[5,2,12], w:f32[12,3], h:f32[2,3])", "got 3 operands, wanted 4"},
        Rule{"recurrence(x:f32[5,2,13], w:f32[13,3], h:f32[2,3], c:f32[2,3])",
             "x: got f32[5,2,13], wanted at least one step of 4 gates of 3 each"},
        Rule{"recurrence(x:f32[0,2,3], w:f32[3,3], h:f32[2,3], cell=rnn)", "wanted at least one step"},
        Rule{"recurrence(x:f32[5,2,3], w:f32[2,3], h:f32[2,3], cell=rnn)", "w: got shape [2,3], wanted [3,3]"},
        Rule{"recurrence(x:f32[5,2,3], w:f16[3,3], h:f32[2,3], cell=rnn)", "wanted one dtype"},
        Rule{"recurrence(x:f32[5,2,3], w:f32[3,3], h:f32[1,3], cell=rnn)", "h: got shape [1,3], wanted [2,3]"},
        Rule{"recurrence(x:f32[5,2,12], w:f32[12,3], h:f32[2,3], c:f32[3])", "c: got shape [3], wanted [2,3]"},
        Rule{"recurrence(x:f32[5,2,9], w:f32[9,3], h:f32[2,3], b:f32[9], cell=gru)", "bias: got shape [9], wanted [3]"},
        Rule{"group_norm(x:f32[8])", "wanted a batch and channels"},
        Rule{"group_norm(x:f32[2,8], groups=3)", "got 3 groups of f32[2,8]"},
        Rule{"group_norm(x:f32[2,8], groups=0)", "got 0 groups"},
        Rule{"group_norm(x:i64[2,8])", "wanted a float type"}));

INSTANTIATE_TEST_SUITE_P(
    Formulas, RefusedType,
    testing::Values(Rule{"formula(x:i64[2], kind=tan)", "wanted a float type"},
                    Rule{"formula(x:f32[2], y:f32[2], kind=and)", "operand: got f32[2], wanted integers"},
                    Rule{"formula(x:bool[2], y:bool[2], kind=xor)", "operand: got bool[2], wanted numbers"},
                    Rule{"formula(x:f32[2], kind=atan2)", "got 1 operands, wanted 2"},
                    Rule{"formula(x:f32[2], y:f16[2], kind=fmod)", "wanted one dtype"},
                    Rule{"scatter(x:f32[5,2], i:i32[3], u:f32[3,2])", "indices: got i32[3], wanted i64[M]"},
                    Rule{"scatter(x:f32[5,2], i:i64[3], u:f32[4,2])", "updates: got shape [4,2], wanted [3,2]"},
                    Rule{"scatter(x:f32[5,2], i:i64[3], u:f16[3,2])", "wanted one dtype"},
                    Rule{"scatter(x:bool[5], i:i64[3], u:bool[3], kind=add)", "wanted numbers for add"}));

INSTANTIATE_TEST_SUITE_P(
    OfSeveralResults, RefusedType,
    testing::Values(Rule{"linear(x:i8[2,3], w:i8[8,3])", "x: got i8[2,3], wanted a float type"},
                    Rule{"linear(x:f8e4m3fn[2,3], w:bf16[8,3])", "wanted x of a type of 16 bits or more"},
                    Rule{"linear(x:f8e4m3fn[2,3], w:f8e4m3fnuz[8,3])", "or of the weight's"},
                    Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[3], slots=scale)", "scale: got f32[3], wanted f32[8]"},
                    Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,1], slots=x_scale)",
                         "x_scale: got f32[2,1], wanted f32[2]"},
                    Rule{"linear(x:f32[2,3], w:f32[8,3], factor=0)", "got factor=0, wanted a number other than 0"},
                    Rule{"quantize(x:f32[2,3], to=bf16)", "got to=bf16, wanted f8e4m3fn, f8e4m3fnuz, i8 or u8"},
                    Rule{"quantize(x:i64[2,3])", "x: got i64[2,3]"},
                    Rule{"top_k(x:f32[2,9], k=0)", "got k = 0 of f32[2,9], wanted 1 to the last dimension"},
                    Rule{"top_k(x:f32[2,9], k=10)", "got k = 10 of f32[2,9]"},
                    Rule{"top_k(x:bool[2,9])", "wanted numbers"},
                    Rule{"result(top_k(x:f32[2,9]), index=2)", "result: got index 2 of top_k, wanted 1 to 1"},
                    Rule{"result(top_k(x:f32[2,9]), index=0)", "result: got index 0 of top_k"},
                    Rule{"result(exp(x:f32[2,9]))", "result: got index 1 of exp, wanted 1 to 0"},
                    Rule{"result(x:f32[2], y:f32[2])", "result: got 2 operands, wanted 1"}));

INSTANTIATE_TEST_SUITE_P(
    Movement, RefusedType,
    testing::Values(Rule{"reshape(a:f32[2,6], shape=[3,5])", "element counts differ"},
                    Rule{"transpose(a:f32[2,3], permutation=[0,0])", "is not a permutation of 2 axes"},
                    Rule{"transpose(a:f32[2,3], permutation=[0,2])", "is not a permutation of 2 axes"},
                    Rule{"transpose(a:f32[2,3], permutation=[0])", "got permutation [0]"},
                    Rule{"slice(a:f32[9], axis=0, begin=1, end=10)", "wanted 0 <= begin <= end <= size"},
                    Rule{"slice(a:f32[9], axis=0, begin=5, end=4)", "wanted 0 <= begin <= end <= size"},
                    Rule{"slice(a:f32[9], axis=0, begin=-1, end=4)", "wanted 0 <= begin <= end <= size"},
                    Rule{"slice(a:f32[9], axis=0, begin=0, end=4, step=0)", "1 <= step <= size"},
                    Rule{"slice(a:f32[9], axis=1, begin=0, end=4)", "axis 1 is out of range"},
                    Rule{"concat(a:f32[2,3], b:f32[3,3], axis=1)", "operand: got shape [3,3], wanted [2,3]"},
                    Rule{"concat(a:f32[2,3], b:f32[2,3,1], axis=1)", "operand: got shape"},
                    Rule{"concat(a:f32[2], b:i64[2], axis=0)", "wanted one dtype"},
                    Rule{"concat(axis=0)", "got no operands"},
                    Rule{"broadcast(a:f32[2], shape=[3])", "operand: got shape [2]"},
                    Rule{"broadcast(a:f32[2,3], shape=[3])", "operand: got shape [2,3]"},
                    Rule{"gather(t:f32[9], i:f32[2], axis=0)", "indices: got f32[2], wanted i64 or i32"},
                    Rule{"gather(t:f32[1,1,1,1,1], i:i64[1,1,1,1,1], axis=0)", "more than 8 dimensions"}));

INSTANTIATE_TEST_SUITE_P(
    Reductions, RefusedType,
    testing::Values(Rule{"softmax(a:i64[2])", "wanted a float type"}, Rule{"softmax(a:f32[2], axis=1)", "out of range"},
                    Rule{"reduce(a:f32[2,0], kind=max, axis=1)", "wanted at least one element"},
                    Rule{"reduce(a:i64[2], kind=mean, axis=0)", "wanted a float type"},
                    Rule{"cumsum(a:f32[2], axis=-2)", "out of range"},
                    Rule{"layer_norm(x:f32[2,4], w:f32[3], b:f32[4])", "weight: got shape [3], wanted [4]"},
                    Rule{"layer_norm(x:f32[2,4], w:f32[4], b:f32[5])", "bias: got shape [5], wanted [4]"},
                    Rule{"layer_norm(x:f32[2,4], r:f32[4], w:f32[4], b:f32[4], slots=residual)", "residual: got"},
                    Rule{"layer_norm(x:f32[2,0], w:f32[0], b:f32[0])", "wanted a last dimension of at least 1"},
                    Rule{"rms_norm(x:f32[2,4], w:f32[2,4])", "weight: got shape [2,4], wanted [4]"},
                    Rule{"l2_normalize(x:i64[2])", "wanted a float type"},
                    Rule{"masked_mean(x:f32[2,3,4], m:f32[2,4])", "mask: got shape [2,4], wanted [2,3]"},
                    Rule{"masked_mean(x:f32[2,3,4], m:i64[2,3])", "mask: got i64[2,3], wanted f32"},
                    Rule{"masked_mean(x:f32[3,4], m:f32[3])", "wanted rank 3"}));

// Operands that no other test spoils.
INSTANTIATE_TEST_SUITE_P(
    ByTheirOtherOperands, RefusedType,
    testing::Values(
        Rule{"lt(a:bool[2], b:bool[2])", "got bool[2], wanted numbers"}, Rule{"or(a:i64[2], b:i64[2])", "wanted bool"},
        Rule{"square(a:bool[2])", "got bool[2], wanted numbers"}, Rule{"tanh(a:i32[2])", "wanted a float type"},
        Rule{"select(c:bool[3], a:f32[2], b:f32[2])", "do not broadcast"},
        Rule{"select(c:bool[2], a:f32[2], b:f32[3])", "do not broadcast"},
        Rule{"rope(x:i64[2,4], c:f32[4], s:f32[4])", "x: got i64[2,4], wanted a float type"},
        Rule{"gated_mul(g:i64[2], u:i64[2])", "gate: got i64[2], wanted a float type"},
        Rule{"pointwise(a:f32[2], b:f32[3], program=\"r2=mul(r0,r1)\")", "do not broadcast"},
        Rule{"pointwise(a:f32[2], program=\"r2=mul(r0,r1)\")", "pointwise: in 'r2=mul(r0,r1)'"},
        Rule{"pointwise(program=\"r0=exp(1)\")", "got no operands"},
        Rule{"region(program=\"return r0:f32\")", "region: got no operands"},
        Rule{"region(a:f32[2], b:f32[3], program=\"return r0:f32\")", "do not broadcast"},
        Rule{"region(a:f32[2], program=\"r1=mul(r0,r2);return r1:f32\")", "region: in 'r1=mul(r0,r2)'"},
        Rule{"region(a:f32[], program=\"r1=row_sum(r0);return r1:f32\")",
             "got rows of [], wanted at least one element"},
        Rule{"region(a:f32[2,0], program=\"r1=row_sum(r0);return r1:f32\")", "got rows of [2,0]"},
        Rule{"region(a:f32[16777217], program=\"r1=row_argmax(r0);return r1:i64\")",
             "row_argmax: got rows of 16777217 elements, wanted at most 16777216"},
        Rule{"region(a:f32[2,3], program=\"r1=row_max(r0);return r1:f32,r0:f32\")",
             "r0: got a result of elements behind one of rows, wanted it first"},
        Rule{"region(a:f32[16777216,1,1], b:f32[16777216,1], c:f32[16777216], program=\"r3=add(r0,r1);"
             "r4=add(r3,r2);return r4:f32\")",
             "wanted at most"},
        Rule{"matmul(a:i64[2,3], b:i64[3,5])", "a: got i64[2,3], wanted a float type"},
        Rule{"matmul(a:f32[2,3], b:f32[3])", "wanted rank 2 or more"},
        Rule{"linear(x:i64[2,3], w:f32[8,3])", "x: got i64[2,3], wanted a float type"},
        Rule{"linear(x:f32[2,3], w:i8[8,3])", "weight: got i8[8,3], wanted a float type"},
        Rule{"linear(x:f32[2,3], w:f32[1,8,3])", "weight: got f32[1,8,3], wanted rank 2"},
        Rule{"linear(x:f32[], w:f32[8,3])", "inner dimensions differ"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], b:f32[4], slots=bias, gated=true)", "bias: got shape [4], wanted [8]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], r:f32[2,8], slots=residual, gated=true)",
             "residual: got shape [2,8], wanted [2,4]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], s:f32[2,4], rotated_heads=1, slots=sin)",
             "got 1 rotated heads, wanted slots cos and sin"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,4], c, slots=cos+sin, rotated_heads=3)",
             "got 3 rotated heads of 4 columns"},
        Rule{"linear(x:f32[2,3], w:f32[9,3], c:f32[2,3], c, slots=cos+sin, rotated_heads=1)",
             "got 1 rotated heads of 3 columns"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[1,4], c, slots=cos+sin, rotated_heads=1)", "cos: got shape [1,4]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[4], c, slots=cos+sin, rotated_heads=1)", "cos: got f32[4]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,4], s:f32[2,2], slots=cos+sin, rotated_heads=1)",
             "sin: got shape [2,2]"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:i64[2,4], s:f32[2,4], slots=cos+sin, rotated_heads=1)",
             "cos: got i64[2,4], wanted a float type"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,4], s:i64[2,4], slots=cos+sin, rotated_heads=1)",
             "sin: got i64[2,4], wanted a float type"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], c:f32[2,4], c, slots=cos+sin, rotated_heads=1, gated=true)",
             "got rotated heads with a gate"},
        Rule{"linear(x:f32[2,3], w:f32[8,3], r:f32[2,8], c:f32[2,4], c, slots=residual+cos+sin, rotated_heads=1)",
             "got rotated heads with a gate"},
        Rule{"linear(x:f32[2,3], w:f32[64,3], c:f32[2,4], c, g:f32[64], slots=cos+sin+norm_weight, norm_run=32, "
             "rotated_heads=1)",
             "got norm weights with a gate or rotated heads"},
        Rule{"linear(x:f32[2,3], w:f32[64,3], g:i64[64], slots=norm_weight, norm_run=32)",
             "norm_weight: got i64[64], wanted a float type"},
        Rule{"linear(x:f32[2,64], w:f32[8,64], q:i64[2,2], slots=squares)", "squares: got i64[2,2], wanted a float"},
        Rule{"attention(q:i64[1,5,4,8], k:i64[1,6,2,8], v:i64[1,6,2,8])", "q: got i64[1,5,4,8], wanted a float type"},
        Rule{"attention(q:f32[5,4,8], k:f32[1,6,2,8], v:f32[1,6,2,8])", "q: got f32[5,4,8], wanted rank 4"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[6,2,8], v:f32[6,2,8])", "k: got f32[6,2,8], wanted rank 4"},
        Rule{"attention(q:f32[1,5,4,8], k:bf16[1,6,2,8], v:bf16[1,6,2,8])", "wanted one dtype"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[1,6,2,8], v:bf16[1,6,2,8])", "wanted equal types"},
        Rule{"attention(q:f32[1,5,4,8], k:f32[1,6,0,8], v:f32[1,6,0,8])", "do not fit"},
        Rule{"attention(q:f32[1,5,2,8], k:f32[1,6,4,8], v:f32[1,6,4,8])", "do not fit"},
        Rule{"conv(x:i64[1,8,8,3], w:i64[5,3,3,3])", "x: got i64[1,8,8,3], wanted a float type"},
        Rule{"conv(x:f32[1,8,8,3], w:bf16[5,3,3,3])", "wanted one dtype"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,3,3], b:i64[5], slots=bias)", "wanted a float type"},
        Rule{"conv(x:f32[8,3], w:f32[5,3,3])", "x: got f32[8,3], wanted one to three axes"},
        Rule{"conv(x:f32[1,2,2,2,2,3], w:f32[5,1,1,1,1,3])", "wanted one to three axes"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,3,3])", "weight: got f32[5,3,3], wanted rank 4"},
        Rule{"conv(x:f32[1,8,8,3], w:f32[5,0,3,3])", "wanted at least one of each"},
        Rule{"pool(x:i64[1,8,8,3], window=[2,2])", "x: got i64[1,8,8,3], wanted a float type"},
        Rule{"pool(x:f32[8,3], window=[2])", "wanted one to three axes"},
        Rule{"im2col(x:f32[3,9,9], patch=2)", "x: got f32[3,9,9], wanted rank 4"},
        Rule{"im2col(x:f32[1,3,1,9], patch=2)", "wanted an image of at least one patch"},
        Rule{"slice(a:f32[9], axis=0, begin=0, end=9, step=10)", "1 <= step <= size"},
        Rule{"slice(a:f32[9], axis=-2, begin=0, end=4)", "axis -2 is out of range"},
        Rule{"concat(a:f32[2,3], b:f32[2,3], axis=2)", "axis 2 is out of range"},
        Rule{"gather(t:f32[9,4], i:i64[2], axis=2)", "axis 2 is out of range"},
        Rule{"gather(t:f32[9,4], i:u8[2], axis=0)", "indices: got u8[2], wanted i64 or i32"},
        Rule{"reduce(a:f32[2,3], kind=sum, axis=2)", "axis 2 is out of range"},
        Rule{"reduce(a:f32[2,0], kind=mean, axis=1)", "wanted at least one element"},
        Rule{"layer_norm(x:i64[2,4], w:f32[4], b:f32[4])", "x: got i64[2,4], wanted a float type"},
        Rule{"layer_norm(x:f32[2,4], w:f32[4], b:f32[4], out=i64)", "got output type i64"},
        Rule{"layer_norm(x:f32[2,4], w:f32[4], b:f32[4], slots=residual)", "got 3 operands, wanted 4"},
        Rule{"rms_norm(x:f32[2,0], w:f32[0])", "wanted a last dimension of at least 1"},
        Rule{"l2_normalize(x:f32[2,0])", "wanted a last dimension of at least 1"},
        Rule{"top_k(x:f32[], k=1)", "wanted at least one dimension"},
        Rule{"masked_mean(x:i64[2,3,4], m:f32[2,3])", "x: got i64[2,3,4], wanted a float type"},
        Rule{"masked_mean(x:f32[2,3,4], m:f32[3,3])", "mask: got shape [3,3], wanted [2,3]"}));

}  // namespace
}  // namespace rung
