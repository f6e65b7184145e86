/* Flatten: the pass. Finds the strongly connected components of the call graph, has frames.c and
 * machine.c make a machine of each, and replaces the calls from outside. See flatten.h.
 *
 * Tail calls have become loops before (tailcallelim), and what may be inlined is inlined; direct
 * recursion that remains and mutual recursion are treated alike. Components are rewritten callers
 * first, so that a machine which calls another passes on its own stack. A function that other
 * modules can call keeps its signature, and becomes a call of the machine. */
#include "codegen/flatten/flatten.h"

#include <assert.h>
#include <llvm-c/DebugInfo.h>

#include "codegen/nvptx/nvptx.h"

/* --- components of the call graph (Tarjan's algorithm): callees come before their callers --- */

typedef struct Node {
  LLVMValueRef fn;
  uint32_t number, low; /* 0: not visited yet */
  bool open;            /* on the stack */
  bool calls_itself;
} Node;

typedef struct Component {
  LLVMValueRef *fns;
  uint32_t n;
} Component;

typedef struct Search {
  Cg *cg;
  Arena *arena;
  VEC(Node) nodes;
  ValueMap numbers;
  VEC(uint32_t) stack;
  VEC(Component) found; /* those with a cycle */
  uint32_t visited;
} Search;

static void close_component(Search *s, uint32_t head) {
  uint32_t from = s->stack.len;
  while (s->stack.data[--from] != head)
    continue;
  uint32_t n = s->stack.len - from;
  LLVMValueRef *fns = ARENA_ARRAY(s->arena, LLVMValueRef, n);
  for (uint32_t k = 0; k < n; k++) {
    Node *node = &s->nodes.data[s->stack.data[from + k]];
    node->open = false;
    fns[k] = node->fn;
  }
  s->stack.len = from;
  if (n > 1 || s->nodes.data[head].calls_itself)
    VEC_PUSH(s->arena, &s->found, ((Component){fns, n}));
}

static void visit(Search *s, uint32_t k);

static void visit_call(Search *s, uint32_t from, LLVMValueRef i) {
  uint32_t to = LLVMIsACallInst(i) ? valuemap_get(&s->numbers, LLVMGetCalledValue(i))
                                   : VALUEMAP_NONE;
  if (to == VALUEMAP_NONE)
    return;
  if (!s->nodes.data[to].number)
    visit(s, to);
  Node *caller = &s->nodes.data[from], *callee = &s->nodes.data[to];
  caller->calls_itself |= from == to;
  if (callee->open && callee->low < caller->low)
    caller->low = callee->low;
}

/* The recursion is as deep as the call graph, which typing limits. */
static void visit(Search *s, uint32_t k) {
  Node *node = &s->nodes.data[k];
  node->number = node->low = ++s->visited;
  node->open = true;
  VEC_PUSH(s->arena, &s->stack, k);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(node->fn); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      visit_call(s, k, i);
  if (node->low == node->number)
    close_component(s, k);
}

static void search(Search *s) {
  for (LLVMValueRef f = LLVMGetFirstFunction(s->cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) {
      valuemap_set(&s->numbers, f, s->nodes.len);
      VEC_PUSH(s->arena, &s->nodes, (Node){.fn = f});
    }
  for (uint32_t k = 0; k < s->nodes.len; k++)
    if (!s->nodes.data[k].number)
      visit(s, k);
}

/* --- calls from outside --- */

/* The stack that a function passes to the machines it calls. */
typedef struct Stack {
  LLVMValueRef fn, from, room;
} Stack;

typedef struct Flattener {
  Cg *cg;
  Arena *arena;
  LLVMBuilderRef b;
  VEC(FlMachine *) machines;
  VEC(Stack) stacks;
} Flattener;

/* The array of a function that is no machine; it is made at the first call. The builder's position
 * stays. */
static Stack own_stack(Flattener *x, LLVMValueRef fn) {
  for (uint32_t k = 0; k < x->stacks.len; k++)
    if (x->stacks.data[k].fn == fn)
      return x->stacks.data[k];
  const CgTypes *t = &x->cg->t;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(x->b), entry = LLVMGetEntryBasicBlock(fn);
  LLVMValueRef first = LLVMGetFirstInstruction(entry);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(x->cg->context);
  if (first)
    LLVMPositionBuilderBefore(b, first);
  else
    LLVMPositionBuilderAtEnd(b, here);
  LLVMValueRef array = LLVMBuildAlloca(b, LLVMArrayType2(t->i8, fl_stack_bytes(x->cg)), "stack");
  LLVMSetAlignment(array, 16);
  LLVMValueRef from = l_addrspacecast(b, array, fl_local(x->cg));
  LLVMDisposeBuilder(b);
  if (LLVMGetLinkage(fn) == LLVMInternalLinkage) /* its array goes when it returns */
    cg_attribute(x->cg, fn, L_FUNCTION, "noinline", 0);
  Stack s = {fn, from, l_int(t->i32, fl_stack_bytes(x->cg))};
  VEC_PUSH(x->arena, &x->stacks, s);
  return s;
}

/* The free part of the stack at the builder's position in fn: of a machine what is above its own
 * frames, else the function's own array. */
static Stack stack_of(Flattener *x, LLVMValueRef fn) {
  for (uint32_t k = 0; k < x->machines.len; k++) {
    FlMachine *m = x->machines.data[k];
    if (m->fn != fn)
      continue;
    LLVMValueRef top = fl_top(m);
    return (Stack){fn, fl_address(m, top), l_sub_nuw(x->b, m->room, top)};
  }
  return own_stack(x, fn);
}

/* At the builder's position in fn. */
static LLVMValueRef call_machine(Flattener *x, const FlMachine *m, const FlMember *f,
                                 LLVMValueRef fn, LLVMValueRef const *args) {
  assert(f->entered && f->state);
  Stack s = stack_of(x, fn);
  unsigned n = LLVMCountParams(m->fn);
  LLVMValueRef *all = ARENA_ARRAY(x->arena, LLVMValueRef, n);
  for (unsigned k = 0; k < n; k++)
    all[k] = LLVMGetPoison(LLVMTypeOf(LLVMGetParam(m->fn, k)));
  all[FL_PARAM_STACK] = s.from, all[FL_PARAM_ROOM] = s.room;
  all[FL_PARAM_ENTRY] = l_int(x->cg->t.i32, f->state);
  bool context = fl_has_context(x->cg);
  if (context)
    all[FL_PARAM_CONTEXT] = args[0];
  for (unsigned k = context; k < f->nargs; k++)
    all[f->first + k] = args[k];
  LLVMValueRef call = l_call_type(x->b, m->type, m->fn, all, n);
  return f->result ? l_extract_value(x->b, call, f->field) : NULL;
}

static void replace_call(Flattener *x, const FlMachine *m, const FlMember *f, LLVMValueRef call) {
  LLVMValueRef *args = ARENA_ARRAY(x->arena, LLVMValueRef, f->nargs + 1);
  for (unsigned k = 0; k < f->nargs; k++)
    args[k] = LLVMGetOperand(call, k);
  LLVMPositionBuilderBefore(x->b, call);
  LLVMSetCurrentDebugLocation2(x->b, LLVMInstructionGetDebugLoc(call));
  LLVMValueRef v = call_machine(x, m, f, LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)),
                                args);
  LLVMSetCurrentDebugLocation2(x->b, NULL);
  if (v)
    LLVMReplaceAllUsesWith(call, v);
  LLVMInstructionEraseFromParent(call);
}

