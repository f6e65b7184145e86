/* Params: what the parameter block of a kernel holds: the one list that lowering, coarsening and
 * the launch read. */
#ifndef PYPTX_CODEGEN_SSA_PARAMS_H
#define PYPTX_CODEGEN_SSA_PARAMS_H

#include "codegen/compile.h"
#include "ir/cx.h"
#include "ir/fn.h"

typedef struct Param { /* a field of the block */
  RtField field;
  const Type *type; /* of the leaf argument; NULL: a field of the runtime (TRAP, GRID) */
  /* the kernel's parameter, and the first of its leaves that the field provides */
  uint32_t param, leaf;
  const Ins *map_of;  /* TENSOR_MAP: the kernel's parameter … */
  uint32_t map_array; /* … and which of its arrays and numbers, in order, is mapped */
  bool unread;        /* no leaf: a stride of an array whose layout says it (stable blocks alone) */
} Param;

/* An array among the kernel's parameters, or in a tuple of them. */
typedef struct ArrayParam {
  const Type *type;
  uint32_t param, leaf; /* the kernel's parameter, and its first leaf there */
  bool used, written;   /* its elements are, or may be */
  bool summed; /* nothing is done with it but atomic sums of which nobody takes the result */
} ArrayParam;

typedef struct Params {
  VEC(Param) fields;
  VEC(CgArg) args; /* leaf arguments */
  VEC(ArrayParam) arrays;
  bool writes_elsewhere; /* to global memory that is no parameter's, or that is not known */
  bool uses_elsewhere;   /* … or reads there */
  uint32_t bytes;        /* end of the last field */
  uint32_t begin;        /* bytes from an alignment of the largest field to where it begins */
} Params;

/* What the block holds beside the fields that the kernel reads: a TRAP field comes last, a GRID
 * field behind that. stable: every number, and of every array the pointer, all extents as EXTENT64
 * and all strides, whether they are read or not, whatever its layout is. extents: every leaf of an
 * array whose elements are used; sums: the same if there is an array that is only summed. */
typedef struct ParamsWant {
  bool trap, grid, stable, maps, extents, sums;
  uint32_t begin; /* Target.params_begin */
} ParamsWant;
/* In: a typed program. Fails with ERR_PARAM_SIZE. Overwrites Ins.note of all instructions. */
Params *cg_lay_out_params(Cx *cx, Program *program, ParamsWant want);
/* Does the field hold a leaf of that array? */
bool cg_is_of_array(const Param *f, const ArrayParam *a);
/* The field of the map that a copy of boxes takes. */
uint32_t cg_tensor_field(const Params *p, const Ins *i);
/* The field that follows *bytes bytes of other fields, aligned to its size where the block begins
 * `begin` bytes beyond an alignment; *bytes becomes its end. */
RtField cg_next_field(RtFieldKind kind, uint32_t size, unsigned axis, uint32_t leaf, uint32_t begin,
                      uint32_t *bytes);

#endif
