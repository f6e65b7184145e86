"""The pictures of the gallery: each example that gallery.md names, run with --picture.

python docs/pictures.py [FOLDER]     writes them to FOLDER (build/pictures)

In the tree gallery.md has a comment where the site has a picture. This file is also a hook of mkdocs, which runs
the examples and puts the pictures into the site; one that is newer than its example is not made again.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = "gallery.md"
PICTURES = ROOT / "build/pictures"
PLACE = re.compile(r"^<!-- picture: (\w+): (.+) -->$", re.M)


def made(name, folder):
    """The path of the picture of examples/NAME.py in the folder; RuntimeError if the example fails."""
    example, picture = ROOT / f"examples/{name}.py", Path(folder).resolve() / f"{name}.png"
    if picture.is_file() and picture.stat().st_mtime > example.stat().st_mtime:
        return picture
    picture.parent.mkdir(parents=True, exist_ok=True)
    partial = picture.with_suffix(".new.png")
    done = subprocess.run(
        [sys.executable, str(example), "--picture", str(partial)],
        capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "agg"},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{example.relative_to(ROOT)} failed:\n{done.stdout}{done.stderr}")
    return partial.rename(picture)


def named(markdown):
    """{example: what its picture shows}, in the order of the page."""
    return dict(PLACE.findall(markdown))


def filled(markdown):
    return PLACE.sub(r"![\2](pictures/\1.png)", markdown)


# --- for mkdocs ---


def on_files(files, config):
    from mkdocs.structure.files import File

    for name in named((ROOT / "docs" / PAGE).read_text()):
        files.append(File.generated(config, f"pictures/{name}.png", abs_src_path=str(made(name, PICTURES))))
    return files


def on_page_markdown(markdown, page, config, files):
    return filled(markdown) if page.file.src_uri == PAGE else markdown


if __name__ == "__main__":
    for name in named((ROOT / "docs" / PAGE).read_text()):
        print(made(name, sys.argv[1] if len(sys.argv) > 1 else PICTURES))
