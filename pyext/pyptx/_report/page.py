"""The page of a report: one HTML text from what gather.py has gathered. It asks no host for anything,
and its Content-Security-Policy lets it ask none."""

from html import escape
from pathlib import Path

from pyptx._report import charts
from pyptx._report.gather import GET_TOOLS

FOLDER = Path(__file__).parent
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(reports):
    """HTML of one report or more, with a switch between them."""
    first = reports[0]
    names = "".join(f'<button data-report="r{k}" aria-pressed="{"true" if not k else "false"}">{escape(r["signature"])}</button>'
                     for k, r in enumerate(reports)) if len(reports) > 1 else ""  # fmt: skip
    switch = f'<nav aria-label="signatures">{names}</nav>\n' if names else ""
    parts = "".join(f'<main class="report" id="r{k}"{" hidden" if k else ""}>{body(r)}</main>' for k, r in enumerate(reports))
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n<title>{escape(first["kernel"])}: pyptx report</title>\n'
            f"<style>\n{style}</style>\n</head>\n<body>\n{switch}{parts}"
            f'<div id="tip" role="tooltip" hidden></div>\n<script>\n{script}</script>\n</body>\n</html>\n')  # fmt: skip


def body(data):
    return "".join((head(data), cards(data), advice(data), listings(data), pictures(data), work_table(data)))


def head(data):
    gpu = data["gpu"]
    of = f"{gpu['title']}, {data['arch']}" if gpu else data["arch"]
    return (f"<header><h1><code>{escape(data['kernel'])}</code></h1><p><code>{escape(data['signature'])}</code></p>"
            f'<p class="soft small">for {escape(of)}; pyptx {escape(data["version"])}</p></header>')  # fmt: skip


# --- what a reader looks at first ---


def card(name, value, note="", warn=False):
    return (f'<div class="card{" warn" if warn else ""}"><div class="name">{escape(name)}</div><div class="value">{escape(value)}</div>'
            f'<div class="note">{escape(note)}</div></div>')  # fmt: skip


def amount(n):
    return f"{n:,} B"


def cards(data):
    return f'<div class="cards">{"".join((*machine_cards(data), *work_cards(data)))}</div>'


def machine_cards(data):
    usage = data["usage"]
    if usage is None:
        yield card("Registers", "not known", "see SASS below for how to get it")
        return
    yield card("Registers", str(usage["registers"]), "a thread, of at most 255")
    if usage["spill_stores"] is None:
        yield card("Local memory", amount(usage["stack"]), "a thread; spills are part of it", usage["stack"] > 0)
    else:
        spilled = usage["spill_stores"] or usage["spill_loads"]
        said = f"{usage['spill_stores']:,} B stored, {usage['spill_loads']:,} B loaded a thread" if spilled else "all values stay in registers"
        yield card("Spills", amount(max(usage["spill_stores"], usage["spill_loads"])) if spilled else "none", said, bool(spilled))
        yield card("Local memory", amount(usage["stack"]), "a thread", usage["stack"] > 0)
    yield card("Shared memory", amount(usage["shared"]), "a block, static")
    banks = usage["constant"]
    note = "; ".join(f"bank {bank}: {n:,}{' (parameters)' if bank == '0' else ''}" for bank, n in banks.items() if bank)
    yield card("Constants", amount(sum(banks.values())), note)
    if data["occupancy"]:
        at = data["occupancy"]["chosen"]
        yield card("Occupancy", f"{at['part']:.0%}", f"{at['threads']} threads a block, limited by {at['limit']}", not at["blocks"])


def per(roof):
    """What the bytes and operations of the roofline are of."""
    return "a thread" if not any(roof["loops"]) else "a round of its loop" if len(roof["loops"]) == 1 else "a round of each loop"


def work_cards(data):
    roof = data["roofline"]
    if not roof:
        return
    rounds = per(roof)
    yield card("Global memory", amount(roof["bytes"]), rounds)
    yield card("Operations", f"{roof['flops']:,}", f"floating-point, {rounds}")
    if roof["intensity"] is not None:
        yield card("Intensity", f"{roof['intensity']:.3g}", "operations a byte of global memory")
    yield card("Bound by", roof["bound"], f"on {data['gpu']['title']}, at most {roof['attainable']:.3g} TFLOPS" if roof["flops"] else
               f"{data['gpu']['bandwidth']:,g} GB/s on {data['gpu']['title']}")  # fmt: skip


def advice(data):
    if not data["advice"]:
        return ""
    texts = "".join(f"<pre>{escape(one['text'].rstrip())}</pre>" for one in data["advice"])
    return f'<section class="panel advice"><h2>Advice</h2>{texts}</section>'


