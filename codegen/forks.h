/* Forks: a process must not fork in the middle of a compilation, since the child would have LLVM's locks as they were, and nobody to
 * release them. Compilations run beside each other; a fork waits until none is running, and no new one starts before it. */
#ifndef PYPTX_CODEGEN_FORKS_H
#define PYPTX_CODEGEN_FORKS_H

/* Around everything that calls LLVM. Not nested. */
void cg_hold_forks(void);
void cg_allow_forks(void);

#endif
