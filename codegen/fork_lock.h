/* Fork lock: no fork, and no end of the process, in the middle of a compilation.
 *
 * LLVM survives neither. A child of fork would inherit LLVM's locks in the state that they had,
 * with no thread to release them; at the end of the process the main thread destroys LLVM's static
 * objects (exit handlers of C++) while daemon threads may still be compiling. So compilations run
 * concurrently, but a fork waits until none is running and lets no new one start before it; the end
 * of the process does the same, and none starts after it. */
#ifndef PYPTX_CODEGEN_FORK_LOCK_H
#define PYPTX_CODEGEN_FORK_LOCK_H

/* Around everything that calls LLVM. Must not be nested. After cg_shut, cg_enter never returns. */
void cg_enter(void);
void cg_leave(void);

#endif
