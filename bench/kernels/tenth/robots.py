"""Robots: arms, gains of regulators, costs of ways, attitude of a body, rays over maps of bits."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, float32


def arm_jacobians(links, angles, hands, jacobians):
    """Where the hand of an arm of revolute joints is (Denavit and Hartenberg), and how it moves with each joint."""
    i = cuda.grid(1)
    if i >= hands.shape[0]:
        return
    axes = cuda.local.array((8, 6), float32)
    px = py = pz = float32(0)
    xx = yy = zz = float32(1)
    xy = xz = yx = yz = zx = zy = float32(0)
    joints = angles.shape[1]
    for j in range(joints):
        axes[j, 0], axes[j, 1], axes[j, 2] = px, py, pz
        axes[j, 3], axes[j, 4], axes[j, 5] = zx, zy, zz
        c = math.cos(angles[i, j])
        s = math.sin(angles[i, j])
        length, offset, twist = links[j]
        ct = math.cos(twist)
        st = math.sin(twist)
        ax, ay, az = c * xx + s * yx, c * xy + s * yy, c * xz + s * yz
        bx, by, bz = c * yx - s * xx, c * yy - s * xy, c * yz - s * xz
        px += offset * zx + length * ax
        py += offset * zy + length * ay
        pz += offset * zz + length * az
        xx, xy, xz = ax, ay, az
        yx, yy, yz = ct * bx + st * zx, ct * by + st * zy, ct * bz + st * zz
        zx, zy, zz = ct * zx - st * bx, ct * zy - st * by, ct * zz - st * bz
    hands[i, 0], hands[i, 1], hands[i, 2] = px, py, pz
    for j in range(joints):
        dx = px - axes[j, 0]
        dy = py - axes[j, 1]
        dz = pz - axes[j, 2]
        jacobians[i, 0, j] = axes[j, 4] * dz - axes[j, 5] * dy
        jacobians[i, 1, j] = axes[j, 5] * dx - axes[j, 3] * dz
        jacobians[i, 2, j] = axes[j, 3] * dy - axes[j, 4] * dx


def regulator_gains(a, b, q, r, steps, gains):
    """Riccati's recursion for regulators of four states and one input; a system a thread."""
    i = cuda.grid(1)
    if i >= gains.shape[0]:
        return
    p = cuda.local.array((4, 4), float32)
    pa = cuda.local.array((4, 4), float32)
    pb = cuda.local.array(4, float32)
    k = cuda.local.array(4, float32)
    for row in range(4):
        for col in range(4):
            p[row, col] = q[row] if row == col else 0
    for _ in range(steps):
        below = r
        for row in range(4):
            total = float32(0)
            for m in range(4):
                total += p[row, m] * b[i, m]
            pb[row] = total
            below += b[i, row] * total
            for col in range(4):
                total = float32(0)
                for m in range(4):
                    total += p[row, m] * a[i, m, col]
                pa[row, col] = total
        for col in range(4):
            total = float32(0)
            for m in range(4):
                total += pb[m] * a[i, m, col]
            k[col] = total / below
        for row in range(4):
            for col in range(4):
                total = q[row] if row == col else float32(0)
                for m in range(4):
                    total += a[i, m, row] * pa[m, col]
                p[row, col] = total - k[row] * k[col] * below
    for col in range(4):
        gains[i, col] = k[col]


def way_costs(start, controls, noises, obstacles, goal, step, costs):
    """Model predictive path integral: noisy ways of a car, with the cost of being near obstacles and far from the
    goal.
    """
    i = cuda.grid(1)
    if i >= costs.size:
        return
    x, y, heading, speed = start
    cost = float32(0)
    for t in range(controls.shape[0]):
        turn = controls[t, 0] + noises[t, 0, i]
        push = controls[t, 1] + noises[t, 1, i]
        turn = min(max(turn, -0.5), 0.5)
        push = min(max(push, -3.0), 3.0)
        x += step * speed * math.cos(heading)
        y += step * speed * math.sin(heading)
        heading += step * speed * math.tan(turn) / float32(2.7)
        speed = max(speed + step * push, 0)
        for k in range(obstacles.shape[0]):
            gap = math.hypot(x - obstacles[k, 0], y - obstacles[k, 1]) - obstacles[k, 2]
            near = max(1 - gap, 0)
            cost += 10 * near * near
        cost += float32(0.1) * (turn * turn + push * push)
    cost += math.hypot(x - goal[0], y - goal[1])
    costs[i] = cost


