/* Calls: see calls.h. They need nothing of a launch but what other files give. */
#include "runtime/host/calls.h"

#include "runtime/host/block_places.h"
#include "runtime/host/host.h"
#include "runtime/host/meet.h"

#ifdef __x86_64__
/* Keeps every register, so that loops which call it need not keep theirs in memory: general ones on
 * the stack, all others by xsave (x87, SSE, AVX and AVX-512: 2,688 bytes at most, and its header
 * must be 0). */
/* site: what the first argument, which was the fifth register to be pushed, becomes. */
#define KEEPS_REGISTERS(name, site)                                                                \
  ".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n"                      \
  "  pushq %rbp\n  movq %rsp, %rbp\n"                                                              \
  "  pushq %rax\n  pushq %rcx\n  pushq %rdx\n  pushq %rsi\n  pushq %rdi\n"                         \
  "  pushq %r8\n  pushq %r9\n  pushq %r10\n  pushq %r11\n"                                         \
  "  subq $2816, %rsp\n  andq $-64, %rsp\n"                                                        \
  "  xorl %eax, %eax\n  leaq 512(%rsp), %rdi\n  movl $8, %ecx\n  cld\n  rep stosq\n"               \
  "  movl $0xe7, %eax\n  xorl %edx, %edx\n  xsave (%rsp)\n"                                        \
  "  movl " site ", %edi\n  call rt_host_at_safepoint_now\n"                                       \
  "  movl $0xe7, %eax\n  xorl %edx, %edx\n  xrstor (%rsp)\n"                                       \
  "  leaq -72(%rbp), %rsp\n"                                                                       \
  "  popq %r11\n  popq %r10\n  popq %r9\n  popq %r8\n"                                             \
  "  popq %rdi\n  popq %rsi\n  popq %rdx\n  popq %rcx\n  popq %rax\n"                              \
  "  popq %rbp\n  ret\n"                                                                           \
  ".size " name ", .-" name "\n"
__asm__(".text\n" KEEPS_REGISTERS("rt_host_at_safepoint", "$-1")
            KEEPS_REGISTERS("rt_host_at_site", "-40(%rbp)"));
#else
void rt_host_at_safepoint(void) { rt_host_at_safepoint_now(RT_NO_SITE); }
void rt_host_at_site(uint32_t site) { rt_host_at_safepoint_now(site); }
#endif

void *rt_host_map_shared(const RtHostLaunch *view, uint32_t site, uint32_t thread, void *address,
                         uint32_t rank, uint32_t at_once) {
  const RtPlace *p = rt_host_place(view);
  const RtCluster *c = p->cluster;
  if (rank >= c->blocks)
    rt_host_trap(view, site, p->block, thread, (int32_t)rank, c->blocks, 0, 0);
  RtPlace *m = (RtPlace *)(void *)((char *)c->first + rank * c->stride);
  if (m != p && m->times && m->state == RT_PLACE_ENDED)
    rt_host_trap(view, site + 1, p->block, thread, rank, 0, 0, 0);
  if (at_once && m != p && !c->phase && !p->met[thread])
    rt_host_trap(view, site + 3, p->block, thread, rank, 0, 0, 0);
  if (m != p)
    m->mapped = (RtMapped){c->phase + 1, site + 2, thread, p->block};
  return m->shared + ((char *)address - p->shared);
}

_Noreturn void rt_host_trap_in_line(const RtHostLaunch *view, uint32_t site, uint32_t bx,
                                    uint32_t by, uint32_t bz, uint32_t tx, uint32_t thread,
                                    int64_t v0, int64_t v1, int64_t v2, int64_t v3) {
  uint32_t blocks = tx / view->block[0];
  uint64_t row = (uint64_t)bz * view->grid[1] + by;
  rt_host_trap(view, site, row * view->grid[0] + bx + blocks, thread - blocks * view->block[0], v0,
               v1, v2, v3);
}
