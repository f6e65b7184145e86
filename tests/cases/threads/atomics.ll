atomicrmw add
atomicrmw max
atomicrmw and
atomicrmw xchg
atomicrmw fadd
cmpxchg