# --- the panes ---


def mark_of(file, line):
    """Attributes of a row that came from a line: lines get hues of their own."""
    return f' data-l="{file}:{line}" style="--h:{(line * 47 + file * 120) % 360}"' if file is not None and line else ""


def listings(data):
    panes = [("python", "Python", "types below each line", python_rows(data)), ("ssa", "SSA", "typed", plain_rows(data["ssa"])),
             ("ptx", "PTX", data["arch"], plain_rows(data["ptx"])), ("sass", "SASS", data["usage_from"], sass_pane(data))]  # fmt: skip
    tools = "".join(f'<button data-pane="{key}" aria-pressed="true">{title}</button>' for key, title, _, _ in panes)
    shown = "".join(f'<section class="pane" data-pane="{key}" aria-label="{title}"><h3>{title}<span>{escape(note)}</span></h3>'
                    f'<div class="rows"><div>{rows}</div></div></section>' for key, title, note, rows in panes)  # fmt: skip
    return (f'<div class="bar-tools"><h2>Line by line</h2>{tools}<span class="soft small">Point at a line, or click to keep it: the lines that came '
            f'from it light up.</span></div><div class="panes">{shown}</div>'
            f'<p class="legend"><span><span class="u-f64 f64">float64</span>: {escape(float64_rate(data["gpu"]))}</span>'
            '<span><span class="u-i64 i64">64-bit integer</span>: several instructions each</span>'
            "<span>Point at an expression for its type; int, float and bool are Python’s own numbers</span></p>")  # fmt: skip


def float64_rate(gpu):
    if not gpu:
        return "many GPUs compute it 32 or 64 times slower than float32"
    return f"{gpu['title']} computes it {gpu['float32'] / gpu['float64']:g} times slower than float32"


def plain_rows(rows):
    return "".join(f'<div class="r"{mark_of(file, line)}>{escape(text) or " "}</div>' for text, file, line in rows)


def sass_pane(data):
    if data["sass"] is not None:
        return plain_rows(data["sass"])
    return f'<div class="missing">There is no SASS here: {escape(data["sass_missing"])}{tools_hint(data)}</div>'


def tools_hint(data):
    return "" if "pip install" in data["sass_missing"] or "device function" in data["sass_missing"] else f"\n\nTo get it: {GET_TOOLS}"


def python_rows(data):
    out = []
    for part in data["sources"]:
        name = data["files"][part["file"]]
        out.append(f'<div class="section">{escape(", ".join(part["functions"]))}: {escape(Path(name).name)}</div>')
        if not part["lines"]:
            out.append('<div class="missing">its source is not known here</div>')
        for line in part["lines"]:
            out.append(f'<div class="r" tabindex="0"{mark_of(part["file"], line["number"])}><span class="n">{line["number"]}</span>{code(line)}'
                       f"{types(line)}</div>")  # fmt: skip
    return "".join(out)


def types(line):
    if not line["types"]:
        return ""
    chips = "".join(f'<span><em class="{mark}">{escape(kind)}</em> <b>{escape(", ".join(names))}</b></span>' for names, kind, mark in line["types"])
    return f'<div class="types">{chips}</div>'


def code(line):
    """A line of Python in runs of one colour and one innermost type."""
    text = line["text"]
    colour, kind = [""] * len(text), [None] * len(text)
    for begin, end, name in line["colours"]:
        colour[begin:end] = [name] * (min(end, len(text)) - begin)
    for span in line["spans"]:  # outer before inner
        kind[span[0]:span[1]] = [span] * (min(span[1], len(text)) - span[0])
    out, k = [], 0
    while k < len(text):
        end = k + 1
        while end < len(text) and colour[end] == colour[k] and kind[end] is kind[k]:
            end += 1
        cls = " ".join(filter(None, (colour[k], f"u-{kind[k][3]}" if kind[k] and kind[k][3] else "")))
        attributes = (f' class="{cls}"' if cls else "") + (f' data-t="{escape(kind[k][2])}"' if kind[k] else "")
        out.append(f"<span{attributes}>{escape(text[k:end])}</span>" if attributes else escape(text[k:end]))
        k = end
    return "".join(out)


# --- pictures ---


def pictures(data):
    return f'<div class="pair">{occupancy(data)}{roofline(data)}</div>'


