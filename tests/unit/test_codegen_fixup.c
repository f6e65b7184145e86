/* PTX fix-up: which negations of floats turn the sign bit, by text in and text out. */
#include <stdio.h>
#include <string.h>

#include "codegen/nvptx/ptx_fixup.h"

static int failures;

typedef struct Case {
  const char *ptx, *optimised; /* what is wanted; NULL: the text as it is */
} Case;

#define F   ".visible .entry k()\n{\n"
#define END "\tret;\n}\n"

static const Case cases[] = {
    /* conversions of integers */
    {F "\tcvt.rn.bf16.u32 \t%rs1, %r4;\n\tneg.bf16 \t%rs2, %rs1;\n" END,
     F "\tcvt.rn.bf16.u32 \t%rs1, %r4;\n\txor.b16 \t%rs2, %rs1, 0x8000;\n" END},
    {F "\tcvt.rn.f16.s16 \t%rs1, %rs4;\n\tneg.f16 \t%rs2, %rs1;\n" END,
     F "\tcvt.rn.f16.s16 \t%rs1, %rs4;\n\txor.b16 \t%rs2, %rs1, 0x8000;\n" END},
    {F "\tcvt.rn.f32.u32 \t%r5, %r4;\n\tneg.f32 \t%r6, %r5;\n" END,
     F "\tcvt.rn.f32.u32 \t%r5, %r4;\n\txor.b32 \t%r6, %r5, 0x80000000;\n" END},
    {F "\tcvt.rn.f64.s64 \t%rd50, %rd4;\n\tneg.f64 \t%rd6, %rd50;\n" END,
     F "\tcvt.rn.f64.s64 \t%rd50, %rd4;\n\txor.b64 \t%rd6, %rd50, 0x8000000000000000;\n" END},
    /* choices: of constants, of others */
    {F
     "\tselp.f64 \t%rd9, 0d3FF0000000000000, 0d0000000000000000, %p1;\n\tneg.f64 \t%rd10, %rd9;\n" END,
     F "\tselp.f64 \t%rd9, 0d3FF0000000000000, 0d0000000000000000, %p1;\n"
       "\tselp.b64 \t%rd10, 0xBFF0000000000000, 0x8000000000000000, %p1;\n" END},
    {F "\tselp.f32 \t%r9, 0f80000000, %r3, %p1;\n\tneg.f32 \t%r10, %r9;\n" END,
     F "\tselp.f32 \t%r9, 0f80000000, %r3, %p1;\n\txor.b32 \t%r10, %r9, 0x80000000;\n" END},
    {F "\tselp.b16 \t%rs1, 0x3F80, 0x0000, %p1;\n\tneg.bf16 \t%rs2, %rs1;\n" END,
     F "\tselp.b16 \t%rs1, 0x3F80, 0x0000, %p1;\n\txor.b16 \t%rs2, %rs1, 0x8000;\n" END},
    {F "\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\tneg.f32 \t%r10, %r9;\n" END, F
     "\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\tselp.b32 \t%r10, 0xBF800000, 0x80000000, %p1;\n" END},
    /* where paths meet, several instructions write a register, or the condition */
    {F
     "\tld.global.b64 \t%rd9, [%rd1];\n\tselp.f64 \t%rd9, 0d3FF0000000000000, 0d0000000000000000, %p1;\n$L:\n\tneg.f64 \t%rd10, %rd9;\n" END,
     F
     "\tld.global.b64 \t%rd9, [%rd1];\n\tselp.f64 \t%rd9, 0d3FF0000000000000, 0d0000000000000000, %p1;\n$L:\n"
     "\txor.b64 \t%rd10, %rd9, 0x8000000000000000;\n" END},
    {F
     "\tld.global.v2.b32 \t{%r8, %r9}, [%rd1];\n\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\tneg.f32 \t%r10, %r9;\n" END,
     F
     "\tld.global.v2.b32 \t{%r8, %r9}, [%rd1];\n\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\txor.b32 \t%r10, %r9, 0x80000000;\n" END},
    {F
     "\tsetp.lt.s32 \t%p1, %r1, 0;\n\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\tsetp.lt.s32 \t%p2|%p1, %r2, 0;\n\tneg.f32 \t%r10, %r9;\n" END,
     F
     "\tsetp.lt.s32 \t%p1, %r1, 0;\n\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\tsetp.lt.s32 \t%p2|%p1, %r2, 0;\n"
     "\txor.b32 \t%r10, %r9, 0x80000000;\n" END},
    {F
     "\tsetp.lt.s32 \t%p1, %r1, 0;\n\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\tneg.f32 \t%r10, %r9;\n" END
         F "\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\tneg.f32 \t%r10, %r9;\n" END,
     F
     "\tsetp.lt.s32 \t%p1, %r1, 0;\n\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\tselp.b32 \t%r10, 0xBF800000, 0x80000000, %p1;\n" END
         F
     "\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n\tselp.b32 \t%r10, 0xBF800000, 0x80000000, %p1;\n" END},
    /* choices that have -0.0 */
    {F "\tselp.f32 \t%r9, 0fBF800000, 0f80000000, %p1;\n" END,
     F "\tselp.b32 \t%r9, 0xBF800000, 0x80000000, %p1;\n" END},
    {F "\tselp.f32 \t%r9, 0f80000000, 0f3F800000, %p1;\n" END,
     F "\tselp.b32 \t%r9, 0x80000000, 0x3F800000, %p1;\n" END},
    {F "\tselp.f32 \t%r9, %r8, 0f80000000, %p1;\n" END, NULL},
    {F "\tselp.f32 \t%r9, 0f3F800000, 0f00000000, %p1;\n" END, NULL},
    /* the block that makes it stands behind */
    {F "$L__BB0_2:\n\tneg.f32 \t%r6, %r5;\n" END "$L__BB0_1:\n\tcvt.rn.f32.s32 \t%r5, %r4;\n" END,
     F "$L__BB0_2:\n\txor.b32 \t%r6, %r5, 0x80000000;\n" END
       "$L__BB0_1:\n\tcvt.rn.f32.s32 \t%r5, %r4;\n" END},
    /* made in another way, or by another class, number or function */
    {F "\tadd.rn.f32 \t%r5, %r4, %r3;\n\tneg.f32 \t%r6, %r5;\n" END, NULL},
    {F "\tcvt.rn.f32.f64 \t%r5, %rd4;\n\tneg.f32 \t%r6, %r5;\n" END, NULL},
    {F "\tcvt.rn.f64.s32 \t%rd5, %r4;\n\tneg.f32 \t%r6, %r5;\n" END, NULL},
    {F "\tcvt.rn.f32.s32 \t%r5, %r4;\n\tneg.f32 \t%r6, %r55;\n" END, NULL},
    {F "\tcvt.rn.f32.s32 \t%r5, %r4;\n" END F "\tneg.f32 \t%r6, %r5;\n" END, NULL},
    {F "\tneg.f32 \t%r6, %r5;\n" END F "\tcvt.rn.f32.s32 \t%r5, %r4;\n" END, NULL},
    {F "\tcvt.rn.f32.s32 \t%r5, %r4;\n\tmul.rn.f32 \t%r6, %r5, 0fBF800000;\n" END, NULL},
    {F "\tcvt.rn.f32.s32 \t%r99999999999999999999, %r4;\n\tneg.f32 \t%r6, %r7;\n" END, NULL},
    {F "\tcvt.rn.f32.s32 \t%r5, %r4;\n\tneg.f32 \t", NULL},
};

static void check(const char *ptx, const char *wanted, bool optimised) {
  Arena arena = {0};
  size_t size = strlen(ptx);
  const char *got = cg_ptx_fixup(&arena, ptx, &size, optimised);
  if (size != strlen(wanted) || strncmp(got, wanted, size) != 0) {
    failures++;
    fprintf(stderr, "--- wanted\n%s--- got\n%.*s", wanted, (int)size, got);
  }
  arena_free(&arena);
}

int main(void) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    check(cases[k].ptx, cases[k].optimised ? cases[k].optimised : cases[k].ptx, true);
  /* unoptimised: whatever made it */
  check(F "\tadd.rn.f32 \t%r5, %r4, %r3;\n\tneg.f32 \t%r6, %r5;\n" END,
        F "\tadd.rn.f32 \t%r5, %r4, %r3;\n\txor.b32 \t%r6, %r5, 0x80000000;\n" END, false);
  return failures != 0;
}
