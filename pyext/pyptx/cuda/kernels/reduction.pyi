from pyptx._reduce import Reduce as Reduce
