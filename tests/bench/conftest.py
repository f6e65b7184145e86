import os
import sys
from pathlib import Path

os.environ.setdefault("PYPTX_DEVICE", "host")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
