/* What host code calls to convert float16 and bfloat16; see half_calls.c for the types. Rounding is
 * to nearest, ties to even. */
#ifndef PYPTX_CODEGEN_HOST_HALF_CALLS_H
#define PYPTX_CODEGEN_HOST_HALF_CALLS_H

float cg_extendhfsf2(float half);
double cg_extendhfdf2(float half);
float cg_truncsfhf2(float v);
float cg_truncdfhf2(double v);
float cg_truncsfbf2(float v);
float cg_truncdfbf2(double v);

#endif
