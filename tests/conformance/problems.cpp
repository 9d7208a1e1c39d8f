// One table of problems, each text standing for one problem per dtype where it says T.
// SPDX-License-Identifier: Apache-2.0
#include "problems.hpp"

#include <fmt/format.h>

namespace rung::test {
namespace {

// For each float type T.
constexpr const char* kFloatProblems[] = {
    // element-wise
    "result = gelu(x:T[128,384])",
    "result = neg(x:T[1])",
    "result = exp(transpose(x:T[5,7], permutation=[1,0]))",
    "result = silu(slice(x:T[9,40], axis=1, begin=3, end=36))",
    "result = add(x:T[128,384], y:T[128,384])",
    "result = add(x:T[3,5,7], y:T[7])",
    "result = mul(x:T[3,5,1], y:T[1,1,9])",
    "result = sub(x:T[4,1,6], y:T[2,6])",
    "result = div(x:T[6,130], nonzero:T[6,1])",
    "result = pow(positive:T[33], y:T[1])",
    "result = max(x:T[2,3], y:T[3])",
    "result = min(slice(x:T[8,20], axis=0, begin=1, end=8, step=2), y:T[4,20])",
    "result = add(x:T[], y:T[])",
    "result = lt(x:T[37], y:T[37])",
    "result = eq(x:T[4,9], x)",
    "result = cast(x:T[7,33], to=f32)",
    "result = cast(x:T[7,33], to=bf16)",
    "result = cast(x:T[129], to=f16)",
    "result = cast(transpose(x:T[6,11], permutation=[1,0]), to=f32)",
    "result = cast(x:T[65], to=i32)",
    "result = cast(keep:T[65], to=bool)",
    "result = select(keep:bool[4,1], x:T[4,17], y:T[17])",
    // the far ends of functions, and values that are none
    "result = silu(far:T[70])",
    "result = gelu(far:T[70])",
    "result = gelu_tanh(far:T[70])",
    "result = tanh(far:T[70])",
    "result = sigmoid(far:T[70])",
    "result = max(holes:T[70], y:T[70])",
    "result = min(y:T[70], holes:T[70])",
    "result = relu(holes:T[70])",
    "result = lt(holes:T[70], y:T[70])",
    "result = ne(holes:T[70], y:T[70])",
    "result = select(keep:bool[70], holes:T[70], y:T[70])",
    "result = reduce(holes:T[30,37], kind=max)",
    R"~(result = pointwise(holes:T[70], y:T[70], program="r2=max(r1,r0);r3=min(r2,1);r4=relu(r3)", out=T))~",
    // normalisation
    "result = softmax(far:T[7,37])",
    "result = layer_norm(still:T[6,37], w:T[37], wb:T[37], eps=0.01, out=T)",
    "result = layer_norm(x:T[6,37], r:T[6,37], w:T[37], wb:T[37], eps=0.5, slots=residual, out=T)",
    "result = rms_norm(still:T[6,37], w:T[37], eps=0.01, out=T)",
    "result = l2_normalize(still:T[6,37])",
    "result = l2_normalize(still:T[6,37], eps=0.5)",
    "result = masked_mean(x:T[4,37,33], still:f32[4,37], eps=0.5)",
    "result = masked_mean(x:T[2,5,40], none:f32[2,5])",
    "result = softmax(x:T[3,17])",
    "result = softmax(x:T[12,128,128])",
    "result = softmax(x:T[2,300])",
    "result = softmax(x:T[4,1])",
    "result = softmax(x:T[5,6,7], axis=1)",
    "result = softmax(transpose(x:T[8,24], permutation=[1,0]))",
    "result = layer_norm(x:T[128,384], w:T[384], wb:T[384], out=T)",
    "result = layer_norm(x:T[2,3,37], w:f32[37], wb:f32[37], out=f32)",
    "result = layer_norm(x:T[5,384], r:T[5,384], w:T[384], wb:T[384], slots=residual, out=T)",
    "result = layer_norm(slice(x:T[4,100], axis=1, begin=8, end=72), r:T[4,64], w:T[64], wb:T[64], slots=residual, "
    "out=T)",
    "result = layer_norm(x:T[3,1], w:T[1], wb:T[1], out=T)",
    "result = rms_norm(x:T[51,256], w:T[256], out=T)",
    "result = rms_norm(x:f32[51,1024], w:f32[1024], weight_offset=1, out=T)",
    "result = rms_norm(x:T[1,19,2048], w:f32[2048], weight_offset=1, out=T)",
    "result = layer_norm(x:T[7,1152], w:T[1152], wb:T[1152], eps=1e-06, out=T)",
    "result = layer_norm(x:f32[7,1152], w:T[1152], wb:T[1152], eps=1e-06, out=T)",
    "result = rms_norm(x:f32[51,256], w:f32[256], out=T)",
    "result = rms_norm(x:T[2,7,33], w:f32[33], weight_offset=1, out=bf16)",
    "result = rms_norm(slice(x:T[6,96], axis=0, begin=1, end=6), w:T[96], weight_offset=1, out=T)",
    "result = rms_norm(reshape(slice(x:T[5,100], axis=1, begin=4, end=100), shape=[5,6,16]), w:T[16], out=T)",
    "result = layer_norm(transpose(x:T[3,4,40], permutation=[1,0,2]), r:T[4,3,40], w:T[40], wb:T[40], slots=residual, "
    "out=T)",
    "result = l2_normalize(x:T[1,384])",
    "result = l2_normalize(x:T[4,19])",
    "result = group_norm(x:T[2,9,7,40], groups=8)",
    "result = group_norm(x:T[1,70,36], groups=36, eps=0.5)",
    "result = group_norm(x:T[2,16,256], groups=8)",
    "result = group_norm(x:T[1,19,60,48], groups=3)",
    "result = group_norm(x:T[1,33,17,30], groups=3)",
    "result = group_norm(far:T[3,5,74], groups=2)",
    "result = recurrence(x:T[5,2,148], w:T[148,37], h:T[2,37], c:T[2,37])",
    "result = recurrence(slice(x:T[4,3,300], axis=2, begin=20, end=180), w:T[160,40], h:T[3,40], c:T[3,40], "
    "backward=true)",
    "result = recurrence(x:T[6,1,201], w:T[201,67], h:T[1,67], y:T[67], cell=gru)",
    "result = recurrence(x:T[3,2,48], w:T[48,16], h:T[2,16], y:T[16], cell=gru, backward=true)",
    "result = recurrence(x:T[7,2,23], w:T[23,23], h:T[2,23], cell=rnn)",
    "result = recurrence(x:T[1,1,1600], w:T[1600,400], h:T[1,400], c:T[1,400])",
    "result = reduce(x:T[7,130], kind=sum)",
    "result = reduce(x:T[7,130], kind=mean, keep_dim=true)",
    "result = reduce(x:T[2,16,40], kind=sum, axis=1)",
    "result = reduce(x:T[3,9], kind=max, axis=0)",
    "result = reduce(x:T[1,300,24], kind=max, axis=1)",
    "result = reduce(slice(x:T[2,40,40], axis=2, begin=8, end=24), kind=mean, axis=1)",
    "result = reduce(transpose(x:T[6,50], permutation=[1,0]), kind=mean)",
    "result = cumsum(x:T[3,20])",
    "result = top_k(x:T[3,40], k=5)",
    "result = top_k(x:T[2,3,700], k=40)",
    "result = top_k(slice(x:T[5,64], axis=1, begin=3, end=40), k=1)",
    "result = top_k(keep:T[7,33], k=33)",
    "result = top_k(holes:T[4,37], k=9)",
    "result = masked_mean(x:T[1,128,384], keep:f32[1,128])",
    "result = masked_mean(x:T[2,5,33], keep:f32[2,5])",
    "result = masked_mean(slice(x:T[2,9,40], axis=1, begin=2, end=9), keep:f32[2,7])",
    // movement
    "result = reshape(x:T[4,6], shape=[8,3])",
    "result = reshape(transpose(x:T[1,16,12,32], permutation=[0,2,1,3]), shape=[16,384])",
    "result = reshape(transpose(x:T[33,21], permutation=[1,0]), shape=[693])",
    "result = transpose(x:T[65,70], permutation=[1,0])",
    "result = transpose(x:T[2,5,6,16], permutation=[0,2,1,3])",
    "result = transpose(x:T[3,4,5], permutation=[2,0,1])",
    "result = slice(x:T[10,33], axis=0, begin=2, end=9, step=3)",
    "result = slice(x:T[10,33], axis=-1, begin=1, end=30, step=2)",
    "result = broadcast(x:T[5,1,9], shape=[2,5,4,9])",
    "result = broadcast(x:T[1], shape=[3,7])",
    "result = concat(x:T[3,4], y:T[3,9], axis=1)",
    "result = concat(x:T[2,4], y:T[5,4], z:T[1,4], axis=0)",
    "result = concat(x:T[2,3,4], transpose(y:T[2,4,5], permutation=[0,2,1]), axis=1)",
    "result = concat(x:T[2,0,4], y:T[2,3,4], axis=1)",
    "result = concat(x:T[3,8], y:T[3,24], z:T[3,7], transpose(u:T[5,3], permutation=[1,0]), v:T[3,2], axis=1)",
    "result = gather(x:T[3,384], index:i64[1,128])",
    "result = gather(x:T[5,3], index:i32[4], axis=1)",
    "result = gather(slice(x:T[4,9], axis=1, begin=0, end=5), index:i64[6])",
    "result = gather(x:T[2,4,6], index:i64[2,2], axis=-2)",
    "result = gather(x:T[2,1,3,4,6], index:i64[5], axis=3)",
    "result = gather(slice(x:T[3,5,4], axis=1, begin=1, end=4), index:i64[7], axis=2)",
    // fused forms
    "result = rope(x:T[1,16,4,32], c:T[1,16,1,32], s:T[1,16,1,32])",
    "result = rope(x:T[2,5,3,6], c:f32[5,1,6], s:f32[5,1,6])",
    "result = rope(slice(x:T[1,7,3,64], axis=2, begin=0, end=2), c:f32[7,1,64], s:f32[7,1,64])",
    "result = rope(x:T[2,72], c:T[2,72], s:T[72])",
    "result = rope(x:T[3,10], c:T[3,1], s:T[1,10])",
    "result = gated_mul(x:T[5,130], y:T[5,130])",
    "result = gated_mul(slice(x:T[4,64], axis=1, begin=0, end=32), slice(x, axis=1, begin=32, end=64), "
    "activation=gelu_tanh)",
    "result = gated_mul(x:T[19], y:T[19], activation=gelu)",
    "result = gated_mul(x:T[19], y:T[19], activation=relu)",
    "result = gated_mul(x:T[19], y:T[19], activation=tanh)",
    "result = im2col(x:T[2,3,28,28], patch=14)",
    "result = im2col(x:T[1,2,7,9], patch=2)",
    R"~(result = pointwise(x:T[128,384], y:T[384], program="r2=add(r0,r1);r3=gelu(r2)", out=T))~",
    R"~(result = pointwise(x:T[3,700], program="r1=tanh(r0);r2=mul(r1,0.5);r3=add(r2,r0)", out=f32))~",
    R"~(result = pointwise(x:T[4,1,6], y:T[5,6], keep:bool[4,5,1], program="r3=mul(r0,r1);r4=select(r2,r3,-1)", out=T))~",
    R"~(result = pointwise(x:T[33], program="r1=bf16(r0);r2=exp(r1);r3=lt(r2,1)", out=f32))~",
    R"~(result = pointwise(x:f32[5,33793], y:f32[5,1], program="r2=mul(r0,r1);r3=add(r2,0.5)", out=bf16))~",
    R"~(result = pointwise(transpose(x:T[9,20], permutation=[1,0]), y:T[1], program="r2=sub(r0,r1);r3=square(r2)", out=T))~",
    // regions: softmax with a cap, log-softmax, norms of several results, rows alone, other strides, places
    R"~(result = region(x:T[6,1000], program="r1=mul(r0,0.3);r2=tanh(r1);r3=mul(r2,5);r4=row_max(r3);r5=sub(r3,r4);)~"
    R"~(r6=exp(r5);r7=row_sum(r6);r8=div(r6,r7);return r8:T"))~",
    R"~(result = region(x:T[2,3,37], program="r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=log(r4);)~"
    R"~(r6=sub(r2,r5);return r6:f32,r5:T"))~",
    R"~(result = region(x:T[5,600], r:T[5,600], w:T[600], wb:T[600], program="r4=add(r0,r1);r5=row_mean(r4);r6=sub(r4,r5);)~"
    R"~(r7=square(r6);r8=row_mean(r7);r9=add(r8,0.01);r10=rsqrt(r9);r11=mul(r6,r10);r12=mul(r11,r2);r13=add(r12,r3);)~"
    R"~(return r13:T,r4:f32,r5:f32"))~",
    R"~(result = region(x:T[7,130], program="r1=row_min(r0);r2=row_max(r0);r3=sub(r2,r1);return r3:T,r1:f32"))~",
    R"~(result = region(transpose(x:T[20,9], permutation=[1,0]), y:T[9,1], program="r2=mul(r0,r1);r3=bf16(r2);)~"
    R"~(r4=square(r3);r5=row_sum(r4);r6=max(r5,1e-06);r7=sqrt(r6);r8=div(r3,r7);return r8:T"))~",
    R"~(result = region(x:T[3,1,40], y:T[2,1], program="r2=gt(r0,r1);r3=row_argmax(r0);r4=row_sum(r2);)~"
    R"~(return r2:bool,r3:i64,r4:f32"))~",
    R"~(result = region(x:T[4,70], keep:bool[70], program="r2=select(r1,r0,0);r3=neg(r0);return r2:T,r3:f32"))~",
    R"~(result = region(holes:T[30,37], program="r1=row_max(r0);return r1:f32"))~",
    R"~(result = region(holes:T[30,37], program="r1=row_argmax(r0);return r1:i64"))~",
    R"~(result = region(positive:T[3,20], program="r1=row_product(r0);return r1:f32"))~",
    // regions as code: NaN through a softmax, functions that the interpreter lacks, values kept for three sweeps, rows
    // of every type, one vector and its tail, elements alone with several results
    R"~(result = region(holes:T[30,37], program="r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=div(r3,r4);)~"
    R"~(return r5:T"))~",
    R"~(result = region(x:T[5,200], positive:T[200], program="r2=tanh(r0);r3=add(r1,1);r4=pow(r3,r2);r5=row_mean(r4);)~"
    R"~(r6=sub(r4,r5);r7=cos(r6);r8=row_sum(r7);r9=atan(r8);r10=erf(r6);r11=mul(r10,r7);return r11:T,r9:f32"))~",
    R"~(result = region(x:T[9,150], program="r1=exp(r0);r2=row_sum(r1);r3=div(r1,r2);r4=row_max(r3);r5=sub(r3,r4);)~"
    R"~(r6=square(r5);r7=row_mean(r6);r8=mul(r5,r7);r9=add(r8,r1);return r9:T,r3:f32"))~",
    R"~(result = region(x:T[4,17], y:T[4,1], program="r2=row_min(r0);r3=gt(r1,r2);r4=row_product(r1);r5=row_argmax(r0);)~"
    R"~(return r2:bf16,r3:bool,r4:f16,r5:i64"))~",
    R"~(result = region(x:T[3,2,8], y:T[2,1], z:T[3,1,8], program="r3=mul(r0,r1);r4=add(r3,r2);r5=row_max(r4);)~"
    R"~(r6=sub(r4,r5);return r6:T,r4:T"))~",
    R"~(result = region(transpose(x:T[33,19], permutation=[1,0]), y:T[19,33], program="r2=row_sum(r0);r3=mul(r1,r2);)~"
    R"~(r4=row_max(r3);r5=sub(r0,r4);return r5:T"))~",
    R"~(result = region(x:T[5,133], y:T[133], program="r2=add(r0,r1);r3=log(r2);r4=gt(r2,0);return r2:f32,r3:T,r4:bool"))~",
    R"~(result = region(transpose(x:T[21,10], permutation=[1,0]), y:T[10,21], program="r2=add(r0,r1);r3=sin(r2);)~"
    R"~(return r3:T,r2:f16"))~",
    R"~(result = region(x:T[5,70], y:T[70], program="r2=mul(r0,0.1);r3=row_cumsum(r2);r4=exp(r3);r5=row_sum(r4);)~"
    R"~(r6=div(r4,r5);r7=mul(r6,r1);r8=row_cumsum(r7);return r8:T,r3:f32"))~",
    R"~(result = region(x:T[3,700], program="r1=row_cumsum(r0);return r1:T"))~",
    R"~(result = region(x:T[3,70], program="r1=mul(r0,0.1);r2=add(r1,1);r3=row_cumprod(r2);return r3:T"))~",
    R"~(result = region(x:T[4,3,5], y:T[3,1], program="r2=row_cumsum(r1);r3=row_cumprod(r0);r4=mul(r2,r3);r5=row_max(r4);)~"
    R"~(r6=sub(r4,r5);return r6:T"))~",
    R"~(result = region(x:T[2,1300], program="r1=mul(r0,0.01);r2=row_cumsum(r1);r3=row_argmax(r2);return r2:T,r3:i64"))~",
    R"~(result = region(x:T[7,1], y:T[7,1], program="r2=row_cumsum(r0);r3=add(r2,r1);r4=row_argmax(r3);return r3:T,r4:i64"))~",
    // attention; q, k and v mostly as slices of one fused projection, as a model has them
    "result = attention(q:T[1,16,12,32], k:T[1,16,12,32], v:T[1,16,12,32], scale=0.17677669)",
    "qkv: T[1,128,1152] = input()\n"
    "result = attention(reshape(slice(qkv, axis=2, begin=0, end=384), shape=[1,128,12,32]), mask:f32[1,1,1,128], "
    "reshape(slice(qkv, axis=2, begin=384, end=768), shape=[1,128,12,32]), "
    "reshape(slice(qkv, axis=2, begin=768, end=1152), shape=[1,128,12,32]), slots=mask, scale=0.17677669)",
    "result = attention(q:T[1,16,12,32], k:T[1,16,12,32], v:T[1,16,12,32], scale=2, softcap=3)",
    "result = attention(q:T[2,70,4,64], mask:f32[2,1,1,150], k:T[2,150,2,64], v:T[2,150,2,64], slots=mask, scale=0.5, "
    "softcap=1.5)",
    "result = attention(q:T[1,9,2,256], gaps:f32[9,40], k:T[1,40,2,256], v:T[1,40,2,256], slots=mask, scale=0.25, "
    "softcap=50)",
    "result = attention(q:T[2,5,4,8], mask:f32[2,1,5,9], k:T[2,9,2,8], v:T[2,9,2,8], slots=mask, scale=0.35)",
    "result = attention(q:T[1,7,8,256], mask:f32[1,1,7,20], k:T[1,13,1,256], v:T[1,13,1,256], k2:T[1,7,1,256], "
    "v2:T[1,7,1,256], slots=mask, segments=2, scale=0.0625)",
    "result = attention(q:T[1,33,2,72], k:T[1,33,2,72], v:T[1,33,2,72], scale=0.1178511)",
    "result = attention(q:T[3,1,1,5], k:T[3,1,1,5], v:T[3,1,1,5])",
    "qkv: T[2,21,144] = input()\n"
    "result = attention(reshape(slice(qkv, axis=2, begin=0, end=48), shape=[2,21,4,12]), mask:f32[2,1,1,21], "
    "reshape(slice(qkv, axis=2, begin=48, end=96), shape=[2,21,4,12]), "
    "reshape(slice(qkv, axis=2, begin=96, end=144), shape=[2,21,4,12]), slots=mask, scale=0.2886751)",
    "result = attention(q:T[1,70,3,16], bias:f32[3,70,1], k:T[1,257,3,16], v:T[1,257,3,16], slots=mask, scale=0.25)",
    "result = attention(q:T[1,40,2,64], k:T[1,1000,2,64], v:T[1,1000,2,64], scale=0.125)",
    "result = attention(q:T[1,35,2,64], k:T[1,290,2,64], v:T[1,290,2,64], scale=-6)",
    // few queries, over keys of another text and with a bias of each head, part of which hides keys
    "result = attention(q:T[1,1,8,64], k:T[1,1500,8,64], v:T[1,1500,8,64], scale=0.125)",
    "result = attention(q:T[1,1,12,64], bias:f32[1,12,1,512], k:T[1,512,12,64], v:T[1,512,12,64], slots=mask)",
    "result = attention(q:T[2,4,6,40], gaps:f32[2,1,4,170], k:T[2,170,3,40], v:T[2,170,3,40], slots=mask, scale=0.158, "
    "softcap=5)",
    "result = attention(q:T[2,50,4,40], mask:f32[2,1,1,47], k:T[2,47,2,40], v:T[2,47,2,40], slots=mask, "
    "scale=0.158)",
    "result = attention(q:T[1,9,8,256], gaps:f32[1,1,9,190], k:T[1,181,1,256], v:T[1,181,1,256], k2:T[1,9,1,256], "
    "v2:T[1,9,1,256], slots=mask, segments=2, scale=0.0625)",
    "result = attention(q:T[2,20,4,72], gaps:f32[20,200], k:T[2,200,2,72], v:T[2,200,2,72], slots=mask, "
    "scale=0.118)",
    "result = attention(q:T[1,9,8,256], gaps:f32[1,1,9,825], k:T[1,816,1,256], v:T[1,816,1,256], k2:T[1,9,1,256], "
    "v2:T[1,9,1,256], slots=mask, segments=2, scale=0.0625)",
    "result = attention(q:T[2,13,16,256], mask:f32[2,1,13,100], k:T[2,87,1,256], v:T[2,87,1,256], k2:T[2,13,1,256], "
    "v2:T[2,13,1,256], slots=mask, segments=2, scale=0.0625)",
    "result = attention(q:T[1,5,16,256], mask:f32[300], k:T[1,300,2,256], v:T[1,300,2,256], slots=mask, "
    "scale=0.0625)",
    "result = attention(q:T[1,12,8,256], mask:f32[1,1,12,450], k:T[1,450,1,256], v:T[1,450,1,256], slots=mask, "
    "scale=0.0625)",
    "result = attention(q:T[38,9,8,72], mask:f32[1,1,9,65], k:T[38,65,1,72], v:T[38,65,1,72], slots=mask, "
    "scale=0.118)",
    "result = attention(q:T[2,70,4,72], mask:f32[2,1,1,150], k:T[2,150,4,72], v:T[2,150,4,72], slots=mask, "
    "scale=0.118)",
    "result = attention(q:T[1,130,3,120], k:T[1,130,3,120], v:T[1,130,3,120], scale=0.0913)",
    "result = attention(q:T[1,10,2,33], k:T[1,12,2,33], v:T[1,12,2,33], k2:T[1,1,2,33], v2:T[1,1,2,33], segments=2)",
    // a query whose keys are all masked by the lowest number, as padding has it: each key counts alike
    "result = attention(q:T[1,9,2,24], hidden:f32[1,1,9,20], k:T[1,20,2,24], v:T[1,20,2,24], slots=mask, scale=0.2)",
    // queries that no key is left to: zeros, whatever reads the mask, and however keys are split
    "result = attention(q:T[1,9,2,24], blind20:f32[1,1,9,20], k:T[1,20,2,24], v:T[1,20,2,24], slots=mask, "
    "scale=0.2)",
    "result = attention(q:T[1,70,3,32], blind100:f32[1,3,70,100], k:T[1,100,3,32], v:T[1,100,3,32], slots=mask, "
    "scale=0.177)",
    "result = attention(q:T[1,70,3,16], blind1:f32[3,70,1], k:T[1,257,3,16], v:T[1,257,3,16], slots=mask, "
    "scale=0.25)",
    "result = attention(q:T[2,50,4,64], blind47:f32[2,1,1,47], k:T[2,47,2,64], v:T[2,47,2,64], slots=mask, "
    "scale=0.125)",
    "result = attention(q:T[2,70,4,72], blind152:f32[2,1,1,152], k:T[2,152,4,72], v:T[2,152,4,72], slots=mask, "
    "scale=0.118)",
    "result = attention(q:T[2,20,4,72], blind200:f32[20,200], k:T[2,200,2,72], v:T[2,200,2,72], slots=mask, "
    "scale=0.118)",
    "result = attention(q:T[9,9,8,72], blind68:f32[1,1,9,68], k:T[9,68,1,72], v:T[9,68,1,72], slots=mask, "
    "scale=0.118)",
    "result = attention(q:T[1,130,3,120], blind132:f32[130,132], k:T[1,132,3,120], v:T[1,132,3,120], slots=mask, "
    "scale=0.0913)",
    "result = attention(q:T[1,9,8,256], blind192:f32[1,1,9,192], k:T[1,184,1,256], v:T[1,184,1,256], k2:T[1,8,1,256], "
    "v2:T[1,8,1,256], slots=mask, segments=2, scale=0.0625)",
    "result = attention(q:T[1,9,8,256], blind825:f32[1,1,9,825], k:T[1,816,1,256], v:T[1,816,1,256], k2:T[1,9,1,256], "
    "v2:T[1,9,1,256], slots=mask, segments=2, scale=0.0625)",
    "result = attention(q:T[2,13,16,256], blind100:f32[2,1,13,100], k:T[2,87,1,256], v:T[2,87,1,256], "
    "k2:T[2,13,1,256], v2:T[2,13,1,256], slots=mask, segments=2, scale=0.0625)",
    // spans: causal, behind a cache, windows of one and of two sides, prefixes, and queries that see no key
    "result = attention(q:T[1,70,4,32], k:T[1,70,2,32], v:T[1,70,2,32], scale=0.177, after=0)",
    "result = attention(q:T[1,9,8,64], k:T[1,53,2,64], v:T[1,53,2,64], k2:T[1,9,2,64], v2:T[1,9,2,64], "
    "scale=0.125, after=53, segments=2)",
    "result = attention(q:T[1,150,2,64], k:T[1,150,2,64], v:T[1,150,2,64], scale=0.125, before=20, after=0)",
    "result = attention(q:T[2,130,3,40], mask:f32[2,1,1,130], k:T[2,130,3,40], v:T[2,130,3,40], slots=mask, "
    "scale=0.158, before=17, after=33)",
    "result = attention(q:T[1,100,2,72], k:T[1,100,2,72], v:T[1,100,2,72], scale=0.118, after=0, prefix=37)",
    "result = attention(q:T[1,140,2,32], k:T[1,140,2,32], v:T[1,140,2,32], scale=0.177, before=5, after=0, prefix=3)",
    "result = attention(q:T[1,100,2,24], k:T[1,100,2,24], v:T[1,100,2,24], scale=0.2, softcap=2, after=-70)",
    "result = attention(q:T[1,90,2,16], k:T[1,41,2,16], v:T[1,41,2,16], scale=0.25, before=12, after=3)",
    "result = attention(q:T[2,200,2,128], k:T[2,200,2,128], v:T[2,200,2,128], scale=0.088, after=0)",
    "result = attention(q:T[1,70,8,64], k:T[1,300,1,64], v:T[1,300,1,64], scale=0.125, before=90, after=100)",
    "result = attention(q:T[1,130,1,256], k:T[1,260,1,256], v:T[1,260,1,256], scale=0.0625, after=-64, prefix=3)",
    "result = attention(q:T[1,7,2,5], bias:f32[2,7,300], k:T[1,300,2,5], v:T[1,300,2,5], slots=mask, before=-120, "
    "after=260)",
    "result = attention(q:T[1,40,2,64], gaps:f32[40,40], k:T[1,40,2,64], v:T[1,40,2,64], slots=mask, scale=0.125, "
    "after=0)",
    // a softmax of nothing but -inf has no number, unlike such an attention
    "result = softmax(blind37:T[7,37])",
    // batches of texts, each with a mask of its own
    "qkv: T[3,20,384] = input()\n"
    "result = attention(reshape(slice(qkv, axis=2, begin=0, end=128), shape=[3,20,4,32]), mask:f32[3,1,1,20], "
    "reshape(slice(qkv, axis=2, begin=128, end=256), shape=[3,20,4,32]), "
    "reshape(slice(qkv, axis=2, begin=256, end=384), shape=[3,20,4,32]), slots=mask, scale=0.17677669)",
    "result = add(x:T[2,3,9,9], y:T[2,1,1,9])",
    "result = masked_mean(x:T[3,16,384], keep:f32[3,16])",
    "result = add(x:T[3,16,384], y:T[1,16,384])",
    "result = layer_norm(x:T[3,5,384], r:T[3,5,384], w:T[384], wb:T[384], slots=residual, out=T)",
    "result = gather(x:T[3,384], index:i64[2,40])",
    "result = reshape(transpose(x:T[2,12,16,32], permutation=[0,2,1,3]), shape=[2,16,384])",
    "result = linear(reshape(slice(x:T[3,9,64], axis=1, begin=0, end=1), shape=[3,64]), w:T[48,64], wb:T[48], "
    "slots=bias, activation=tanh, out=T)",
    // contractions
    "result = matmul(x:T[5,7], y:T[7,9])",
    "result = matmul(x:T[2,3,16,32], transpose(y:T[2,3,24,32], permutation=[0,1,3,2]))",
    "result = matmul(x:T[12,33,65], y:T[65,17])",
    "result = matmul(x:T[1,12,20,64], y:T[1,1,64,32])",
    "result = matmul(x:T[1,3,5,17], y:T[2,1,17,9])",
    "result = matmul(x:T[5,17], y:T[2,3,17,9])",
    "result = matmul(x:T[2,70,136], y:T[2,136,72])",
    "result = matmul(x:T[3,40,72], transpose(y:T[3,100,72], permutation=[0,2,1]))",
    "result = matmul(transpose(x:T[2,40,24], permutation=[0,2,1]), y:T[2,40,64])",
    "result = linear(x:T[5,7], w:T[3,7], out=T)",
    "result = linear(x:T[1,64], w:T[96,64], wb:T[96], slots=bias, out=T)",
    "result = linear(x:T[1,128,384], w:T[384,384], wb:f32[384], r:T[1,128,384], slots=bias+residual, "
    "out=T)",
    "result = linear(x:T[51,64], w:T[96,64], r:f32[51,96], slots=residual, out=f32)",
    "result = linear(x:T[51,64], w:T[96,64], wb:T[96], r:f32[51,96], slots=bias+residual, out=f32)",
    "result = linear(x:T[51,64], w:T[96,64], wb:f32[96], slots=bias, activation=gelu_tanh, out=T)",
    "result = linear(x:T[16,384], w:T[1536,384], wb:T[1536], slots=bias, activation=gelu, out=T)",
    "result = linear(x:T[33,72], w:T[130,72], wb:T[130], slots=bias, gated=true, activation=gelu_tanh, out=f32)",
    "result = linear(x:T[9,40], w:T[72,40], wb:T[72], r:T[9,36], slots=bias+residual, gated=true, "
    "activation=silu, out=T)",
    "result = linear(x:T[9,40], w:T[64,40], r:f32[9,32], slots=residual, gated=true, out=f32)",
    "result = linear(x:T[9,40], w:T[64,40], wb:f32[64], slots=bias, gated=true, activation=relu, out=T)",
    "result = linear(x:T[9,40], w:T[64,40], gated=true, activation=tanh, out=T)",
    "result = linear(x:T[1,40], w:T[72,40], wb:T[72], slots=bias, activation=tanh, out=T)",
    "result = linear(x:T[1,1544], w:T[200,1544], gated=true, activation=silu, out=T)",
    "result = linear(x:T[1,1544], w:T[130,1544], r:f32[1,130], slots=residual, out=f32)",
    "result = linear(x:T[17,40], w:T[72,40], wb:f32[72], r:T[17,72], slots=bias+residual, "
    "activation=relu, out=T)",
    "result = linear(slice(x:T[9,96], axis=1, begin=32, end=64), w:T[48,32], out=T)",
    "result = linear(x:T[51,1024], w:T[72,1024], wb:f32[72], r:T[51,72], slots=bias+residual, "
    "activation=silu, out=T)",
    "result = linear(x:T[64,520], w:T[200,520], wb:T[200], slots=bias, gated=true, activation=gelu_tanh, out=T)",
    "result = linear(x:T[1,51,64], w:T[160,64], c:T[1,51,32], s:T[1,51,32], slots=cos+sin, rotated_heads=4, out=T)",
    "result = linear(x:T[33,520], w:T[256,520], wb:f32[256], c:f32[33,128], s:T[33,128], slots=bias+cos+sin, "
    "rotated_heads=2, out=f32)",
    "result = linear(x:T[19,520], w:T[640,520], slice(c:T[19,100], axis=1, begin=0, end=64), s:T[19,64], "
    "slots=cos+sin, rotated_heads=9, out=T)",
    "result = linear(x:T[5,24], w:T[20,24], c:T[5,6], s:T[5,6], slots=cos+sin, rotated_heads=3, out=T)",
    "result = linear(x:T[1,140,520], w:T[960,520], wb:T[960], c:T[1,140,64], s:T[1,140,64], slots=bias+cos+sin, "
    "rotated_heads=9, out=T)",
    "result = linear(x:T[70,64], w:T[96,64], c:f32[70,32], s:f32[70,32], slots=cos+sin, rotated_heads=2, out=T)",
    "result = linear(x:T[1,140,520], w:T[640,520], c:T[1,140,128], s:T[1,140,128], slots=cos+sin, rotated_heads=4, "
    "out=T)",
    "result = linear(x:T[70,264], w:T[768,264], wb:f32[768], slice(c:f32[70,300], axis=1, begin=0, end=256), "
    "s:f32[70,256], slots=bias+cos+sin, rotated_heads=2, out=T)",
    "result = linear(x:T[90,328], w:T[264,328], r:f32[90,264], slots=residual, out=f32)",
    "result = linear(x:T[100,520], w:T[200,520], wb:f32[200], r:T[100,200], slots=bias+residual, "
    "activation=silu, out=T)",
    "result = linear(slice(x:T[2,70,600], axis=2, begin=40, end=552), w:T[264,512], r:T[2,70,264], "
    "slots=residual, out=f32)",
    "result = linear(x:T[150,264], w:T[304,264], wb:T[304], slots=bias, gated=true, activation=gelu_tanh, out=T)",
    "result = linear(x:T[130,328], w:T[264,328], out=T)",
    "result = linear(x:T[130,264], w:T[304,264], wb:T[304], slots=bias, activation=gelu_tanh, out=T)",
    "result = linear(x:T[81,136], w:T[160,136], gated=true, activation=silu, out=T)",
    "result = linear(x:T[66,1032], w:T[96,1032], wb:T[96], r:T[66,48], slots=bias+residual, gated=true, "
    "activation=silu, out=T)",
    "result = linear(x:T[67,96], w:T[40,96], out=T)",
    "result = linear(x:T[68,24], w:T[36,24], out=f32)",
    "result = linear(x:T[137,72], w:T[48,72], gated=true, activation=silu, out=f32)",
    "result = linear(x:T[72,2056], w:T[72,2056], wb:T[72], slots=bias, activation=gelu, out=T)",
    "result = linear(x:T[129,776], w:T[100,776], wb:f32[100], r:T[129,100], slots=bias+residual, out=T)",
};

