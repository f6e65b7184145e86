/* PTX fix-up, line by line over the assembly that LLVM printed.
 *
 * neg.s16 and abs.s16: ptxas (13.0, and the driver's compiler of the same age) takes the result to be in range, so that
 * -(-32768) widened to 64 bits comes out as +32768 where PTX says that it wraps. ~x + 1 is compiled as written.
 * LLVM makes these two out of many things (0 - x, x * -1, a narrowed 32-bit negation), so the place to change them is the end. */
#include "codegen/ptx_fixup.h"

#include <ctype.h>
#include <string.h>

typedef struct Rule {
  const char *op;      /* as LLVM prints it, between two tabs */
  const char *instead; /* D stands for the destination, S for the source */
} Rule;

static const Rule rules[] = {
  {"\tneg.s16 \t", "\tnot.b16 \tD, S;\n\tadd.s16 \tD, D, 1;"},
  {"\tabs.s16 \t",
   "\t{ .reg .pred %below; .reg .b16 %minus;\n"
   "\tsetp.lt.s16 \t%below, S, 0;\n\tnot.b16 \t%minus, S;\n\tadd.s16 \t%minus, %minus, 1;\n"
   "\tselp.b16 \tD, %minus, S, %below; }"},
};

enum { RULES = sizeof rules / sizeof *rules };

/* The first line from text on that a rule is for. */
static const char *find(const char *text, const Rule **rule) {
  const char *first = NULL;
  for (int k = 0; k < RULES; k++) {
    const char *at = strstr(text, rules[k].op);
    if (at && (!first || at < first)) {
      first = at;
      *rule = &rules[k];
    }
  }
  return first;
}

static size_t operand_length(const char *s) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '%' || s[n] == '_' || s[n] == '-')
    n++;
  return n;
}

/* Writes the rule's text for "OP D, S;" and returns what follows it; NULL if the line has another form. */
static const char *rewrite(Buf *out, const Rule *rule, const char *line) {
  const char *d = line + strlen(rule->op);
  size_t nd = operand_length(d);
  const char *s = d + nd + 2;
  if (!nd || strncmp(d + nd, ", ", 2))
    return NULL;
  size_t ns = operand_length(s);
  if (!ns || s[ns] != ';')
    return NULL;
  for (const char *c = rule->instead; *c; c++) {
    if (*c == 'D')
      buf_add(out, d, nd);
    else if (*c == 'S')
      buf_add(out, s, ns);
    else
      buf_putc(out, *c);
  }
  return s + ns + 1;
}

const char *cg_ptx_fixup(Arena *arena, const char *ptx, size_t *size) {
  const Rule *rule = NULL;
  const char *at = find(ptx, &rule);
  if (!at)
    return ptx;
  Buf out;
  buf_init(&out, arena);
  for (; at; at = find(ptx, &rule)) {
    buf_add(&out, ptx, (size_t)(at - ptx));
    const char *rest = rewrite(&out, rule, at);
    ptx = rest ? rest : at + strlen(rule->op);
    if (!rest)
      buf_puts(&out, rule->op);
  }
  buf_puts(&out, ptx);
  *size = out.len;
  return out.text;
}
