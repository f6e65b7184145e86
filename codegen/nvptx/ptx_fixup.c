/* PTX fix-up, line by line over the assembly that LLVM printed: instructions that ptxas 13.0, and
 * the driver's compiler of the same age, miscompile. tests/api/language/test_miscompiled.py has a
 * kernel for each. LLVM produces these instructions from many forms of IR, so they are replaced
 * last, in the text. A line that no rule matches stays as it is.
 *
 * neg.s16, abs: ptxas takes the result to be in range, so that -(-32768) widened to 64 bits is
 * +32768, and abs of the smallest integer is not negative; by the PTX manual both wrap. Plain
 * instructions that compute the same are compiled correctly.
 *
 * max and min of three numbers, of which the second is a negation: max(max(x, -y), z) becomes one
 * instruction, which has no room for the sign, and takes y. With the negation first it is right; of
 * two negations a selection is. The unsigned ones are right.
 *
 * max and min of 16 bits, compared for equality with one of the operands: the comparison is
 * inverted. 32 bits are right.
 *
 * not.b64 of a register that is known to be 0 from a branch, used by an or: the result is taken to
 * be 0. xor with -1 is compiled correctly. not.b32 of such a register is taken to be 0 in every
 * use, and so is the xor; -1 - x is not. LLVM's passes fold that 0, so optimised code needs no
 * change.
 *
 * selp.f32 of -1.0 and -0.0, and of 1.0 and -0.0 by a comparison of floats: ptxas selects an
 * integer and converts it, or takes the comparison's own 1.0 or 0.0, so that -0.0 becomes 0.0.
 * selp.b32 of the bits is compiled correctly. (selp.f64 is right.)
 *
 * neg of a float, and its product with -1, where the float was converted from an integer or bool
 * that is 0 or 1: the negation is folded into the conversion, and -0.0 becomes 0.0. In code that
 * LLVM has not optimised, every such negation becomes an xor of the sign bit. In optimised code a
 * negation is mostly free, as an operand modifier, so it is replaced only where the operand was
 * defined by a conversion of an integer or by selp. Of a selp both constants are negated, as bits,
 * if its register and its condition have no other definition. ptxas 13.0 compiles these cases
 * correctly; the driver's compiler was seen to lose their sign.
 *
 * st.b8, st.b16 and st.b32 of a wider register: by the PTX manual the low bits are stored. If the
 * register was defined by a floating-point instruction, they are converted instead: the bytes of
 * 37.0 become 37, 0, …. Unaligned fields of records are stored that way. In modules with floats the
 * low bits are extracted by an instruction of their own. */
#include "codegen/nvptx/ptx_fixup.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* In which code a rule applies. */
typedef enum Where {
  ALL,
  UNOPTIMISED, /* only if LLVM's passes have not run */
  NEGATIONS,   /* the same; in optimised code where rewrite_negation finds it necessary */
} Where;

typedef struct Rule {
  const char *op;      /* as LLVM prints it, between two tabs */
  const char *instead; /* the replacement: D is the destination, S and T are the sources */
  int sources;
  const char *last; /* a constant operand after them; NULL: none */
  Where in;
} Rule;

#define WIDE(op, sign)                                                                             \
  "\t{ .reg .b16 %x, %y; .reg .b32 %a, %b;\n\tmov.b16 \t%x, S;\n\tmov.b16 \t%y, T;\n\tcvt." sign   \
  "32." sign "16 \t%a, %x;\n\tcvt." sign "32." sign "16 \t%b, %y;\n\t" op "." sign                 \
  "32 \t%a, %a, %b;\n\tcvt.u16.u32 \tD, %a; }"