def occupancy(data):
    found = data["occupancy"]
    if not found:
        why = data["usage_missing"] or "the limits of this architecture are not known"
        return f'<section class="panel"><h2>Occupancy</h2><div class="missing">Not known: {escape(why)}</div></section>'
    at, limits = found["chosen"], found["limits"]
    said = (f"{at['threads']} threads a block ({found['why']}): {at['blocks']} block{'s' * (at['blocks'] != 1)} a multiprocessor, {at['part']:.0%} of its "
            f"warps, limited by {at['limit']}." if at["blocks"] else f"A block of {at['threads']} threads cannot run: {at['limit']}.")  # fmt: skip
    dynamic = f" With {found['dynamic_shared']:,} B of dynamic shared memory." if found["dynamic_shared"] else ""
    used = [k for k, name in enumerate(charts.LIMITS) if any(row["limit"] == name for row in found["rows"])]
    key = "".join(f'<span><i class="l{k}"></i>limited by {charts.LIMITS[k]}</span>' for k in used)
    return (f'<section class="panel"><h2>Occupancy against block size</h2>{charts.occupancy(found)}<div class="key-of">{key}</div><p class="small">{escape(said + dynamic)}</p>'
            f'<p class="soft small">A multiprocessor of {escape(data["arch"])} holds {limits["threads"]:,} threads, {limits["blocks"]} blocks, 65,536 '
            f'registers and {limits["shared"]} KB of shared memory.</p></section>')  # fmt: skip


def roofline(data):
    roof, gpu = data["roofline"], data["gpu"]
    if not gpu:
        return f'<section class="panel"><h2>Roofline</h2><div class="missing">No GPU of {escape(data["arch"])} is in the table of GPUs: name one with gpu=.</div></section>'
    if not roof:
        return '<section class="panel"><h2>Roofline</h2><div class="missing">The kernel does nothing with floats, and nothing with global memory.</div></section>'
    said = {"memory": "Memory is the bound: fewer bytes make it faster, fewer operations do not.",
            "compute": "Arithmetic is the bound: fewer or cheaper operations make it faster."}[roof["bound"]]  # fmt: skip
    return (f'<section class="panel"><h2>Place in the roofline of {escape(gpu["title"])}</h2>{charts.roofline(roof, gpu)}<p class="small">{said}</p>'
            f'<p class="soft small">{gpu["multiprocessors"]} multiprocessors, {gpu["bandwidth"]:,g} GB/s, {gpu["float32"]:g} TFLOPS float32, '
            f'{gpu["float64"]:.3g} TFLOPS float64 (NVIDIA’s figures). Bytes are those that threads ask for: where a cache serves a part of them, the '
            "place is further right.</p></section>")  # fmt: skip


# --- bytes and operations ---


def where(term, data):
    def named(loop):
        own = loop["file"] == data["sources"][0]["file"]
        place = f"line {loop['line']}" + ("" if own else f" of {Path(data['files'][loop['file']]).name}")
        return f"<code>{escape(loop['text']) or 'the loop'}</code> ({escape(place)})"

    return "each round of " + ", in ".join(map(named, reversed(term["loops"]))) if term["loops"] else "each thread, once"


def work_table(data):
    terms = data["work"]["terms"]
    if not terms:
        return ""
    spaces = [space for space in ("global", "shared", "local", "constant") if any(space in term["bytes"] for term in terms)]
    bits = sorted({b for term in terms for b in term["flops"]}, key=int)
    functions, atomics = any(term["functions"] for term in terms), any(term["atomics"] for term in terms)
    titles = ["", *(f"{space}: loaded, stored" for space in spaces), *(f"float{b} operations" for b in bits), *(["of them functions"] * functions),
              *(["atomics"] * atomics)]  # fmt: skip
    rows = []
    for term in reversed(terms):
        cells = [where(term, data)]
        cells += ["{:,} B, {:,} B".format(*term["bytes"][space]) if space in term["bytes"] else "" for space in spaces]
        cells += [f"{term['flops'][b]:,}" if b in term["flops"] else "" for b in bits]
        cells += [f"{sum(term['functions'].values()):,}" if term["functions"] else ""] * functions + [str(term["atomics"] or "")] * atomics
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    notes = "".join(f"<p class='soft small'>{escape(note[0].upper() + note[1:])}.</p>" for note in data["work"]["notes"])
    return (f'<section class="panel"><h2>Bytes and operations</h2><div class="wide"><table><tr>{"".join(f"<th>{t}</th>" for t in titles)}</tr>'
            f"{''.join(rows)}</table></div><p class='soft small'>Of a thread on the path that does most, as its source asks for them. Loops with a known "
            f"trip count are counted through; others have a row of their own. Functions are exp, sqrt, ** and the like.</p>{notes}</section>")  # fmt: skip