// For f32 alone, or for other types as written.
constexpr const char* kOtherProblems[] = {
    "result = neg(x:i64[70])",
    "result = abs(x:i32[3,5])",
    "result = square(x:i8[9])",
    "result = relu(x:i32[9])",
    "result = not(keep:bool[70])",
    "result = and(keep:bool[4,5], keep2:bool[5])",
    "result = or(keep:bool[4,5], transpose(keep2:bool[5,4], permutation=[1,0]))",
    "result = add(x:i64[3,40], y:i64[40])",
    "result = mul(x:i32[12], y:i32[12])",
    "result = div(x:i64[33], nonzero:i64[33])",
    "result = eq(x:i64[33], y:i64[33])",
    "result = ge(x:i32[4,1], y:i32[1,6])",
    "result = ne(keep:bool[17], keep2:bool[17])",
    "result = cast(x:i64[1,128], to=f32)",
    "result = cast(keep:bool[70], to=f32)",
    "result = cast(keep:bool[70], to=i64)",
    "result = cast(x:i64[70], to=bool)",
    "result = cast(x:i32[9], to=bf16)",
    "result = cast(x:u8[3,8], to=f32)",
    "result = select(keep:bool[3,5], x:i64[3,5], y:i64[1])",
    "result = select(keep:bool[3,5], x:i32[3,5], y:i32[1])",
    "result = select(keep:bool[3,40], x:u8[3,40], y:u8[40])",
    "result = cumsum(x:i64[2,9], axis=1)",
    "result = top_k(x:i64[3,12], k=5)",
    "result = formula(x:i64[3,12], y:i64[12], kind=xor)",
    "result = formula(x:f32[5,7], kind=tan)",
    "result = scatter(x:i64[4,3], index:i64[2], y:i64[2,3], kind=add)",
    "result = scatter(x:f32[300], index:i64[150], y:f32[150])",
    "result = scatter(x:bf16[9,5,4], index:i64[40], y:bf16[40,5,4], kind=max)",
    "result = scatter(holes:f32[7,3], index:i64[20], y:f32[20,3], kind=min)",
    "result = scatter(x:i32[6], index:i64[5], y:i32[5], kind=mul)",
    "result = scatter(x:f16[9000], index:i64[40], y:f16[40], kind=add)",
    "result = scatter(x:bf16[300,3], index:i64[50], y:bf16[50,3])",
    "result = scatter(x:f32[5,300], index:i64[70], y:f32[70,300], kind=add)",
    "result = scatter(holes:f16[5,300], slice(index:i64[20], axis=0, begin=0, end=20, step=3), y:f16[7,300], kind=max)",
    "result = scatter(x:u8[40], index:i64[9], y:u8[9], kind=add)",
    "result = scatter(keep:bool[40], index:i64[9], keep2:bool[9])",
    "result = scatter(x:i32[3000], index:i64[1], y:i32[1], kind=add)",
    "result = scatter(x:i64[3000], index:i64[1], y:i64[1], kind=add)",
    "result = top_k(slice(x:u8[3,40], axis=1, begin=1, end=39), k=38)",
    "result = cumsum(keep:bool[9,2], axis=0)",
    "result = reduce(x:i64[4,9], kind=sum)",
    "result = reduce(keep:bool[4,9], kind=sum, axis=0)",
    "result = reduce(keep:bool[1,816], kind=sum, axis=1)",
    "result = reduce(x:i32[4,9], kind=max)",
    "result = transpose(x:i64[6,70], permutation=[1,0])",
    "result = broadcast(keep:bool[1,1,9], shape=[2,4,9])",
    "result = concat(x:i64[2,3], y:i64[2,2], axis=1)",
    "result = gather(x:i64[3,4], index:i64[2])",
    "result = reshape(slice(x:u8[4,12], axis=1, begin=0, end=6), shape=[3,8])",
    "result = linear(x:f32[50,1024], w:f32[32,1024], wb:f32[32], r:f32[50,32], slots=bias+residual)",
    "result = linear(x:f32[50,1024], w:f32[128,1024], wb:f32[128], slots=bias)",
    "result = linear(x:f32[33,1000], w:f32[1000,1000], wb:f32[1000], slots=bias)",
    "result = linear(x:f32[1,50,32], w:f32[1024,32], wb:f32[1024], slots=bias, activation=silu)",
    "result = linear(x:f32[1,32], w:f32[256,32], wb:f32[256], slots=bias)",
    "result = linear(x:f32[3,2048], w:f32[36,2048], r:f32[3,36], slots=residual, activation=relu)",
    "result = linear(x:f32[64,1000], w:f32[132,1000], wb:bf16[132], r:bf16[64,132], slots=bias+residual, "
    "out=bf16)",
    "result = linear(slice(x:f32[13,300], axis=1, begin=20, end=280), w:f32[100,260], wb:f16[100], slots=bias, "
    "activation=gelu_tanh, out=f16)",
    // linears on both sides of a norm: with its weights, which give three results, and with squares
    "result = linear(x:bf16[51,256], w:bf16[1024,256], r:f32[51,1024], scale:f32[1024], slots=residual+norm_weight, "
    "norm_run=32)",
    "result = linear(x:bf16[1,51,1024], w:bf16[256,1024], slice(r:f32[1,51,784], axis=2, begin=256, end=512), "
    "scale:f32[256], slots=residual+norm_weight, norm_run=32)",
    "result = linear(x:bf16[51,256], w:bf16[128,256], r:bf16[51,128], scale:f32[128], slots=residual+norm_weight, "
    "norm_run=32)",
    "result = linear(x:bf16[5,72], w:bf16[128,72], wb:f32[128], scale:f32[128], slots=bias+norm_weight, norm_run=32, "
    "activation=silu)",
    "result = linear(x:f32[3,40], w:f32[64,40], r:f32[3,64], scale:f16[64], slots=residual+norm_weight, norm_run=32, "
    "out=bf16)",
    "result = linear(slice(x:bf16[1,51,3136], axis=2, end=1024), w:bf16[72,1024], slice(positive:f32[1,51,96], "
    "axis=2, begin=64, end=96), slots=squares, eps=0.01, out=f32)",
    "result = linear(x:bf16[64,256], w:bf16[200,256], positive:f32[64,8], gated=true, activation=gelu_tanh, "
    "slots=squares, out=bf16)",
    "result = linear(slice(x:bf16[1,51,512], axis=1, begin=1, end=51), w:bf16[640,512], c:f32[1,50,256], "
    "s:f32[1,50,256], slice(positive:f32[1,51,16], axis=1, begin=1, end=51), rotated_heads=2, slots=cos+sin+squares, "
    "out=bf16)",
    "result = linear(x:f16[9,128], w:f16[384,128], r:f32[9,384], scale:f32[384], positive:f32[9,4], "
    "slots=residual+norm_weight+squares, norm_run=32, eps=0.5)",
};

