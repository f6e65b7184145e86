/* Gate: around LLVM, which bears neither a fork nor the end of the process in the middle of a
 * compilation: a child would have LLVM's locks as they were, with nobody to release them; at the
 * end the main thread destroys LLVM's static objects (exit handlers of C++) while daemon threads
 * may still compile. Compilations run beside each other; a fork waits until none is running, and no
 * new one starts before it; so does the end, after which none starts. */
#ifndef PYPTX_CODEGEN_FORK_LOCK_H
#define PYPTX_CODEGEN_FORK_LOCK_H

/* Around everything that calls LLVM. Not nested. After cg_shut cg_enter waits for ever. */
void cg_enter(void);
void cg_leave(void);

#endif