def turned_bodies(gyros, pulls, step, gain, attitudes):
    """Mahony's filter: the attitude of bodies from turning rates, corrected by the pull of gravity."""
    body = cuda.grid(1)
    if body >= attitudes.shape[0]:
        return
    w = float32(1)
    x = y = z = float32(0)
    for t in range(gyros.shape[0]):
        gx = gyros[t, 0, body]
        gy = gyros[t, 1, body]
        gz = gyros[t, 2, body]
        ax = pulls[t, 0, body]
        ay = pulls[t, 1, body]
        az = pulls[t, 2, body]
        size = math.sqrt(ax * ax + ay * ay + az * az)
        if size > 0:
            vx = 2 * (x * z - w * y)
            vy = 2 * (w * x + y * z)
            vz = w * w - x * x - y * y + z * z
            gx += gain * (ay * vz - az * vy) / size
            gy += gain * (az * vx - ax * vz) / size
            gz += gain * (ax * vy - ay * vx) / size
        h = step / 2
        w, x, y, z = (
            w - h * (x * gx + y * gy + z * gz),
            x + h * (w * gx + y * gz - z * gy),
            y + h * (w * gy - x * gz + z * gx),
            z + h * (w * gz + x * gy - y * gx),
        )
        size = math.sqrt(w * w + x * x + y * y + z * z)
        w /= size
        x /= size
        y /= size
        z /= size
    attitudes[body, 0] = w
    attitudes[body, 1] = x
    attitudes[body, 2] = y
    attitudes[body, 3] = z


