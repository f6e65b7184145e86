/* Fuzz: signatures. A text is refused with a reason, or its types print as texts that give the same types again.
 *
 * Input: the text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "typeinfer/infer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(Cx *cx, const Signature *sig) {
  Buf out;
  buf_init(&out, &cx->arena);
  for (uint32_t k = 0; k < sig->nargs; k++) {
    ty_put_type(cx, &out, sig->args[k]);
    buf_puts(&out, ", "); /* behind the last one too: "()" alone is no argument */
  }
  Signature again = ty_signature(cx, out.text ? out.text : "");
  for (uint32_t k = 0; k < sig->nargs; k++)
    if (again.nargs != sig->nargs || again.args[k] != sig->args[k]) {
      fprintf(stderr, "argument %u of %s\n", k, out.text);
      abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Cx *cx = size < 1 << 14 ? cx_new() : NULL;
  if (!cx)
    return 0;
  if (CX_TRY(cx)) {
    char *text = arena_printf(&cx->arena, "%.*s", (int)size, (const char *)data);
    Signature sig = ty_signature(cx, text);
    write_again(cx, &sig);
  } else if (cx->diag.id != ERR_SIGNATURE && cx->diag.id != ERR_MEMORY) {
    fprintf(stderr, "%s\n", cx->diag.message);
    abort();
  }
  cx_free(cx);
  return 0;
}