static const Rule rules[] = {
    {"\tnot.b16 \t", "\tsub.s16 \tD, -1, S;", 1, NULL, UNOPTIMISED},
    {"\tnot.b32 \t", "\tsub.s32 \tD, -1, S;", 1, NULL, UNOPTIMISED},
    {"\tnot.b64 \t", "\txor.b64 \tD, S, -1;", 1, NULL, ALL},
    {"\tneg.s16 \t", "\tnot.b16 \tD, S;\n\tadd.s16 \tD, D, 1;", 1, NULL, ALL},
    {"\tabs.s16 \t",
     "\t{ .reg .pred %below; .reg .b16 %minus;\n"
     "\tsetp.lt.s16 \t%below, S, 0;\n\tnot.b16 \t%minus, S;\n\tadd.s16 \t%minus, %minus, 1;\n"
     "\tselp.b16 \tD, %minus, S, %below; }",
     1, NULL, ALL},
    {"\tabs.s32 \t",
     "\t{ .reg .b32 %minus;\n\tsub.s32 \t%minus, 0, S;\n\tmax.s32 \tD, %minus, S; }", 1, NULL, ALL},
    {"\tabs.s64 \t",
     "\t{ .reg .b64 %sign, %flipped;\n\tshr.s64 \t%sign, S, 63;\n\txor.b64 \t%flipped, S, %sign;\n"
     "\tsub.s64 \tD, %flipped, %sign; }",
     1, NULL, ALL},
    {"\tmax.s16 \t", WIDE("max", "s"), 2, NULL, ALL},
    {"\tmax.u16 \t", WIDE("max", "u"), 2, NULL, ALL},
    {"\tmin.s16 \t", WIDE("min", "s"), 2, NULL, ALL},
    {"\tmin.u16 \t", WIDE("min", "u"), 2, NULL, ALL},
    {"\tneg.f16 \t", "\txor.b16 \tD, S, 0x8000;", 1, NULL, NEGATIONS},
    {"\tneg.bf16 \t", "\txor.b16 \tD, S, 0x8000;", 1, NULL, NEGATIONS},
    {"\tneg.f32 \t", "\txor.b32 \tD, S, 0x80000000;", 1, NULL, NEGATIONS},
    {"\tneg.f64 \t", "\txor.b64 \tD, S, 0x8000000000000000;", 1, NULL, NEGATIONS},
    {"\tmul.rn.f32 \t", "\txor.b32 \tD, S, 0x80000000;", 1, ", 0fBF800000", NEGATIONS},
    {"\tmul.rn.f64 \t", "\txor.b64 \tD, S, 0x8000000000000000;", 1, ", 0dBFF0000000000000",
     NEGATIONS},
};
#undef WIDE

enum { RULES = sizeof rules / sizeof *rules };

static size_t operand_length(const char *s) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '%' || s[n] == '_' || s[n] == '-')
    n++;
  return n;
}

/* Writes the replacement for "OP D, S;" or "OP D, S, T;", and returns the text after that; NULL if
 * the line has another form. */
static const char *rewrite(Buf *out, const Rule *rule, const char *line) {
  const char *operand[3], *at = line + strlen(rule->op);
  size_t length[3];
  assert(rule->sources == 1 || rule->sources == 2);
  for (int k = 0; k <= rule->sources; k++) {
    operand[k] = at;
    length[k] = operand_length(at);
    const char *then = k < rule->sources ? ", " : rule->last ? rule->last : ";";
    if (!length[k] || strncmp(at + length[k], then, strlen(then)) != 0)
      return NULL;
    at += length[k] + strlen(then);
  }
  if (rule->last && *at++ != ';')
    return NULL;
  for (const char *c = rule->instead; *c; c++) {
    int k = *c == 'D' ? 0 : *c == 'S' ? 1 : *c == 'T' ? 2 : -1;
    if (k >= 0)
      buf_add(out, operand[k], length[k]);
    else
      buf_putc(out, *c);
  }
  return at;
}

/* --- narrow stores --- */

typedef struct Store {
  const char *type;    /* as LLVM prints it, before the address */
  const char *source;  /* a class of registers that is wider */
  const char *instead; /* the replacement: S is the source, A the store up to its source */
} Store;

