"""Conway's game of life on a torus: one thread per cell, two boards in turn.

python examples/game_of_life.py [--picture OUT.png]
"""

import sys

import numpy as np
import numpy.typing as npt
from pyptx import cuda

Board = npt.NDArray[np.uint8]

GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
"""


@cuda.jit
def generation(board: cuda.Array, after: cuda.Array) -> None:
    col, row = cuda.grid(2)
    rows, cols = board.shape
    if row >= rows or col >= cols:
        return
    alive = 0
    for dr in range(-1, 2):
        for dc in range(-1, 2):
            # The board has no edge: row -1 is the last one, and so on.
            alive += int(board[(row + dr) % rows, (col + dc) % cols])
    # The cell itself is among the nine that were counted.
    after[row, col] = alive == 3 or (alive == 4 and board[row, col] == 1)


def play(board: Board, generations: int) -> Board:
    """The board after so many generations, as a NumPy array of 0 and 1."""
    now, after = cuda.to_device(board), cuda.device_array_like(board)
    block = (32, 8)
    grid = (-(-board.shape[1] // 32), -(-board.shape[0] // 8))
    for _ in range(generations):
        generation[grid, block](now, after)
        now, after = after, now
    return now.copy_to_host()


def reference(board: Board, generations: int) -> Board:
    for _ in range(generations):
        alive = sum(np.roll(board, (dr, dc), (0, 1)) for dr in (-1, 0, 1) for dc in (-1, 0, 1))
        board = ((alive == 3) | ((alive == 4) & (board == 1))).astype(np.uint8)
    return board


def draw(path: str) -> None:
    """Gosper's gun and the gliders that it has fired; where cells have lived lately it is blue."""
    import matplotlib.pyplot as plt

    gun = np.array([[cell == "O" for cell in line] for line in GUN.split()], dtype=np.uint8)
    board = np.zeros((104, 156), dtype=np.uint8)
    board[4 : 4 + gun.shape[0], 4 : 4 + gun.shape[1]] = gun
    board = play(board, 280)
    lately = np.zeros(board.shape, dtype=np.float32)
    for _ in range(60):
        lately = np.maximum(0.95 * lately, board)
        board = play(board, 1)
    rgb = np.stack([0.05 + 0.15 * lately, 0.08 + 0.35 * lately, 0.2 + 0.6 * lately], axis=2)
    rgb[board == 1] = (1, 0.9, 0.4)
    plt.imsave(path, np.kron(rgb, np.ones((6, 6, 1))))  # pyright: ignore[reportUnknownMemberType]
    print(f"  wrote {path}")


def main() -> int:
    device = cuda.get_current_device()
    shape, generations = ((256, 300), 100) if device.is_host else ((4096, 4100), 100)
    print(f"life of {shape[0]} x {shape[1]} cells for {generations} generations on {device.name}")

    board = np.random.default_rng(9).integers(0, 2, shape, dtype=np.uint8)
    after = play(board, generations)
    correct = np.array_equal(after, reference(board, generations))
    print(f"  {board.sum():,} cells alive at first, {after.sum():,} at the end")
    if "--picture" in sys.argv:
        draw(sys.argv[sys.argv.index("--picture") + 1])
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
