"""Time of `import pyptx.cuda` over NumPy's own import, in fresh processes.

python bench/import_time.py [--json OUT]
"""

import statistics
import subprocess
import sys

from _bench import Report, parser

PROGRAM = """
import time
start = time.perf_counter()
import numpy
numpy_done = time.perf_counter()
import pyptx.cuda
done = time.perf_counter()
print(numpy_done - start, done - numpy_done)
"""


def main():
    args = parser(__doc__).parse_args()
    runs = []
    for _ in range(21):
        text = subprocess.run(
            [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
        ).stdout
        runs.append([1e3 * float(t) for t in text.split()])
    runs = runs[1:]  # the first one reads the files from disk
    report = Report(
        "import, ms (20 processes)", [("what", 24), ("median", 8), ("best", 8), ("ratio to NumPy", 14)]
    )
    numpy, ours = ([r[k] for r in runs] for k in (0, 1))
    report.row("numpy", statistics.median(numpy), min(numpy), 1.0)
    report.row(
        "pyptx.cuda, after numpy",
        statistics.median(ours),
        min(ours),
        statistics.median(ours) / statistics.median(numpy),
    )
    report.save(args.json)


if __name__ == "__main__":
    main()
