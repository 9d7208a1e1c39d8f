// Sound tuning files of every format, as their stacks write them, and the machines that they are for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "stacks/files/machine.hpp"

namespace rung::stacks {

struct Sample {
  std::string_view name;    // of the file: some formats look at it
  std::string_view format;  // that it has
  std::string text;
};

inline std::vector<Sample> samples_of_pytorch() {
  return {
      {"tunableop_results0.csv", "tunableop",
       "Validator,PT_VERSION,2.15.0+rocm7.2\n"
       "Validator,HIP_VERSION,702\n"
       "Validator,GCN_ARCH_NAME,gfx942:sramecc+:xnack-\n"
       "Validator,ROCBLAS_VERSION,5.2.0.5b515cf1bc\n"
       "Validator,HIPBLASLT_VERSION,100201-5b515cf1bc\n"
       "GemmTunableOp_BFloat16_TN,tn_1024_51_2048_ld_2048_2048_1024,Gemm_Hipblaslt_1234,0.0123\n"
       "GemmTunableOp_float_NN,nn_512_64_256_ld_512_256_512,Gemm_Rocblas_-621294427,0.00793602\n"
       "GemmTunableOp_bfx9_TN,tn_512_64_256_ld_256_256_512_compute_bf16x9_r,Default,0.0079\n"
       "GemmAndBiasTunableOp_Half_TN,tn_4096_1_1024_ld_1024_1024_4096,Default,0.0101\n"
       "GemmAndBiasTunableOp_Half_TN,tn_4096_*_1024_ld_1024_1024_4096,Gemm_Hipblaslt_77,0.0101\n"
       "GemmStridedBatchedTunableOp_BFloat16_NT,nt_64_128_64_B_16_ld_64_128_64,Gemm_Hipblaslt_9,0.0044\n"
       "ScaledGemmTunableOp_Float8_e4m3fnuz_Float8_e4m3fnuz_BFloat16_TN,"
       "tn_2048_16_2048_ld_2048_2048_2048_rw_1_bias_None,Gemm_Hipblaslt_5,0.0211\n"
       "ScaledGemmTunableOp_Float8_e4m3fnuz_Float8_e5m2fnuz_Half_TN,"
       "tn_2048_32_2048_ld_2048_2048_2048_rw_0_bias_Half,Default,0.0211\n"},
      {"logged.csv", "tunableop",
       "Validator,PT_VERSION,2.4.0\n"
       "Validator,ROCM_VERSION,6.0.0.0-91-08e5094\n"
       "Validator,HIPBLASLT_VERSION,0.6.0-592518e7\n"
       "Validator,GCN_ARCH_NAME,gfx942:sramecc+:xnack-\n"
       "Validator,ROCBLAS_VERSION,4.0.0-88df9726-dirty\n"
       "GemmTunableOp_float_NN,nn_1024_512_2048,Gemm_Hipblaslt_NN_52565,0.0653662,"
       "BLAS_PARAMS: - { function: matmul, M: 1024, N: 512 }\n"
       "GemmTunableOp_float_NN,nn_256_128_512,Gemm_Rocblas_21,0.00793602\n"},
      {"tunableop_h200.csv", "tunableop",
       "Validator,PT_VERSION,2.15.0+cu130\n"
       "Validator,CUBLASLT_VERSION,130100\n"
       "Validator,CUDA_DEVICE,9.0:NVIDIA H200\n"
       "GemmTunableOp_BFloat16_TN,tn_1024_51_1024_ld_1024_1024_1024,"
       "Gemm_Cublaslt_id_66_tile_35_stages_36_splitk_1_red_0_swizzle_0_custom_0_inner_0_cluster_2,0.0061\n"
       "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,tn_512_64_512_ld_512_512_512_a_Float8_e4m3fn_b_"
       "Float8_e4m3fn_c_BFloat16_as_Float_bs_Float_ast_1_bst_1_dscale_0_fast_1_bias_None,Default,0.0061\n"},
      {"tunableop_untuned0.csv", "tunableop_untuned",
       "GemmTunableOp_BFloat16_TN,tn_1024_51_2048_ld_2048_2048_1024\n"
       "GemmStridedBatchedTunableOp_Half_NN,nn_64_8_128_B_12_ld_64_128_64,BLAS_PARAMS: - { function: matmul, M: 64 "
       "}\n"},
  };
}

inline std::vector<Sample> samples_of_rocm_products() {
  return {
      {"tuning.txt", "hipblaslt",
       "Git Version: a6254b89-dirty\n"
       "    "
       "transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,stride_a,beta,ldb,stride_b,ldc,stride_c,ldd,stride_d,"
       "a_type,b_type,c_type,d_type,compute_type,scaleA,scaleB,scaleC,scaleD,amaxD,activation_type,bias_vector,"
       "bias_type,rotating_buffer,hipblaslt-Gflops,hipblaslt-GB/s,us,solution_index,gcnArchName,CUs\n"
       "    "
       "T,N,0,1,3456,70,512,1,512,1769472,0,512,35840,3456,241920,3456,241920,bf16_r,bf16_r,bf16_r,bf16_r,f32_r,0,0,"
       "0,0,0,none,1,bf16_r,512,2329.46,979.201,106.345,56537,gfx942:sramecc+:xnack-,304\n"
       "    transA,transB,batch_count,m,n,k,a_type,b_type,c_type,compute_type,solution_index,kernel_name\n"
       "    N,N,4,1024,512,1024,f16_r,f16_r,f16_r,f32_r,111,Cijk_Ailk_Bljk_HHS_BH_MT128x128x16\n"},
      {"override.csv", "rocblas",
       "transA,transB,M,N,batch_count,K,alpha,beta,lda,ldb,ldc,input_type,output_type,compute_type,solution_index\n"
       "N,N,320,588,1,4096,1,0,320,6144,320,f32_r,f32_r,f32_r,3788\n"
       "T,N,512,1,1,512,1,0,512,512,512,bf16_r,bf16_r,f32_r,4546\n"
       "transA,transB,M,N,batch_count,K,alpha,beta,lda,ldb,ldc,stride_a,stride_b,stride_c,input_type,output_type,"
       "compute_type,solution_index\n"
       "N,T,64,32,12,128,1,0,64,32,64,8192,4096,2048,f16_r,f16_r,f32_r,17\n"},
      {"bf16_tuned_gemm.csv", "aiter",
       "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,"
       "bw\n"
       "gfx942,304,1,4096,4096,False,torch.bfloat16,torch.bfloat16,False,False,skinny,2,0,7.0,sol2,0.0,4.79,4795.83\n"
       "gfx942,304,64,256,5120,True,torch.bfloat16,torch.float32,False,True,asm,5,13,7.9191,"
       "_ZN5aiter39bf16gemm_fp32bf16_tn_64x64_splitk_cleanE,0.0,21.19,422.06\n"},
      {"a8w8_blockscale_tuned_gemm.csv", "aiter",
       "gfx,cu_num,M,N,K,libtype,kernelId,splitK,us,kernelName,tflops,bw,errRatio\n"
       "gfx942,304,1,3072,1536,ck,8,0,6.6154,a8w8_blockscale_1x128x128_256x16x64x256_intrawave_v1,1.43,714.43,0.0\n"
       "gfx942,304,2,3072,1536,ck,8,2,6.62,a8w8_blockscale_1x128x128_256x16x64x256_intrawave_v1,2.85,715.1,0.0\n"},
      {"a8w8_untuned_gemm.csv", "aiter_untuned",
       "M,N,K,q_dtype_w\n"
       "1, 1280, 8192,torch.int8\n"
       "32,1280,8192,torch.float8_e4m3fnuz\n"},
      {"tuned.csv", "gradlib",
       "M,N,K,bias,dtype,outdtype,libtype,solidx,soltimes\n"
       "4096,1,4096,False,torch.float16,torch.float16,hipblaslt,1234,0.0123\n"
       "4096,8,4096,True,torch.float16,torch.float16,rocblas,-77,0.0155\n"},
      {"vllm_untuned.csv", "gradlib_untuned",
       "M,N,K,bias,dtype\n"
       "4096,1,4096,False,torch.float16\n"
       "12288,1,4096,True,torch.bfloat16\n"},
  };
}

inline std::vector<Sample> samples_of_convolutions_and_lists() {
  return {
      {"gfx942130.HIP.3_5_0_a85ca8a54.ufdb.txt", "miopen_find_db",
       "2-128-56-1x1-64-128-56-2-0x0-1x1-1x1-0-NHWC-FP32-F=ConvAsm1x1U:0.0123,0,miopenConvolutionFwdAlgoDirect;"
       "ConvBinWinogradRxSf2x3:0.02,4096,miopenConvolutionFwdAlgoWinograd\n"
       "3-224-224-7x7-64-112-112-1-3x3-2x2-1x1-0-NCHW-FP16-F=GemmFwdRest:0.5,37632,miopenConvolutionFwdAlgoGEMM\n"},
      {"gfx906_60.HIP.2_1_0.ufdb.txt", "miopen_find_db",
       "64-28-28-3x3-64-28-28-1-1x1-1x1-1x1-0-NCHW-FP32-F=miopenConvolutionFwdAlgoDirect:ConvAsm3x3U,0.031,0,"
       "miopenConvolutionFwdAlgoDirect,<unused>\n"},
      {"gfx90a6e.HIP.2_20_0.udb.txt", "miopen_perf_db",
       "64-28-28-3x3-64-28-28-1-1x1-1x1-1x1-0-NCHW-FP32-F=ConvAsm3x3U:4,1;ConvOclDirectFwd:1,64,1\n"},
      {"shapes.csv", "shapes",
       "# products of a step\n"
       "m,n,k,batch,dtype,out_dtype,layout,bias,epilogue,count,layer\n"
       "51,1024,2048,1,bf16,bf16,TN,0,none,18,q_proj\n"
       "\n"
       "1,4096,1024,1,f8e4m3fn,bf16,TN,bf16,gelu,1,mlp\n"},
      {"least.csv", "shapes", "n,k,m\n1024,2048,51\n"},
  };
}

inline const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> every = samples_of_pytorch();
    for (const std::vector<Sample>& more : {samples_of_rocm_products(), samples_of_convolutions_and_lists()})
      every.insert(every.end(), more.begin(), more.end());
    return every;
  }();
  return all;
}

inline const Sample& sample(std::string_view name) {
  for (const Sample& one : samples())
    if (one.name == name) return one;
  return samples().front();
}

inline TunedMachine mi300x() {
  return {"mi300x",
          "gfx942:sramecc+:xnack-",
          304,
          {{"PT_VERSION", "2.15.0+rocm7.2"},
           {"HIP_VERSION", "702"},
           {"ROCBLAS_VERSION", "5.2.0.5b515cf1bc"},
           {"HIPBLASLT_VERSION", "100201-5b515cf1bc"},
           {"Git Version", "a6254b89-dirty"}}};
}

inline TunedMachine h200() {
  return {"h200",
          "sm_90",
          132,
          {{"PT_VERSION", "2.15.0+cu130"}, {"CUBLASLT_VERSION", "130100"}, {"CUDA_DEVICE", "9.0:NVIDIA H200"}}};
}

}  // namespace rung::stacks
