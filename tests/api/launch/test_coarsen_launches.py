"""Coarsening: which entry a launch takes, and that the disk cache keeps both."""

from standin import needs_standin, run


@needs_standin
def test_what_the_driver_gets():
    run(
        """
        import ctypes, numpy as np
        from pyptx import cuda
        from standin import driver
        control = driver()
        class Launch(ctypes.Structure):
            _fields_ = [("kernel", ctypes.c_char * 128), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3)]
        def last():
            l = ctypes.cast(control.last(), ctypes.POINTER(Launch)).contents
            return l.kernel.decode(), tuple(l.grid), tuple(l.block)
        def add(x, y, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] + y[i]
        x = cuda.to_device(np.zeros(1 << 20, np.float32))
        auto, off, four = cuda.jit(add), cuda.jit(coarsen=1)(add), cuda.jit(coarsen=4)(add)
        auto[4096, 256](x, x, x)
        assert last() == ("add$coarse", (1024, 1, 1), (256, 1, 1)), last()
        auto[4095, 257](x, x, x)
        assert last() == ("add$coarse", (1023 + 3, 1, 1), (257, 1, 1)), last()
        auto[2000, 256](x, x, x)
        assert last() == ("add", (2000, 1, 1), (256, 1, 1)), last()
        auto[4096, 256, 0, 16](x, x, x)
        assert last()[0] == "add", last()
        off[4096, 256](x, x, x)
        assert last()[0] == "add" and off.overloads
        four[5, 32].bind(x, x, x)()
        assert last() == ("add$coarse", (1 + 1, 1, 1), (32, 1, 1)), last()
        lines = ["v = v * x[i] + 1.5"] * 70  # a long body wants the device full of its own threads
        scope = {"cuda": cuda}
        exec("def long(x, out):\\n i = cuda.grid(1)\\n if i < out.size:\\n  v = x[i]\\n  " + "\\n  ".join(lines) + "\\n  out[i] = v", scope)
        long = cuda.jit(scope["long"])
        long[4 * 132 * 8 - 1, 256](x, x)
        assert last()[0] == "long", last()
        long[4 * 132 * 8, 256](x, x)
        assert last() == ("long$coarse", (132 * 8, 1, 1), (256, 1, 1)), last()
        (o,) = auto.overloads.values()
        assert o.coarsening == "4 neighbouring blocks along x", o.coarsening
        """
    )


@needs_standin
def test_from_which_size_on_loops_are_coarsened():
    """Eight copies of loads that a warp does together want the device full three times; of scattered ones it three eighths full, with a block
    of the second entry for seven of eight multiprocessors."""
    run(
        """
        import ctypes, numpy as np
        from pyptx import cuda, float32
        from standin import driver
        control = driver()
        class Launch(ctypes.Structure):
            _fields_ = [("kernel", ctypes.c_char * 128), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3)]
        def last():
            l = ctypes.cast(control.last(), ctypes.POINTER(Launch)).contents
            return l.kernel.decode(), tuple(l.grid)
        def product(a, b, c):
            j, i = cuda.grid(2)
            if i < c.shape[0] and j < c.shape[1]:
                acc = float32(0)
                for k in range(a.shape[1]):
                    acc += a[i, k] * b[k, j]
                c[i, j] = acc
        def distances(a, b, c):
            j, i = cuda.grid(2)
            if i < c.shape[0] and j < c.shape[1]:
                acc = float32(0)
                for k in range(a.shape[1]):
                    acc += (a[i, k] - b[j, k]) ** 2
                c[i, j] = acc
        x = cuda.to_device(np.zeros((8, 8), np.float32))
        product, distances = cuda.jit(product), cuda.jit(distances)
        product[(32, 128), (32, 8)](x, x, x)
        assert last() == ("product$coarse", (32, 16, 1)), last()
        product[(32, 32), (32, 32)](x, x, x)
        assert last() == ("product$coarse", (32, 4, 1)), last()
        product[(32, 34), (32, 32)](x, x, x)  # 136 blocks of the second entry for 132 multiprocessors
        assert last() == ("product", (32, 34, 1)), last()
        product[(32, 42), (32, 32)](x, x, x)
        assert last() == ("product$coarse", (32, 5 + 2, 1)), last()
        product[(24, 96), (32, 8)](x, x, x)
        assert last() == ("product", (24, 96, 1)), last()
        product[(2000, 7), (32, 8)](x, x, x)
        assert last() == ("product", (2000, 7, 1)), last()
        distances[(66, 14), (32, 8)](x, x, x)
        assert last() == ("distances$coarse", (66, 1 + 6, 1)), last()
        distances[(66, 13), (32, 8)](x, x, x)
        assert last() == ("distances", (66, 13, 1)), last()
        """
    )


@needs_standin
def test_the_disk_cache_keeps_it(tmp_path):
    source = """
        import numpy as np
        from pyptx import cuda
        def add(x, y, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] + y[i]
        x = cuda.to_device(np.zeros(100, np.float32))
        for k, note in ((cuda.jit(add, cache=True), "4 neighbouring blocks along x"), (cuda.jit(add, cache=True, coarsen=2), "2 neighbouring blocks along x"),
                        (cuda.jit(add, cache=True, coarsen=1), "not coarsened: switched off")):
            k[8, 32](x, x, x)
            (o,) = k.overloads.values()
            print(o.cache, o.coarsening == note)
        """
    assert run(source, PYPTX_CACHE_DIR=str(tmp_path)).split() == ["miss", "True"] * 3
    assert run(source, PYPTX_CACHE_DIR=str(tmp_path)).split() == ["hit", "True"] * 3
