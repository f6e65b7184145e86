/* Fuzz: SSA as text, as the tests of passes write it. It is refused, or gives functions that can be printed.
 *
 * Input: the text. */
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/unit/support/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Cx *cx = size < 1 << 14 ? cx_new() : NULL;
  if (!cx)
    return 0;
  if (CX_TRY(cx)) {
    Program *p = ir_parse(cx, arena_printf(&cx->arena, "%.*s", (int)size, (const char *)data));
    for (uint32_t k = 0; k < p->fns.len; k++)
      ir_verify(cx, p->fns.data[k], "parse");
    Buf out;
    buf_init(&out, &cx->arena);
    for (uint32_t k = 0; k < p->fns.len; k++)
      ir_print_fn(cx, &out, p->fns.data[k], true);
  }
  cx_free(cx);
  return 0;
}
