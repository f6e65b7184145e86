"""Hooks of mkdocs (mkdocs.yml): from Markdown that a repository viewer shows to the pages of the site.

Files outside docs that a page links to become pages under source/. Notebooks are run, on the host device, and become
pages; a cell that raises fails the build. Lists, tables and links are rewritten from GitHub's Markdown to Python-Markdown's.
"""

import fnmatch
import os
import posixpath
import re
import tempfile
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FENCE = re.compile(r"^( *)(```+|~~~+)")
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
MARKER = re.compile(r"(?:[*+-]|\d+\.) +(?=\S)")
LANGUAGES = {".py": "python", ".c": "c", ".cu": "cuda", ".h": "c", ".def": "c", ".sh": "bash", ".yml": "yaml", ".toml": "toml"}
HEADINGS = re.compile(r"^## +(.+?) *$|\]\(([^)\s#]+)(?:#[^)]*)?\)", re.M)

_uri_of = {}  # file → where it is on the site, of those that are not where docs has them
_file_of = {}  # the other way


# --- pages that docs does not have as Markdown ---


def on_files(files, config):
    _uri_of.clear()
    _file_of.clear()
    for notebook in sorted(DOCS.glob("[!.]*/*.ipynb")):
        add_notebook(files, config, notebook)
    waiting = [ROOT / "CONTRIBUTING.md"] + [target for file in files.documentation_pages() for target in linked(file.content_string, source(file.src_uri))]
    while waiting:
        target = waiting.pop()
        if target in _uri_of or DOCS in target.parents or not target.is_file():
            continue
        uri = f"source/{target.relative_to(ROOT)}"
        text = target.read_text()
        if target.suffix != ".md":
            text = f"# {target.relative_to(ROOT)}\n\n~~~~{LANGUAGES.get(target.suffix, 'text')}\n{text}\n~~~~\n"
            uri += ".md"
        add_page(files, config, target, uri, text)
        if target.suffix == ".md":
            waiting += linked(text, target)
    named = set(leaves(config.nav))
    config.nav = [part for entry in config.nav for part in expanded(entry, [uri for uri in pages(files) if uri not in named])]
    return files


def add_page(files, config, path, uri, text, inclusion=InclusionLevel.NOT_IN_NAV):
    files.append(File.generated(config, uri, content=text, inclusion=inclusion))
    _uri_of[path], _file_of[uri] = uri, path


def add_notebook(files, config, path):
    """The notebook as a page, with what its cells print and draw."""
    from nbconvert import MarkdownExporter

    name = path.relative_to(DOCS).with_suffix("").as_posix()
    text, resources = MarkdownExporter().from_notebook_node(executed(path), resources={"output_files_dir": f"{path.stem}_files"})
    for picture, data in resources.get("outputs", {}).items():
        files.append(File.generated(config, posixpath.join(posixpath.dirname(name), picture), content=data))
    add_page(files, config, path, f"{name}.md", text, InclusionLevel.INCLUDED)


def executed(path):
    """The notebook with the output of its cells."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = nbformat.read(path, as_version=4)
    os.environ.setdefault("PYPTX_DEVICE", "host")
    with tempfile.TemporaryDirectory() as folder:  # for what its cells write
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", extra_arguments=["--log-level=ERROR"], resources={"metadata": {"path": folder}})
        try:
            client.execute()
        except CellExecutionError as error:
            raise PluginError(f"{path}: a cell failed\n{error}") from None
    return notebook


# --- navigation ---


def leaves(entry):
    """The pages, folders and patterns of a nav."""
    if isinstance(entry, str):
        return [entry]
    return [leaf for part in (entry.values() if isinstance(entry, dict) else entry) for leaf in leaves(part)]


def expanded(entry, others):
    """An entry of the nav with its folders and patterns written out. others: the pages that the nav does not name."""
    if isinstance(entry, dict):
        ((title, value),) = entry.items()
        if isinstance(value, str) and not value.endswith("/"):
            return [entry]
        found = from_readme(value, others) if isinstance(value, str) else value
        found = [part for one in found for part in expanded(one, others)]
        return [{title: found}] if found else []
    if "*" in entry:
        return sorted(uri for uri in others if fnmatch.fnmatch(uri, entry))
    return [entry]


def pages(files):
    return [file.src_uri for file in files.documentation_pages()]


def from_readme(folder, others):
    inside = [uri for uri in others if posixpath.dirname(uri) + "/" == folder and posixpath.basename(uri) != "README.md"]
    readme = DOCS / folder / "README.md"
    if not readme.is_file():
        return sorted(inside)
    found, group = [folder + "README.md"], None
    for heading, target in HEADINGS.findall(readme.read_text()):
        if heading:
            found.append({heading: (group := [])})
            continue
        uri = site_uri(target_of(readme, target))
        if uri in inside:
            inside.remove(uri)
            (found if group is None else group).append(uri)
    return [part for part in found if isinstance(part, str) or any(part.values())] + sorted(inside)


# --- links ---


def source(uri):
    """The file that a page comes from."""
    return _file_of.get(uri, DOCS / uri)


def site_uri(path):
    """Where the site has a file, None where it does not."""
    if path in _uri_of:
        return _uri_of[path]
    return path.relative_to(DOCS).as_posix() if DOCS in path.parents else None


def target_of(path, link):
    """The file that a link in the file `path` leads to; a folder's README.md for the folder."""
    target = (path.parent / link).resolve()
    return target / "README.md" if target.is_dir() else target


def linked(text, path):
    """Files that a Markdown text links to."""
    targets = (target.partition("#")[0] for _, target, _ in LINK.findall(text) if not re.match(r"[a-z]+:|#", target))
    return [target_of(path, target) for target in targets]


def relinked(line, path, uri):
    def other(match):
        target, anchor = match[2].partition("#")[::2]
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        place = site_uri(target_of(path, target))
        if place is None:
            return match[0]
        return match[1] + posixpath.relpath(place, posixpath.dirname(uri) or ".") + ("#" + anchor if anchor else "") + match[3]

    return LINK.sub(other, line)


# --- from GitHub's Markdown to Python-Markdown's ---


def on_page_markdown(markdown, page, config, files):
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]  # the tabs are enough
    return converted(markdown, page.file.src_uri)


def converted(markdown, uri):
    path = source(uri)
    out, fence, offsets = [], None, []
    markdown = re.sub(r"\A(?:<!--.*?-->\s*)+", "", markdown, flags=re.DOTALL)  # the heading comes first: it is the title
    for line in markdown.split("\n"):
        if not line.strip():
            out.append("")
            continue
        indent = len(line) - len(line.lstrip(" "))
        while fence is None and offsets and indent < offsets[-1] and (not out[-1] or MARKER.match(line, indent)):
            offsets.pop()
        margin = min(indent, offsets[-1] if offsets else 0)
        content, pad = line[margin:], "    " * len(offsets)
        found = FENCE.match(content)
        if fence is not None:
            fence = None if found and found[2].startswith(fence) and content.strip() == found[2] else fence
        elif found:
            fence = found[2]
        elif (item := MARKER.match(content.lstrip(" "))) and len(content) - len(content.lstrip(" ")) < 4:
            content = content.lstrip(" ")
            if out and out[-1] and not MARKER.match(out[-1].lstrip(" ")) and not out[-1].startswith(pad + "    "):
                out.append("")
            offsets.append(indent + item.end())
            content = relinked(content, path, uri)
        else:
            content = relinked(content, path, uri)
            if content.startswith("|"):
                content = re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), content)
        out.append(pad + content)
    return "\n".join(out)