def free_ways(blocked, ways, free):
    """Whether straight ways over a map of bits are free, cell by cell as Bresenham draws them."""
    i = cuda.grid(1)
    if i >= free.size:
        return
    x, y = int(ways[i, 0]), int(ways[i, 1])
    to_x, to_y = int(ways[i, 2]), int(ways[i, 3])
    dx = abs(to_x - x)
    dy = -abs(to_y - y)
    step_x = 1 if x < to_x else -1
    step_y = 1 if y < to_y else -1
    error = dx + dy
    seen = 0
    while True:
        if blocked[y, x // 8] >> (x % 8) & 1:
            free[i] = -seen
            return
        if x == to_x and y == to_y:
            break
        seen += 1
        twice = 2 * error
        if twice >= dy:
            error += dy
            x += step_x
        if twice <= dx:
            error += dx
            y += step_y
    free[i] = seen + 1


def arm_problem(rng, n):
    joints = 7
    twists = rng.choice([0, np.pi / 2, -np.pi / 2], joints)
    links = np.stack([rng.uniform(0, 0.4, joints), rng.uniform(-0.2, 0.4, joints), twists], 1)
    links = links.astype(np.float32)
    angles = rng.uniform(-3, 3, (n, joints)).astype(np.float32)

    def expected():
        at = sampled(rng, n, 3000)
        m, origins, axes = np.tile(np.eye(4), (len(at), 1, 1)), [], []
        for j in range(joints):
            origins.append(m[:, :3, 3])
            axes.append(m[:, :3, 2])
            c, s = np.cos(angles[at, j].astype(float)), np.sin(angles[at, j].astype(float))
            length, offset, twist = links[j].astype(float)
            ct, st, step = np.cos(twist), np.sin(twist), np.zeros((len(at), 4, 4))
            step[:, 0, 0], step[:, 0, 1], step[:, 0, 2], step[:, 0, 3] = c, -s * ct, s * st, length * c
            step[:, 1, 0], step[:, 1, 1], step[:, 1, 2], step[:, 1, 3] = s, c * ct, -c * st, length * s
            step[:, 2, 1], step[:, 2, 2], step[:, 2, 3], step[:, 3, 3] = st, ct, offset, 1
            m = m @ step
        hand = m[:, :3, 3]
        turns = np.stack([np.cross(a, hand - o) for a, o in zip(axes, origins)], 2)
        return [(at, hand, 200 * EPS32), (at, turns, 200 * EPS32)]

    args = (links, angles, np.full((n, 3), 99, np.float32), np.full((n, 3, joints), 99, np.float32))
    return Problem(args, (joints, n), (2, 3), expected, threads=n, bytes=124.0 * n, flops=100.0 * joints * n)


def gains_problem(rng, n):
    steps = 31
    a = (np.eye(4) + 0.1 * rng.standard_normal((n, 4, 4))).astype(np.float32)
    b = rng.uniform(0.2, 1, (n, 4)).astype(np.float32)
    q, r = np.array([1, 0.5, 0.7, 0.2], np.float32), np.float32(0.3)

    def expected():
        at = sampled(rng, n, 3000)
        m, v, d = a[at].astype(float), b[at].astype(float), np.diag(q.astype(float))
        p = np.tile(d, (len(at), 1, 1))
        for _ in range(steps):
            pb = np.einsum("nij,nj->ni", p, v)
            below = float(r) + (v * pb).sum(1)
            k = np.einsum("nj,nji->ni", pb, m) / below[:, None]
            size = np.abs(p).max((1, 2))
            p = d + np.einsum("nji,njk,nkl->nil", m, p, m) - k[:, :, None] * k[:, None, :] * below[:, None, None]
        # Each step subtracts numbers of the size of p; what is left of their errors shrinks or stays.
        return [(at, k, (1000 * EPS32 * (1 + size))[:, None] * (1 + abs(k).max(1, keepdims=True)))]

    args = (a, b, q, r, steps, np.full((n, 4), 99, np.float32))
    return Problem(args, (n,), (5,), expected, threads=n, bytes=96.0 * n, flops=350.0 * steps * n)


def ways_problem(rng, n):
    steps, count = 43, 9
    start = tuple(np.float32(v) for v in (0, 0, 0.3, 5))
    controls = np.stack([0.05 * np.sin(np.arange(steps) / 5), np.full(steps, 0.5)], 1).astype(np.float32)
    noises = (np.array([0.1, 1.0])[:, None] * rng.standard_normal((steps, 2, n))).astype(np.float32)
    obstacles = np.stack([rng.uniform(2, 18, count), rng.uniform(-2, 9, count), rng.uniform(0.3, 1, count)], 1).astype(np.float32)
    goal, step = tuple(np.float32(v) for v in (15, 5)), np.float32(0.08)

    def expected():
        at = sampled(rng, n, 2000)
        h = float(step)
        x, y, heading, speed = (np.full(len(at), float(v)) for v in start)
        cost = np.zeros(len(at))
        for t in range(steps):
            turn = np.clip(controls[t, 0] + noises[t, 0, at].astype(float), -0.5, 0.5)
            push = np.clip(controls[t, 1] + noises[t, 1, at].astype(float), -3, 3)
            x, y = x + h * speed * np.cos(heading), y + h * speed * np.sin(heading)
            heading = heading + h * speed * np.tan(turn) / 2.7
            speed = np.maximum(speed + h * push, 0)
            for ox, oy, size in obstacles.astype(float):
                cost += 10 * np.maximum(1 - np.hypot(x - ox, y - oy) + size, 0) ** 2
            cost += 0.1 * (turn**2 + push**2)
        cost += np.hypot(x - float(goal[0]), y - float(goal[1]))
        return [(at, cost, 40 * EPS32 * steps * (cost + 20))]

    args = (np.array(start), controls, noises, obstacles, np.array(goal), step, np.full(n, -1, np.float32))
    return Problem(
        args, (steps, count, n), (6,), expected, threads=n, bytes=8.0 * steps * n, flops=(60.0 + 10 * count) * steps * n,
    )  # fmt: skip


def bodies_problem(rng, n):
    steps, step, gain = 101, np.float32(0.01), np.float32(0.8)
    gyros = rng.standard_normal((steps, 3, n), np.float32)
    pulls = (np.array([0, 0, 9.8])[:, None] + 0.8 * rng.standard_normal((steps, 3, n))).astype(np.float32)
    pulls[5, :, ::7] = 0

    def expected():
        at = sampled(rng, n, 1000)
        w, x, y, z = np.ones(len(at)), *np.zeros((3, len(at)))
        for t in range(steps):
            g, a = gyros[t][:, at].astype(float), pulls[t][:, at].astype(float)
            size = np.sqrt((a * a).sum(0))
            down = np.array([2 * (x * z - w * y), 2 * (w * x + y * z), w * w - x * x - y * y + z * z])
            g = g + np.where(size > 0, float(gain) * np.cross(a, down, axis=0) / np.where(size > 0, size, 1), 0)
            gx, gy, gz = g * float(step) / 2
            w, x, y, z = (
                w - x * gx - y * gy - z * gz, x + w * gx + y * gz - z * gy, y + w * gy - x * gz + z * gx,
                z + w * gz + x * gy - y * gx,
            )  # fmt: skip
            size = np.sqrt(w * w + x * x + y * y + z * z)
            w, x, y, z = w / size, x / size, y / size, z / size
        return [(at, np.stack([w, x, y, z], 1), 8 * EPS32 * steps)]

    args = (gyros, pulls, step, gain, np.full((n, 4), 99, np.float32))
    return Problem(args, (steps, n), (4,), expected, threads=n, bytes=24.0 * steps * n, flops=90.0 * steps * n)


def free_problem(rng, n):
    size = 1003
    grid = rng.random((size, 8 * (size // 8 + 1))) < 0.004
    blocked = np.packbits(grid, axis=1, bitorder="little")
    ways = rng.integers(0, size, (n, 2)).repeat(2, 0).reshape(n, 4)
    ways[:, 2:] = np.clip(ways[:, :2] + rng.integers(-300, 301, (n, 2)), 0, size - 1)

    def expected():
        at, values = sampled(rng, n, 1000), []
        for x, y, to_x, to_y in ways[at].tolist():
            dx, dy, seen = abs(to_x - x), -abs(to_y - y), 0
            sx, sy, error = 1 if x < to_x else -1, 1 if y < to_y else -1, dx + dy
            while not grid[y, x] and (x, y) != (to_x, to_y):
                seen, twice = seen + 1, 2 * error
                if twice >= dy:
                    error, x = error + dy, x + sx
                if twice <= dx:
                    error, y = error + dx, y + sy
            values.append(-seen if grid[y, x] else seen + 1)
        return [(at, np.array(values), 0)]

    args = (blocked, ways.astype(np.int16), np.full(n, 1 << 30, np.int32))
    return Problem(args, (blocked.shape[1], n), (2,), expected, threads=n, bytes=12.0 * n, flops=15.0 * 120 * n)


ARM = each(
    """arm_jacobians(const float *__restrict__ links, const float *__restrict__ angles, float *__restrict__ hands,
                   float *__restrict__ jacobians, int joints, int n)""",
    """
    float axes[8][6], px = 0, py = 0, pz = 0, xx = 1, xy = 0, xz = 0, yx = 0, yy = 1, yz = 0, zx = 0, zy = 0, zz = 1;
    for (INDEX j = 0; j < joints; j++) {
      float *axis = axes[j];
      axis[0] = px;
      axis[1] = py;
      axis[2] = pz;
      axis[3] = zx;
      axis[4] = zy;
      axis[5] = zz;
      float c = cosf(angles[i * joints + j]), s = sinf(angles[i * joints + j]);
      float length = links[3 * j], offset = links[3 * j + 1], ct = cosf(links[3 * j + 2]), st = sinf(links[3 * j + 2]);
      float ax = c * xx + s * yx, ay = c * xy + s * yy, az = c * xz + s * yz;
      float bx = c * yx - s * xx, by = c * yy - s * xy, bz = c * yz - s * xz;
      px += offset * zx + length * ax;
      py += offset * zy + length * ay;
      pz += offset * zz + length * az;
      xx = ax;
      xy = ay;
      xz = az;
      yx = ct * bx + st * zx;
      yy = ct * by + st * zy;
      yz = ct * bz + st * zz;
      zx = ct * zx - st * bx;
      zy = ct * zy - st * by;
      zz = ct * zz - st * bz;
    }
    hands[3 * i] = px;
    hands[3 * i + 1] = py;
    hands[3 * i + 2] = pz;
    for (INDEX j = 0; j < joints; j++) {
      const float *axis = axes[j];
      float dx = px - axis[0], dy = py - axis[1], dz = pz - axis[2];
      jacobians[3 * i * joints + j] = axis[4] * dz - axis[5] * dy;
      jacobians[(3 * i + 1) * joints + j] = axis[5] * dx - axis[3] * dz;
      jacobians[(3 * i + 2) * joints + j] = axis[3] * dy - axis[4] * dx;
    }
""",
)

GAINS = each(
    """regulator_gains(const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ q, float r, int steps,
                     float *__restrict__ gains, int n)""",
    """
    const float *m = a + 16 * i, *v = b + 4 * i;
    float p[4][4], pa[4][4], pb[4], k[4];
    for (int row = 0; row < 4; row++)
      for (int col = 0; col < 4; col++)
        p[row][col] = row == col ? q[row] : 0;
    for (INDEX step = 0; step < steps; step++) {
      float below = r;
      for (int row = 0; row < 4; row++) {
        float total = 0;
        for (int j = 0; j < 4; j++)
          total += p[row][j] * v[j];
        pb[row] = total;
        below += v[row] * total;
        for (int col = 0; col < 4; col++) {
          total = 0;
          for (int j = 0; j < 4; j++)
            total += p[row][j] * m[4 * j + col];
          pa[row][col] = total;
        }
      }
      for (int col = 0; col < 4; col++) {
        float total = 0;
        for (int j = 0; j < 4; j++)
          total += pb[j] * m[4 * j + col];
        k[col] = total / below;
      }
      for (int row = 0; row < 4; row++)
        for (int col = 0; col < 4; col++) {
          float total = row == col ? q[row] : 0;
          for (int j = 0; j < 4; j++)
            total += m[4 * j + row] * pa[j][col];
          p[row][col] = total - k[row] * k[col] * below;
        }
    }
    for (int col = 0; col < 4; col++)
      gains[4 * i + col] = k[col];
""",
)

WAYS = each(
    """way_costs(const float *__restrict__ start, const float *__restrict__ controls, const float *__restrict__ noises,
               const float *__restrict__ obstacles, const float *__restrict__ goal, float step, float *__restrict__ costs,
               int steps, int count, int n)""",
    """
    float x = start[0], y = start[1], heading = start[2], speed = start[3], cost = 0;
    for (INDEX t = 0; t < steps; t++) {
      float turn = controls[2 * t] + noises[2 * t * n + i], push = controls[2 * t + 1] + noises[(2 * t + 1) * n + i];
      turn = fminf(fmaxf(turn, -0.5f), 0.5f);
      push = fminf(fmaxf(push, -3.0f), 3.0f);
      x += step * speed * cosf(heading);
      y += step * speed * sinf(heading);
      heading += step * speed * tanf(turn) / 2.7f;
      speed = fmaxf(speed + step * push, 0);
      for (INDEX k = 0; k < count; k++) {
        float gap = hypotf(x - obstacles[3 * k], y - obstacles[3 * k + 1]) - obstacles[3 * k + 2];
        float close = fmaxf(1 - gap, 0);
        cost += 10 * close * close;
      }
      cost += 0.1f * (turn * turn + push * push);
    }
    costs[i] = cost + hypotf(x - goal[0], y - goal[1]);
""",
)

BODIES = each(
    """turned_bodies(const float *__restrict__ gyros, const float *__restrict__ pulls, float step, float gain,
                   float *__restrict__ attitudes, int steps, int n)""",
    """
    float w = 1, x = 0, y = 0, z = 0, h = step / 2;
    for (INDEX t = 0; t < steps; t++) {
      const float *g = gyros + 3 * t * n + i, *a = pulls + 3 * t * n + i;
      float gx = g[0], gy = g[n], gz = g[2 * n], ax = a[0], ay = a[n], az = a[2 * n];
      float size = sqrtf(ax * ax + ay * ay + az * az);
      if (size > 0) {
        float vx = 2 * (x * z - w * y), vy = 2 * (w * x + y * z), vz = w * w - x * x - y * y + z * z;
        gx += gain * (ay * vz - az * vy) / size;
        gy += gain * (az * vx - ax * vz) / size;
        gz += gain * (ax * vy - ay * vx) / size;
      }
      float dw = x * gx + y * gy + z * gz, dx = w * gx + y * gz - z * gy, dy = w * gy - x * gz + z * gx;
      float dz = w * gz + x * gy - y * gx;
      w -= h * dw;
      x += h * dx;
      y += h * dy;
      z += h * dz;
      size = sqrtf(w * w + x * x + y * y + z * z);
      w /= size;
      x /= size;
      y /= size;
      z /= size;
    }
    attitudes[4 * i] = w;
    attitudes[4 * i + 1] = x;
    attitudes[4 * i + 2] = y;
    attitudes[4 * i + 3] = z;
""",
)

FREE = each(
    """free_ways(const unsigned char *__restrict__ blocked, const short *__restrict__ ways, int *__restrict__ free_cells,
               int width, int n)""",
    """
    int x = ways[4 * i], y = ways[4 * i + 1], to_x = ways[4 * i + 2], to_y = ways[4 * i + 3];
    int dx = abs(to_x - x), dy = -abs(to_y - y), step_x = x < to_x ? 1 : -1, step_y = y < to_y ? 1 : -1;
    int error = dx + dy, seen = 0, hit = 0;
    while (1) {
      if (blocked[(INDEX)y * width + x / 8] >> (x % 8) & 1) {
        hit = 1;
        break;
      }
      if (x == to_x && y == to_y) break;
      seen++;
      int twice = 2 * error;
      if (twice >= dy) {
        error += dy;
        x += step_x;
      }
      if (twice <= dx) {
        error += dx;
        y += step_y;
      }
    }
    free_cells[i] = hit ? -seen : seen + 1;
""",
)
FREE["openmp"] = "#include <stdlib.h>\n" + FREE["openmp"]

KERNELS = [
    Kernel(
        "arms and their Jacobians", arm_jacobians, "float32[:,::1], float32[:,::1], float32[:,::1], float32[:,:,::1]", 64,
        arm_problem, gpu=500_009, host=10_007, test=203, **ARM,
    ),
    Kernel(
        "gains of regulators", regulator_gains,
        "float32[:,:,::1], float32[:,::1], float32[::1], float32, pyint, float32[:,::1]", 64, gains_problem, gpu=100_003,
        host=3001, test=203, **GAINS,
    ),
    Kernel(
        "costs of ways", way_costs,
        "float32[::1], float32[:,::1], float32[:,:,::1], float32[:,::1], float32[::1], float32, float32[::1]", 128,
        ways_problem, gpu=200_003, host=3001, test=203, **WAYS,
    ),
    Kernel(
        "attitudes of bodies", turned_bodies, "float32[:,:,::1], float32[:,:,::1], float32, float32, float32[:,::1]", 128,
        bodies_problem, gpu=100_003, host=3001, test=203, **BODIES,
    ),
    Kernel(
        "ways that are free", free_ways, "uint8[:,::1], int16[:,::1], int32[::1]", 128, free_problem, gpu=1_000_003,
        host=20_011, test=503, kind="irregular", **FREE,
    ),
]  # fmt: skip
