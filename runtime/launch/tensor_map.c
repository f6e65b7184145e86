/* Tensor maps: see tensor_map.h. In: an array and a box, axes in the array's order. The driver
 * wants them the other way round, and strides in bytes of all axes but the first of its own. Each
 * thread keeps those that it used last, in sets of four: so a kernel with four maps or fewer keeps
 * them all, whatever their addresses are. */
#include "runtime/launch/tensor_map.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/abi.h"
#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"

enum {
  CU_PROMOTE_256 = 3, /* what is read goes to the L2 cache in pieces of 256 bytes */
  BYTES = 16,         /* alignment of addresses and rows */
  SWIZZLE_32 = 5,     /* log2 */
  SET_BITS = 2,
  WAYS = 4
};

typedef struct Kept { /* what a map is made of, and the map; map is 0: none yet */
  uint64_t map, address;
  int64_t shape[RT_MAP_AXES];
  const RtDevice *device; /* of the context in which it was made */
  uint64_t used;          /* when, by the count of uses */
  char made[RT_TENSOR_MAP_BYTES];
} Kept;

static _Thread_local Kept kept[1 << SET_BITS][WAYS];
static _Thread_local uint64_t uses;

static unsigned rank_of(uint64_t map) { return map >> RT_MAP_RANK & 127; }

/* The map's entry, or that of the set which was used longest ago. */
static Kept *find(uint64_t map, uint64_t address, const int64_t *shape, bool *found) {
  Kept *set = kept[(address ^ map) * 0x9E3779B97F4A7C15u >> (64 - SET_BITS)], *oldest = set;
  for (Kept *k = set; k < set + WAYS; k++) {
    *found = k->map == map && k->address == address && k->device == rt_current &&
             !memcmp(k->shape, shape, rank_of(map) * sizeof *shape);
    if (*found)
      return k;
    if (k->used < oldest->used)
      oldest = k;
  }
  return oldest;
}

static RtStatus make(uint64_t map, uint64_t address, const int64_t *shape,
                     char out[RT_TENSOR_MAP_BYTES]) {
  static const uint8_t sizes[] = {
      [RT_TENSOR_U8] = 1,  [RT_TENSOR_U16] = 2, [RT_TENSOR_U32] = 4, [RT_TENSOR_I32] = 4,
      [RT_TENSOR_U64] = 8, [RT_TENSOR_I64] = 8, [RT_TENSOR_F16] = 2, [RT_TENSOR_F32] = 4,
      [RT_TENSOR_F64] = 8, [RT_TENSOR_BF16] = 2};
  unsigned rank = rank_of(map), element = map >> RT_MAP_ELEMENT & 255, swizzle = map & 255;
  cuuint64_t dims[RT_MAP_AXES], strides[RT_MAP_AXES];
  cuuint32_t box[RT_MAP_AXES], steps[RT_MAP_AXES];
  _Alignas(64) char made[RT_TENSOR_MAP_BYTES];
  uint64_t stride = sizes[element];
  for (unsigned k = 0; k < rank; k++) {
    unsigned axis = rank - 1 - k;
    dims[k] = (cuuint64_t)shape[map >> RT_MAP_FORTRAN & 1 ? k : axis];
    box[k] = (cuuint32_t)(map >> (RT_MAP_BOX + 8 * axis) & 255) + 1;
    steps[k] = 1;
    strides[k] = stride *= dims[k];
    if (!dims[k])
      return rt_fail(RT_BAD_ARGUMENT, "launch the kernel for arrays that have elements",
                     "a tensor map of an array without elements");
  }
  if (address % BYTES || strides[0] % BYTES)
    return rt_fail(RT_BAD_ARGUMENT, "pad the rows of the array, or pass one that begins there",
                   "a tensor map is of an array that begins at a multiple of 16 bytes and whose "
                   "rows are such: this one is %llu bytes beyond one, with rows of %llu bytes",
                   (unsigned long long)(address % BYTES), (unsigned long long)strides[0]);
  if (!rt_cu.cuTensorMapEncodeTiled)
    return rt_fail(RT_BAD_ARGUMENT, "update the driver", "this driver makes no tensor maps");
  TRY(CU(cuTensorMapEncodeTiled, (made, (int)element, rank, address, dims, strides, box, steps, 0,
                                  swizzle ? (int)swizzle - SWIZZLE_32 + 1 : 0, CU_PROMOTE_256, 0)));
  memcpy(out, made, sizeof made);
  return RT_OK;
}

RtStatus rt_tensor_map(uint64_t map, uint64_t address, const int64_t *shape,
                       char out[RT_TENSOR_MAP_BYTES]) {
  bool found;
  Kept *k = find(map, address, shape, &found);
  if (!found) {
    k->map = 0; /* if it fails there is none */
    TRY(make(map, address, shape, k->made));
    memcpy(k->shape, shape, rank_of(map) * sizeof *shape);
    k->map = map, k->address = address, k->device = rt_current;
  }
  k->used = ++uses;
  memcpy(out, k->made, sizeof k->made);
  return RT_OK;
}
