/* Box: copies between strided arrays that the driver makes itself: of rows that lie apart, and
 * planes of such rows (cuMemcpy3D).
 *
 * In: a shape, and where its elements lie on both sides. Axes that lie behind each other on both
 * sides become one, those that run backwards on both are turned round. What is left must be rows
 * with a pitch, and planes whose distance is a number of pitches, on both sides; the axes beyond
 * are a loop, as long as it is short. All else is refused with *done 0, and nothing done. */
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/stream_state.h"

enum { MOST_COPIES = 64, MOST_PITCH = INT32_MAX };

typedef struct Box {
  unsigned ndim; /* outermost first */
  int64_t shape[RT_MAX_AXES], to[RT_MAX_AXES], from[RT_MAX_AXES];
  int64_t width; /* bytes that lie together on both sides */
  uint64_t at_to, at_from;
} Box;

static int64_t size_of(int64_t n) { return n < 0 ? -n : n; }

/* Inserts an axis: the longer steps first, so that rows are the innermost. */
static void add_axis(Box *b, int64_t n, int64_t to, int64_t from) {
  unsigned at = b->ndim++;
  for (; at && (size_of(b->to[at - 1]) < size_of(to) ||
                (b->to[at - 1] == to && size_of(b->from[at - 1]) < size_of(from)));
       at--) {
    b->shape[at] = b->shape[at - 1];
    b->to[at] = b->to[at - 1];
    b->from[at] = b->from[at - 1];
  }
  b->shape[at] = n;
  b->to[at] = to;
  b->from[at] = from;
}

static void drop_axis(Box *b, unsigned k) {
  b->ndim--;
  for (; k < b->ndim; k++) {
    b->shape[k] = b->shape[k + 1];
    b->to[k] = b->to[k + 1];
    b->from[k] = b->from[k + 1];
  }
}

static void merge(Box *b) {
  for (unsigned k = b->ndim; k-- > 1;) /* k into k - 1 */
    if (b->to[k - 1] == b->shape[k] * b->to[k] && b->from[k - 1] == b->shape[k] * b->from[k]) {
      b->shape[k - 1] *= b->shape[k];
      b->to[k - 1] = b->to[k];
      b->from[k - 1] = b->from[k];
      drop_axis(b, k);
    }
  unsigned last = b->ndim - 1;
  if (b->ndim && b->to[last] == b->width && b->from[last] == b->width) {
    b->width *= b->shape[last];
    b->ndim--;
  }
}

/* 0: a step is none, or one side runs backwards. */
static int box_of(Box *b, const RtBoxes *x) {
  *b = (Box){.width = (int64_t)x->itemsize, .at_to = x->to, .at_from = x->from};
  for (unsigned k = 0; k < x->ndim; k++) {
    int64_t n = x->shape[k], to = x->to_strides[k], from = x->from_strides[k];
    if (n == 1)
      continue;
    if (to < 0 && from < 0) {
      b->at_to += (uint64_t)((n - 1) * to);
      b->at_from += (uint64_t)((n - 1) * from);
      to = -to;
      from = -from;
    }
    if (to <= 0 || from <= 0)
      return 0;
    add_axis(b, n, to, from);
  }
  merge(b);
  return 1;
}

static int is_pitch(int64_t step, int64_t width) { return step >= width && step <= MOST_PITCH; }

/* The rows of a plane: those that lie in it. */
static int64_t rows_of(int64_t plane, int64_t pitch) { return plane % pitch ? 0 : plane / pitch; }

/* How many of the inner axes one copy takes: 0 to 2 beyond the run of bytes. */
static unsigned axes_of_copy(const Box *b) {
  unsigned row = b->ndim - 1, plane = b->ndim - 2;
  if (!b->ndim || !is_pitch(b->to[row], b->width) || !is_pitch(b->from[row], b->width))
    return 0;
  if (b->ndim < 2 || rows_of(b->to[plane], b->to[row]) < b->shape[row] ||
      rows_of(b->from[plane], b->from[row]) < b->shape[row])
    return 1;
  return 2;
}

