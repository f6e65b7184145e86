"""Property tests share the harness of tests/api and its choice of device."""

import os
import sys
from pathlib import Path

os.environ.setdefault("PYPTX_DEVICE", "host")
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "api"), str(Path(__file__).resolve().parents[1])]