static const Store stores[] = {
    {".b8 \t[", "%rs", "\t{ .reg .b16 %narrow; and.b16 \t%narrow, S, 255;\nA%narrow; }"},
    {".b8 \t[", "%rd", "\t{ .reg .b16 %narrow; cvt.u16.u64 \t%narrow, S;\nA%narrow; }"},
    {".b8 \t[", "%r", "\t{ .reg .b16 %narrow; cvt.u16.u32 \t%narrow, S;\nA%narrow; }"},
    {".b16 \t[", "%rd", "\t{ .reg .b16 %narrow; cvt.u16.u64 \t%narrow, S;\nA%narrow; }"},
    {".b16 \t[", "%r", "\t{ .reg .b16 %narrow; cvt.u16.u32 \t%narrow, S;\nA%narrow; }"},
    {".b32 \t[", "%rd", "\t{ .reg .b32 %narrow; cvt.u32.u64 \t%narrow, S;\nA%narrow; }"},
};

/* Does s begin with a register of the class? ("%r" is also the beginning of "%rd" and "%rs".) */
static bool is_register(const char *s, const char *class) {
  size_t n = strlen(class);
  return strncmp(s, class, n) == 0 && isdigit((unsigned char)s[n]);
}

/* line: "\tst.….b8 \t[address], SOURCE;". The row that applies, and the position of the source;
 * NULL if none does. */
static const Store *find_store(const char *line, size_t n, bool halves, const char **source) {
  const char *comma = memmem(line, n, "], ", 3);
  for (size_t k = 0; comma && k < sizeof stores / sizeof *stores; k++)
    if (memmem(line, (size_t)(comma - line), stores[k].type, strlen(stores[k].type)) &&
        is_register(comma + 3, stores[k].source) && (halves || stores[k].source[2] != 's') &&
        comma[3 + operand_length(comma + 3)] == ';') {
      *source = comma + 3;
      return &stores[k];
    }
  return NULL;
}

static void rewrite_store(Buf *out, const Store *store, const char *line, const char *source) {
  for (const char *c = store->instead; *c; c++) {
    if (*c == 'S')
      buf_add(out, source, operand_length(source));
    else if (*c == 'A')
      buf_add(out, line, (size_t)(source - line));
    else
      buf_putc(out, *c);
  }
}

/* --- negations of floats that were converted from integers --- */

enum { CLASSES = 4 };
static const char *const classes[CLASSES] = {"%rs", "%rd", "%r", "%p"};

/* The definitions of a register. PTX is not in SSA form: a phi is several of them. */
typedef struct Defs {
  const char *line; /* a cvt or selp that defines it; NULL: none does */
  unsigned times;   /* an upper bound of the number of definitions */
  bool negated;     /* one of them is a negation of 32 bits, or a copy of one */
} Defs;

/* The registers of the current function, by class and number. */
typedef struct DefTable {
  Arena *arena;
  size_t most; /* an upper bound of register numbers: the size of the module's text */
  Defs *defs[CLASSES];
  size_t size[CLASSES];
} DefTable;

/* The class and number of the register with which s begins; -1 if it is none. */
static int register_of(const char *s, size_t *number) {
  for (int c = 0; c < CLASSES; c++)
    if (is_register(s, classes[c])) {
      *number = strtoul(s + strlen(classes[c]), NULL, 10);
      return c;
    }
  return -1;
}

/* Is it a selp, or a conversion of an integer to a float? */
static bool makes_float_of_integer(const char *line) {
  static const char *const floats[] = {"f16.", "bf16.", "f32.", "f64."};
  if (strncmp(line, "\tselp.", 6) == 0)
    return true;
  if (strncmp(line, "\tcvt.rn.", 8) != 0)
    return false;
  for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
    size_t n = strlen(floats[k]);
    if (strncmp(line + 8, floats[k], n) == 0)
      return line[8 + n] == 'u' || line[8 + n] == 's';
  }
  return false;
}