/* A function that other modules call keeps its signature. */
static void call_from_outside(Flattener *x, const FlMachine *m, const FlMember *f) {
  LLVMValueRef *args = ARENA_ARRAY(x->arena, LLVMValueRef, f->nargs + 1);
  for (unsigned k = 0; k < f->nargs; k++)
    args[k] = LLVMGetParam(f->fn, k);
  LLVMPositionBuilderAtEnd(x->b, LLVMAppendBasicBlockInContext(x->cg->context, f->fn, "entry"));
  LLVMValueRef v = call_machine(x, m, f, f->fn, args);
  if (v)
    l_ret(x->b, v);
  else
    l_ret_void(x->b);
}

static bool is_internal(const FlMember *f) { return LLVMGetLinkage(f->fn) == LLVMInternalLinkage; }

static bool is_member(const FlMachine *m, LLVMValueRef caller) {
  for (uint32_t k = 0; k < m->members.len; k++)
    if (m->members.data[k]->fn == caller)
      return true;
  return false;
}

static bool is_entered(const FlMachine *m, const FlMember *f) {
  for (LLVMUseRef u = LLVMGetFirstUse(f->fn); u; u = LLVMGetNextUse(u))
    if (!is_member(m, LLVMGetBasicBlockParent(LLVMGetInstructionParent(LLVMGetUser(u)))))
      return true;
  return !is_internal(f);
}

static void flatten(Flattener *x, const Component *c) {
  FlMachine *m = ARENA_ARRAY(x->arena, FlMachine, 1);
  assert(c->n > 0);
  *m = (FlMachine){.cg = x->cg, .arena = x->arena, .b = x->b};
  for (uint32_t k = 0; k < c->n; k++) {
    FlMember *f = ARENA_ARRAY(x->arena, FlMember, 1);
    *f = (FlMember){.fn = c->fns[k],
                    .result_type = LLVMGetReturnType(LLVMGlobalGetValueType(c->fns[k]))};
    VEC_PUSH(x->arena, &m->members, f);
  }
  for (uint32_t k = 0; k < m->members.len; k++) {
    FlMember *f = m->members.data[k];
    f->entered = is_entered(m, f);
  }
  fl_lay_out(m);
  fl_write(m);
  VEC_PUSH(x->arena, &x->machines, m);
  for (uint32_t k = 0; k < m->members.len; k++) {
    FlMember *f = m->members.data[k];
    for (LLVMUseRef u; (u = LLVMGetFirstUse(f->fn));)
      replace_call(x, m, f, LLVMGetUser(u));
    if (is_internal(f))
      LLVMDeleteFunction(f->fn);
    else
      call_from_outside(x, m, f);
  }
}

/* --- the pass --- */

static bool has_recursion(const Cg *cg) {
  for (uint32_t k = 0; k < cg->program->fns.len; k++)
    if (cg->program->fns.data[k]->recursive)
      return true;
  return false;
}

/* Tarjan's algorithm finds callees first; the components are rewritten callers first. */
void cg_flatten_recursion(Cg *cg) {
  if (!has_recursion(cg))
    return;
  cg_run_passes(cg,
                cg->options.opt
                    ? "function(simplifycfg<bonus-inst-threshold=8>,sroa,early-cse),always-inline,"
                      "function(sroa,early-cse,tailcallelim,simplifycfg)"
                    : "always-inline");
  Search s = {.cg = cg, .arena = &cg->cx->arena, .numbers = {.arena = &cg->cx->arena}};
  search(&s);
  Flattener x = {.cg = cg, .arena = s.arena, .b = LLVMCreateBuilderInContext(cg->context)};
  for (uint32_t k = s.found.len; k-- > 0;)
    flatten(&x, &s.found.data[k]);
  LLVMDisposeBuilder(x.b);
  for (uint32_t k = 0; k < x.machines.len; k++)
    cg_run_function_passes(cg, x.machines.data[k]->fn, "mem2reg");
}