// A program of 40 steps, each with a number of its own.
std::string of_many_numbers() {
  std::string program;
  for (int i = 0; i < 40; ++i) program += fmt::format("{}r{}=add(r{},{})", i ? ";" : "", i + 1, i, 0.25 * i);
  return fmt::format("result = pointwise(x:f32[70], program=\"{}\", out=f32)", program);
}

std::string with_type(std::string text, const std::string& type) {
  for (const char* mark : {": T", ":T", "=T"})
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
      text.replace(at + std::string_view(mark).size() - 1, 1, type);
  return text;
}

}  // namespace

std::vector<std::string> problems() {
  std::vector<std::string> all;
  for (const char* type : {"f32", "bf16", "f16"})
    for (const auto& texts :
         {std::span<const char* const>(kFloatProblems), cache_problems(), sampling_problems(), window_problems()})
      for (const char* text : texts) all.push_back(with_type(text, type));
  // Caches of 8 bits: each with queries of 16 bits, and every third with those of f32 and f16.
  for (const char* cache : {"f8e4m3fn", "f8e4m3fnuz"})
    for (size_t i = 0; const std::string& text : narrow_cache_problems(cache)) {
      all.push_back(with_type(text, "bf16"));
      if (++i % 3 != 0) all.push_back(with_type(text, i % 3 == 1 ? "f32" : "f16"));
    }
  for (std::string& text : ragged_problems()) all.push_back(std::move(text));
  for (std::string& text : byte_problems()) all.push_back(std::move(text));
  for (std::string& text : streamed_problems()) all.push_back(std::move(text));
  for (const char* text : kOtherProblems) all.emplace_back(text);
  all.push_back(of_many_numbers());
  for (std::string& text : function_problems()) all.push_back(std::move(text));
  for (std::string& text : f8_problems()) all.push_back(std::move(text));
  return all;
}

}  // namespace rung::test