/* Records a definition of the register with which s begins. line: the instruction, if it is a cvt
 * or selp. */
static void record(DefTable *m, const char *s, const char *line) {
  size_t number;
  int c = register_of(s, &number);
  if (c < 0 || number > m->most)
    return;
  if (number >= m->size[c]) {
    size_t size = number < 32 ? 64 : 2 * number;
    Defs *grown = ARENA_ARRAY(m->arena, Defs, size);
    memset(grown, 0, size * sizeof *grown);
    if (m->size[c])
      memcpy(grown, m->defs[c], m->size[c] * sizeof *grown);
    m->defs[c] = grown;
    m->size[c] = size;
  }
  assert(number < m->size[c]);
  Defs *d = &m->defs[c][number];
  d->times++;
  d->line = line ? line : d->line;
}

/* An instruction defines its first operand, and perhaps a second one after a bar. Of operand lists,
 * of several instructions in a line and of inline assembly, which has no tab between operation and
 * operands, every register counts as defined. */
static void record_line(DefTable *m, const char *line, size_t n) {
  const char *to = memchr(line + 1, '\t', n - 1);
  if (!to || memchr(line, '{', n)) {
    for (size_t k = 0; k < n; k++)
      if (line[k] == '%')
        record(m, line + k, NULL);
  } else {
    record(m, to + 1, makes_float_of_integer(line) ? line : NULL);
    const char *second = to + 1 + operand_length(to + 1);
    if (*second == '|')
      record(m, second + 1, NULL);
  }
}

/* Functions, like all directives outside of functions, begin with a dot in the first column. */
static bool begins_function(const char *line) { return *line == '.'; }

/* Blocks need not be in the order of execution, so definitions are collected before the function's
 * first line is rewritten. */
static void find_defs(DefTable *m, const char *function) {
  for (int c = 0; c < CLASSES; c++)
    if (m->size[c])
      memset(m->defs[c], 0, m->size[c] * sizeof *m->defs[c]);
  const char *at = function;
  do {
    size_t n = strcspn(at, "\n");
    if (*at == '\t')
      record_line(m, at, n);
    at += n + (at[n] == '\n');
  } while (*at && !begins_function(at));
}

static Defs defs_of(const DefTable *m, const char *s) {
  size_t number;
  int c = register_of(s, &number);
  return c >= 0 && number < m->size[c] ? m->defs[c][number] : (Defs){0};
}

/* --- extremes of negations --- */

/* Does the line define its first operand as a negation, as far as is known by now? */
static bool makes_negation(const DefTable *m, const char *line) {
  static const char neg[] = "\tneg.s32 \t", copy[] = "\tmov.b32 \t";
  if (strncmp(line, neg, sizeof neg - 1) == 0)
    return true;
  if (strncmp(line, copy, sizeof copy - 1) != 0)
    return false;
  const char *from = strchr(line, ',');
  return from && defs_of(m, from + 2).negated;
}

/* Copies may stand in front of what they copy. */
static void find_negations(DefTable *m, const char *function) {
  bool changed;
  do {
    changed = false;
    const char *at = function;
    do {
      size_t n = strcspn(at, "\n"), number;
      if (*at == '\t' && makes_negation(m, at)) {
        int c = register_of(at + strlen("\tneg.s32 \t"), &number);
        if (c >= 0 && number < m->size[c] && !m->defs[c][number].negated)
          changed = m->defs[c][number].negated = true;
      }
      at += n + (at[n] == '\n');
    } while (*at && !begins_function(at));
  } while (changed);
}

typedef struct Extreme {
  const char *op, *turned, *selected; /* with the operands exchanged; as a selection */
} Extreme;

#define SELECTED(than)                                                                             \
  "\t{ .reg .pred %first;\n\tsetp." than ".s32 \t%first, S, T;\n\tselp.b32 \tD, S, T, %first; }"
