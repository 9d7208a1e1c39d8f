// Problems of the ops over windows, of which T stands for the type.
// SPDX-License-Identifier: Apache-2.0
#include "problems.hpp"

namespace rung::test {
namespace {

constexpr const char* kWindowProblems[] = {
    "result = conv(x:T[1,12,12,3], w:T[5,4,4,3], wb:T[5], slots=bias, stride=[4,4])",
    "result = conv(x:T[2,7,6,2], w:T[3,3,3,2])",
    "result = conv(x:T[2,9,30,5], w:T[40,3,2,5], wb:T[40], slots=bias, stride=[2,1], before=[1,0], after=[0,2])",
    "result = conv(transpose(x:T[1,3,9,8], permutation=[0,2,3,1]), w:T[5,3,3,3], before=[1,1], after=[1,1])",
    "result = conv(x:T[1,5,6,8], w:T[70,1,1,8], wb:T[70], r:T[1,5,6,70], slots=bias+residual, activation=silu, "
    "last=relu)",
    "result = conv(x:T[1,9,8,4], w:T[6,1,1,4], stride=[2,2])",
    "result = conv(x:T[2,27,30,3], w:T[72,7,7,3], wb:T[72], slots=bias, stride=[2,2], before=[3,3], after=[3,3], "
    "activation=relu)",
    "result = conv(x:T[1,16,7], w:T[40,5,7], wb:T[40], r:T[1,16,40], slots=bias+residual, before=[2], after=[2])",
    "result = conv(x:T[1,40,6], w:T[9,3,6], r:T[1,36,9], slots=residual, dilation=[2])",
    "result = conv(x:T[1,9,6], w:T[9,3,6], wb:f32[9], r:f32[1,7,9], slots=bias+residual, last=relu)",
    "result = conv(x:T[1,140,4], w:T[7,5,4], before=[2], after=[2], activation=gelu)",
    "result = conv(x:T[1,4,5,6,3], w:T[4,3,2,3,3], before=[1,0,1], after=[1,1,1], stride=[1,2,1])",
    "result = conv(x:T[1,8,7,12], w:T[9,3,3,4], groups=3, before=[1,1], after=[1,1], dilation=[1,2])",
    "result = conv(x:T[2,9,20,37], w:T[37,3,3,1], wb:T[37], slots=bias, groups=37, before=[1,1], after=[1,1])",
    "result = conv(x:T[1,15,14,40], w:T[40,5,5,1], groups=40, stride=[2,2], before=[2,1], after=[1,2], "
    "activation=silu)",
    "result = conv(x:T[2,13,18,48], w:T[48,7,7,1], wb:T[48], slots=bias, groups=48, before=[3,3], after=[3,3])",
    "result = conv(x:T[1,17,19,40], w:T[40,3,3,1], r:T[1,9,9,40], slots=residual, groups=40, before=[1,0], "
    "after=[1,0], stride=[2,2], dilation=[1,1], last=relu)",
    "result = conv(x:T[1,70,64], w:T[64,4,1], wb:T[64], slots=bias, groups=64, before=[3], activation=silu)",
    "result = conv(x:T[1,3,21,13,16], w:T[16,1,3,5,1], groups=16, before=[0,2,4], after=[0,2,0], dilation=[1,2,1])",
    "result = conv(x:T[1,33,8], w:T[8,7,1], r:T[1,21,8], slots=residual, groups=8, dilation=[2], last=relu)",
    "result = conv(x:T[2,7,6,16], w:T[24,3,3,16], wb:T[24], r:T[2,7,6,24], slots=bias+residual, before=[1,1], "
    "after=[1,1], last=relu)",
    "result = conv(x:T[1,20,64], w:T[40,5,64], wb:T[40], slots=bias, stride=[2], before=[2], after=[2], "
    "activation=silu)",
    "result = conv(x:T[1,6,5,32], w:T[48,2,2,16], groups=2, dilation=[2,1])",
    "result = conv(x:T[1,14,14,64], w:T[72,3,3,64], wb:T[72], r:T[1,14,14,72], slots=bias+residual, before=[1,1], "
    "after=[1,1], activation=relu, last=silu)",
    "result = conv(x:T[1,16,256], w:T[44,5,256], before=[2], after=[2])",
    "result = conv(x:T[1,6,5,16], w:T[24,3,3,16], wb:f32[2,24], r:T[1,6,5,24], slots=bias+residual, before=[1,1], "
    "after=[1,1], activation=relu)",
    "result = conv(x:T[1,9,12], w:T[9,3,4], wb:f32[2,9], slots=bias, groups=3)",
    "result = conv(x:T[2,9,7,24], w:T[24,3,3,1], wb:T[2,24], slots=bias, groups=24, activation=silu)",
    "result = conv(x:T[1,9,8,37], w:T[37,3,3,1], wb:f32[2,37], slots=bias, groups=37, stride=[2,2])",
    "result = conv(x:T[1,20,64], w:T[40,5,64], wb:f32[2,40], slots=bias, stride=[2], before=[2], after=[2])",
    "result = conv(slice(x:T[1,4,5,5,24], axis=4, begin=8, end=16), w:T[12,2,3,3,8], before=[1,1,1], "
    "after=[0,1,1])",
    "result = conv(x:T[1,9,6], w:T[12,3,1], groups=6)",
    // windows whose distance is a multiple of a page
    "result = conv(x:T[2,9,512], w:T[5,3,512], wb:T[5], slots=bias, stride=[2], before=[1], after=[1])",
    "result = conv(transpose(x:T[1,1024,7], permutation=[0,2,1]), w:T[6,2,512], groups=2, dilation=[3], before=[1])",
    // weights that are computed
    "result = conv(x:T[2,7,6,16], y:T[40,3,3,16], z:T[40], slots=bias, before=[1,1], after=[1,1], activation=silu)",
    "result = conv(x:T[1,8,7,12], transpose(y:T[3,9,3,4], permutation=[1,0,2,3]), groups=3, stride=[1,2])",
    "result = conv(x:T[1,9,5], y:T[5,3,1], groups=5)",
    "result = conv(transpose(x:T[2,3,20,37], permutation=[0,2,3,1]), w:T[17,3,3,3], wb:T[17], slots=bias, "
    "stride=[2,2], "
    "before=[1,1], after=[1,1], tail=\"r1=add(r0,3);r2=max(r1,0);r3=min(r2,6);r4=mul(r0,r3);r5=div(r4,6)\")",
    "result = conv(x:T[2,7,7,33], w:T[40,3,3,33], wb:T[40], r:T[2,7,7,40], slots=bias+residual, before=[1,1], "
    "after=[1,1], last=relu)",
    "result = conv(x:T[2,9,8,37], w:T[40,3,3,37], wb:T[40], r:T[2,9,8,40], slots=bias+residual, before=[1,1], "
    "after=[1,1], last=relu)",
    "result = conv(x:T[1,11,30,64], w:T[70,3,3,64], after=[0,1], activation=silu)",
    "result = conv(x:T[1,5,6,20], w:T[34,1,3,20], stride=[1,2], tail=\"r1=max(r0,-1);r2=min(r1,1)\")",
    "result = conv(x:T[1,6,16,70], w:T[70,3,3,1], wb:T[70], slots=bias, groups=70, before=[1,1], after=[1,1], "
    "tail=\"r1=mul(r0,-0.5);r2=relu(r1)\")",
    "result = conv(x:T[1,5,4,3], w:T[4,3,3,3], wb:T[4], slots=bias, transposed=true, stride=[2,2], before=[1,1], "
    "after=[1,1], extra=[1,0])",
    "result = conv(x:T[1,6,4], w:T[6,4,2], transposed=true, groups=2, stride=[3], dilation=[2])",
    // of integers: both types, zero points, padding, groups, each end
    "result = conv(ubytes:u8[1,9,8,16], wbytes:i8[24,3,3,16], offsets:i32[24], wsteps:f32[24], slots=bias+scale, "
    "before=[1,1], after=[1,1])",
    "result = conv(bytes:i8[2,7,6,20], wbytes:i8[40,3,3,20], wsteps:f32[40], slots=scale, zero=-5, before=[1,1], "
    "after=[1,1], activation=relu)",
    "result = conv(ubytes:u8[1,11,10,3], wbytes:i8[34,7,7,3], offsets:f32[34], wfinesteps:f32[34], slots=bias+scale, "
    "zero=126, before=[3,3], after=[3,3], stride=[2,2], out=u8, out_zero=3)",
    "result = conv(ubytes:u8[1,13,12,64], wbytes:i8[70,1,1,64], offsets:i32[70], wfinesteps:f32[70], slots=bias+scale, "
    "zero=7, out=u8, out_zero=128)",
    "result = conv(ubytes:u8[2,9,10,37], wbytes:i8[37,3,3,1], offsets:f32[37], wfinesteps:f32[37], slots=bias+scale, "
    "groups=37, before=[1,1], after=[1,1], out=u8)",
    "result = conv(bytes:i8[1,12,11,48], wbytes:i8[48,3,3,1], offsets:i32[48], wfinesteps:f32[48], slots=bias+scale, "
    "groups=48, stride=[2,2], before=[1,0], after=[0,1], zero=9, out=i8, out_zero=-20)",
    "result = conv(ubytes:u8[1,8,7,32], wbytes:i8[48,3,2,16], wfinesteps:f32[48], slots=scale, groups=2, "
    "dilation=[1,2], "
    "out=i8, out_zero=4, activation=relu)",
    "result = conv(ubytes:u8[1,9,6], wbytes:i8[9,3,6], offsets:f32[9], r:f32[1,9,9], wsteps:f32[9], "
    "slots=bias+residual+scale, zero=200, before=[1], after=[1], last=relu)",
    "result = conv(ubytes:u8[1,4,5,6,8], wbytes:i8[16,2,2,3,8], wfinesteps:f32[16], slots=scale, zero=1, "
    "before=[1,0,1], "
    "after=[1,1,1], out=u8, out_zero=100)",
    "result = pool(x:T[2,9,20,37], window=[3,3], stride=[2,2], before=[1,1], after=[1,1])",
    "result = pool(x:T[1,7,31,16], window=[2,3], stride=[2,1], after=[1,1], kind=mean)",
    "result = pool(x:T[2,9,11,24], window=[3,3], stride=[2,2], before=[1,1], after=[1,1])",
    "result = pool(x:T[1,40,33], window=[4], dilation=[3], kind=sum)",
    "result = pool(x:T[1,4,5,6,3], window=[2,2,2], before=[1,0,1], kind=max)",
    "result = pool(x:T[1,8,8,4], window=[2,2], stride=[2,2], places=true)",
    "result = pool(transpose(x:T[1,3,8,8], permutation=[0,2,3,1]), window=[2,2], stride=[2,2])",
};

}  // namespace

std::span<const char* const> window_problems() { return kWindowProblems; }

}  // namespace rung::test
