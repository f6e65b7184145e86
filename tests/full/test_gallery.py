"""The pictures of the gallery are made, and are pictures."""

import sys
from pathlib import Path

import matplotlib.image
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import pictures  # noqa: E402 - its folder is on the path now

PAGE = (ROOT / "docs/gallery.md").read_text()


@pytest.mark.parametrize("name", pictures.named(PAGE))
def test_picture(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_DEVICE", "host")
    picture = pictures.made(name, tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    pixels = matplotlib.image.imread(picture)[:, :, :3]
    assert min(pixels.shape[:2]) >= 200 and pixels.std() > 0.03, "nothing is to be seen"
    first = picture.stat().st_mtime_ns
    assert pictures.made(name, tmp_path).stat().st_mtime_ns == first, "made again without need"


def test_an_example_that_fails_is_named(tmp_path):
    with pytest.raises(RuntimeError, match="examples/nothing.py failed"):
        (tmp_path / "examples").mkdir()
        (tmp_path / "examples/nothing.py").write_text("raise SystemExit('no picture')")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pictures, "ROOT", tmp_path)
            pictures.made("nothing", tmp_path / "out")


def test_the_page_with_pictures():
    page = pictures.filled(PAGE)
    assert "<!-- picture" not in page and page.count("](pictures/") == PAGE.count("<!-- picture") > 5