static const Extreme extremes[] = {
    {"\tmax.s32 \t", "\tmax.s32 \tD, T, S;", SELECTED("gt")},
    {"\tmin.s32 \t", "\tmin.s32 \tD, T, S;", SELECTED("lt")},
};
#undef SELECTED
static const char absolute[] = "\tabs.s32 \t";

/* line: a maximum, a minimum or an absolute value. Returns the text after it, or NULL if it has no
 * negation where ptxas would lose it. */
static const char *rewrite_extreme(Buf *out, const char *line, const DefTable *m) {
  for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++) {
    const Extreme *e = &extremes[k];
    if (strncmp(line, e->op, strlen(e->op)) != 0)
      continue;
    const char *first = line + strlen(e->op) + operand_length(line + strlen(e->op)) + 2,
               *second = first + operand_length(first) + 2;
    if (!defs_of(m, second).negated)
      return NULL;
    Rule rule = {e->op, defs_of(m, first).negated ? e->selected : e->turned, 2, NULL, ALL};
    return rewrite(out, &rule, line);
  }
  const char *of = line + strlen(absolute) + operand_length(line + strlen(absolute)) + 2;
  if (!defs_of(m, of).negated)
    return NULL;
  const Rule rule = {absolute,
                     "\t{ .reg .pred %below; .reg .b32 %minus;\n\tsetp.lt.s32 \t%below, S, 0;\n"
                     "\tsub.s32 \t%minus, 0, S;\n\tselp.b32 \tD, %minus, S, %below; }",
                     1, NULL, ALL};
  return rewrite(out, &rule, line);
}

static bool is_extreme(const char *line) {
  bool is = strncmp(line, absolute, sizeof absolute - 1) == 0;
  for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++)
    is |= strncmp(line, extremes[k].op, strlen(extremes[k].op)) == 0;
  return is;
}

/* d: of a register that is defined by a selp, "\tselp.f32 \tR, A, B, P;". May another selp by P
 * recompute it? Yes if R has no other definition and P has at most one, which dominates this selp,
 * so that P still has the value by which R was selected. */
static bool can_be_selected_again(const DefTable *m, Defs d) {
  const char *condition = strchr(d.line, ';');
  while (condition && condition > d.line && condition[-1] != ' ')
    condition--;
  return condition && d.times == 1 && defs_of(m, condition).times <= 1;
}

/* Writes "0f3F800000" as "0x3F800000", or negated as "0xBF800000"; false if s is no such
 * constant. */
static bool put_bits(Buf *out, const char *s, bool negated) {
  static const char hex[] = "0123456789ABCDEF";
  const char *digit = s[0] == '0' && (s[1] == 'f' || s[1] == 'd') && s[2] ? strchr(hex, s[2])
                                                                          : NULL;
  if (!digit)
    return false;
  buf_puts(out, "0x");
  buf_putc(out, hex[(digit - hex) ^ (negated ? 8 : 0)]);
  buf_add(out, s + 3, operand_length(s) - 3);
  return true;
}

/* selp: "\tselp.f32 \tR, 0f…, 0f…, P;". Writes it as a selp of bits, with the destination at `to`.
 * False if it has other operands; out is unchanged then. */
static bool put_selp(Buf *out, const char *selp, const char *to, bool negated) {
  size_t before = out->len, op = strlen("\tselp.f32 \t");
  buf_puts(out, strncmp(selp, "\tselp.f64", 9) == 0 ? "\tselp.b64 \t" : "\tselp.b32 \t");
  buf_add(out, to, operand_length(to));
  const char *at = selp + op;
  for (int k = 0; k < 2; k++) {
    at += operand_length(at) + 2;
    buf_puts(out, ", ");
    if (!put_bits(out, at, negated)) {
      out->len = before;
      return false;
    }
  }
  at += operand_length(at);
  buf_add(out, at, strcspn(at, ";") + 1);
  return true;
}

