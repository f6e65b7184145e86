"""kernel.report() and `pyptx compile --emit html`: what became of a kernel, as one HTML page.

gather.py gathers plain data (types.py, count.py, listings.py, gpus.py), page.py draws it (charts.py,
page.css, page.js)."""

import os
import tempfile
import webbrowser
from html import escape
from pathlib import Path


class Report:
    """What became of a kernel: `data` is a list of dicts, one a signature; `html` the page.

    It shows itself in a notebook; `save(path)` writes the page, `open()` shows it in a browser, and
    str() is a summary in plain text. Nothing of it asks a network, or needs a GPU.

        report = add.report("float32[:], float32[:], float32[:]", gpu="H100")
        report.save("add.html")
        print(report)
    """

    def __init__(self, data):
        self.data = data

    @property
    def html(self):
        """The page: one HTML text with everything inside."""
        from pyptx._report.page import page

        return page(self.data)

    def save(self, path):
        """Writes the page to a file, and returns its Path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path

    def open(self):
        """Shows the page in the default browser, from a temporary file, whose Path it returns.
        RuntimeError where there is no browser: then save() it."""
        handle, name = tempfile.mkstemp(".html", f"pyptx-{self.data[0]['symbol']}-")
        os.close(handle)
        path = self.save(name)
        if not webbrowser.open(path.as_uri()):
            raise RuntimeError(f"no browser could be opened; the page is {path}")
        return path

    def _repr_html_(self):
        # A document of its own: its style cannot reach the notebook's, nor the notebook's its.
        return f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" style="width:100%;height:760px;border:0" title="pyptx report"></iframe>'

    def __str__(self):
        return "\n\n".join("\n".join(summary(data)) for data in self.data)

    def __repr__(self):
        return f"<pyptx report of {self.data[0]['kernel']}: {'; '.join(data['signature'] for data in self.data)}>"


def summary(data):
    """Lines of plain text."""
    from pyptx._report.page import per

    usage, occupancy, roof = data["usage"], data["occupancy"], data["roofline"]
    def of(n, what):
        return f"{n:,} {what}{'s' * (n != 1)}"

    yield f"{data['kernel']}{data['signature'] if data['signature'].startswith('(') else '(' + data['signature'] + ')'}"
    yield f"  for {data['gpu']['title'] + ', ' if data['gpu'] else ''}{data['arch']}"
    if usage:
        spills, loads = usage["spill_stores"], usage["spill_loads"]  # None: the driver does not say
        said = "" if spills is None else f", spills of {spills:,} bytes stored and {loads:,} loaded" if spills or loads else ", no spills"
        yield (f"  {usage['registers']} registers a thread, {usage['shared']:,} bytes of shared memory a block, {usage['stack']:,} bytes of local memory, "
               f"{sum(usage['constant'].values()):,} bytes of constant memory{said}")  # fmt: skip
    else:
        yield f"  registers are not known: {data['usage_missing'].splitlines()[0]}"
    if occupancy:
        at = occupancy["chosen"]
        yield f"  {at['threads']} threads a block: {of(at['blocks'], 'block')} a multiprocessor, occupancy {at['part']:.0%}, limited by {at['limit']}"
    if roof:
        yield f"  {of(roof['bytes'], 'byte')} of global memory and {of(roof['flops'], 'floating-point operation')} {per(roof)}: bound by {roof['bound']}"
    for advice in data["advice"]:
        yield f"  {advice['code']} line {advice['line']}: {advice['message']}"


# --- what kernels call ---


def report(kernel, signature=None, *, arch=None, gpu=None, block=None, dynamic_shared=0):
    """kernel.report: see there."""
    from pyptx._report.gather import gather

    arch, key = target(arch, gpu)
    if block is not None and not 1 <= block <= 1024:
        raise ValueError(f"report(block={block}): a block has 1 to 1024 threads")
    if dynamic_shared < 0:
        raise ValueError(f"report(dynamic_shared={dynamic_shared}): bytes cannot be negative")
    return Report([gather(kernel, text, arch, key, block, dynamic_shared) for text in signatures(kernel, signature)])


def signatures(kernel, signature):
    """Texts: of the one that is asked for, else of all that are known."""
    from pyptx.cuda._jit import _signature_text

    if signature is not None:
        return [signature if isinstance(signature, str) else _signature_text(signature)]
    known = list(dict.fromkeys([*kernel.declared_signatures, *map(_signature_text, kernel.signatures)]))
    if not known:
        raise ValueError(f'{kernel.__name__}.report(): it was not compiled for any types yet; launch it first, or give them, as in '
                         f'{kernel.__name__}.report("float32[:], int32")')  # fmt: skip
    return known


def target(arch=None, gpu=None):
    """(architecture, key in the table of GPUs or None) of what was asked for; without a word the
    current GPU's, where there is one, else an H100's."""
    from pyptx import _pyptx
    from pyptx._report import gpus
    from pyptx.cli import Usage, arch_name

    named = gpu or arch
    if gpu is not None and gpus.key_of(gpu) is None:
        raise ValueError(f"gpu='{gpu}' is not in the table of GPUs: it has {', '.join(facts.title for facts in gpus.TABLE.values())}")
    if named is None:
        device = _pyptx.get_current_device()
        if device.is_host:
            named = gpus.DEFAULT
        else:
            major, minor = device.compute_capability
            named = gpus.key_of(device.name) or f"sm_{major}{minor}"
    key = gpus.key_of(named)
    try:
        text = arch_name(arch or (gpus.facts(key)["arch"] if key else named))
    except Usage as error:
        raise ValueError(str(error)) from None
    if text == "host":
        raise ValueError("report(arch='host'): the report is of a GPU's code; inspect_asm shows the host's")
    if key and gpu and arch and gpus.facts(key)["arch"].rstrip("af") != text.rstrip("af"):
        raise ValueError(f"report(arch='{arch}', gpu='{gpu}'): that GPU is {gpus.facts(key)['arch']}")
    return text, key or gpus.of_arch(text)