static CUmemcpy3D plan(const Box *b, const RtBoxes *x, unsigned axes) {
  unsigned row = b->ndim - 1, plane = b->ndim - 2;
  CUmemcpy3D c = {.src_type = x->way == RT_BOX_TO_DEVICE ? CU_MEMORY_HOST : CU_MEMORY_DEVICE,
                  .dst_type = x->way == RT_BOX_TO_HOST ? CU_MEMORY_HOST : CU_MEMORY_DEVICE,
                  .width = (size_t)b->width,
                  .height = axes ? (size_t)b->shape[row] : 1,
                  .depth = axes > 1 ? (size_t)b->shape[plane] : 1,
                  .src_pitch = (size_t)(axes ? b->from[row] : b->width),
                  .dst_pitch = (size_t)(axes ? b->to[row] : b->width)};
  c.src_height = axes > 1 ? (size_t)rows_of(b->from[plane], b->from[row]) : c.height;
  c.dst_height = axes > 1 ? (size_t)rows_of(b->to[plane], b->to[row]) : c.height;
  return c;
}

static RtStatus copy_one(CUmemcpy3D c, const RtBoxes *x, uint64_t to, uint64_t from,
                         RtStream *stream) {
  if (x->way == RT_BOX_TO_DEVICE)
    c.src_host = (const void *)(uintptr_t)from;
  else
    c.src_device = from;
  if (x->way == RT_BOX_TO_HOST)
    c.dst_host = (void *)(uintptr_t)to;
  else
    c.dst_device = to;
  if (!stream && x->way != RT_BOX_ON_DEVICE)
    return CU(cuMemcpy3D, (&c));
  return CU(cuMemcpy3DAsync, (&c, rt_handle(stream)));
}

/* One copy after the other over the outer axes. */
static RtStatus copy_all(const Box *b, const RtBoxes *x, unsigned axes, RtStream *stream) {
  CUmemcpy3D c = plan(b, x, axes);
  int64_t at[RT_MAX_AXES] = {0};
  uint64_t to = b->at_to, from = b->at_from;
  for (unsigned outer = b->ndim - axes;;) {
    TRY(copy_one(c, x, to, from, stream));
    unsigned k = outer;
    for (; k > 0; k--) {
      to += (uint64_t)b->to[k - 1];
      from += (uint64_t)b->from[k - 1];
      if (++at[k - 1] < b->shape[k - 1])
        break;
      to -= (uint64_t)(b->shape[k - 1] * b->to[k - 1]);
      from -= (uint64_t)(b->shape[k - 1] * b->from[k - 1]);
      at[k - 1] = 0;
    }
    if (!k)
      return RT_OK;
  }
}

/* To the host, all that lies between in one staged copy is as fast, unless it is much more. The
 * other ways would have to read first what lies between, to write it back. (Measured on an H200:
 * 1.3 times at twice the bytes; 31 against 5000 us on the device.) */
static int pays(const Box *b, const RtBoxes *x) {
  enum { MUCH = 4, SMALL = 1 << 20 };
  int64_t bytes = b->width, span = b->width;
  for (unsigned k = 0; k < b->ndim; k++) {
    bytes *= b->shape[k];
    span += (b->shape[k] - 1) * b->from[k];
  }
  return x->way != RT_BOX_TO_HOST || span < SMALL || span / MUCH >= bytes;
}

RtStatus rt_copy_boxes(RtDevice *d, const RtBoxes *x, RtStream *stream, int *done) {
  Box b;
  *done = 0;
  if (rt_is_host(d) || rt_capture || !box_of(&b, x) || !pays(&b, x))
    return RT_OK;
  unsigned axes = axes_of_copy(&b);
  int64_t copies = 1;
  for (unsigned k = 0; k + axes < b.ndim; k++)
    if ((copies *= b.shape[k]) > MOST_COPIES)
      return RT_OK;
  ENTER(d);
  TRY(rt_stream_check(d, stream));
  *done = 1;
  return copy_all(&b, x, axes, stream);
}