/* line: a selp of floats. Returns the text after it, or NULL if it stays. */
static const char *rewrite_selp(Buf *out, const char *line, size_t n) {
  bool fits = memmem(line, n, ", 0f80000000", 12) &&
              put_selp(out, line, line + strlen("\tselp.f32 \t"), false);
  return fits ? line + strcspn(line, ";") + 1 : NULL;
}

/* line: a negation that the rule would replace. Returns the text after it, or NULL if it stays,
 * since its operand has other definitions. */
static const char *rewrite_negation(Buf *out, const Rule *rule, const char *line,
                                    const DefTable *m) {
  const char *to = line + strlen(rule->op), *comma = to + operand_length(to);
  Defs d = strncmp(comma, ", ", 2) == 0 ? defs_of(m, comma + 2) : (Defs){0};
  if (!d.line)
    return NULL;
  const char *end = comma + 2 + operand_length(comma + 2);
  bool again = *end == ';' && d.line[1] == 's' && can_be_selected_again(m, d);
  return again && put_selp(out, d.line, to, true) ? end + 1 : rewrite(out, rule, line);
}

/* --- the pass --- */

/* Writes the replacement of the line, and returns the text after it; NULL if the line stays. */
static const char *fix_line(Buf *out, const char *line, size_t n, bool floats, bool halves,
                            const DefTable *defs, const DefTable *negations) {
  const char *after = negations && is_extreme(line) ? rewrite_extreme(out, line, negations) : NULL;
  if (after)
    return after;
  for (int k = 0; k < RULES; k++)
    if (strncmp(line, rules[k].op, strlen(rules[k].op)) == 0) {
      if (rules[k].in == ALL || !defs)
        return rewrite(out, &rules[k], line);
      if (rules[k].in == UNOPTIMISED)
        return NULL;
      return rules[k].last ? NULL : rewrite_negation(out, &rules[k], line, defs);
    }
  if (strncmp(line, "\t{ // callseq", 13) == 0 || strncmp(line, "\t} // callseq", 13) == 0) {
    /* the number depends on what the target machine has emitted before; without it equal kernels
     * have equal text */
    buf_add(out, line, 2);
    return line + n;
  }
  if (strncmp(line, "\tselp.f32 \t", 11) == 0)
    return rewrite_selp(out, line, n);
  const char *source;
  const Store *store =
      floats && strncmp(line, "\tst.", 4) == 0 ? find_store(line, n, halves, &source) : NULL;
  if (!store)
    return NULL;
  rewrite_store(out, store, line, source);
  return source + operand_length(source) + 1;
}

const char *cg_ptx_fixup(Arena *arena, const char *ptx, size_t *size, bool optimised) {
  bool halves = strstr(ptx, "f16"); /* no other float type is in 16-bit registers */
  bool floats = halves || strstr(ptx, ".f32") || strstr(ptx, ".f64");
  Buf out, line;
  buf_init(&out, arena);
  buf_init(&line, arena);
  DefTable defs = {.arena = arena, .most = *size};
  bool integers = strstr(ptx, "\tneg.s32"),
       negates = integers || (optimised && strstr(ptx, "\tneg."));
  const char *kept = ptx;
  for (const char *at = ptx; *at;) {
    size_t n = strcspn(at, "\n");
    line.len = 0;
    if (negates && begins_function(at))
      find_defs(&defs, at);
    if (integers && begins_function(at))
      find_negations(&defs, at);
    const char *rest = *at == '\t' ? fix_line(&line, at, n, floats, halves,
                                              optimised ? &defs : NULL, integers ? &defs : NULL)
                                   : NULL;
    if (rest) {
      buf_add(&out, kept, (size_t)(at - kept));
      buf_add(&out, line.text, line.len);
      kept = rest;
    }
    at += n + (at[n] == '\n');
  }
  if (kept == ptx)
    return ptx;
  buf_puts(&out, kept);
  *size = out.len;
  return out.text;
}
