"""Record what the running CPython's compiler makes of a file's functions, as JSON.

usage: python record.py SOURCE.py OUT.json
       python record.py --strip FROM_DIR     copies 3.11.json … from where corpus.py was recorded

The result holds the version's opcode tables and, for each function, its code object. Positions are run-length coded:
[count, line, end_line, col, end_col] for count code units.
"""
import json
import opcode
import pathlib
import sys
import types

HERE = pathlib.Path(__file__).parent
TABLES = ("nb_ops", "intrinsic_1_descs", "intrinsic_2_descs", "special_method_names")


def tables():
    doc = {"version": sys.version.split()[0], "opmap": dict(opcode.opmap)}
    cache = opcode._inline_cache_entries
    doc["cache_entries"] = dict(cache) if hasattr(cache, "items") else {n: cache[o] for n, o in opcode.opmap.items() if o < len(cache) and cache[o]}
    for name in TABLES:
        value = getattr(opcode, "_" + name, None)
        if value is not None:
            doc[name] = [list(x) if isinstance(x, tuple) else x for x in value]
    if hasattr(opcode, "_common_constants"):
        doc["common_constants"] = [repr(c) for c in opcode._common_constants]
    return doc


def constant(c):
    if isinstance(c, types.CodeType):
        return {"code": code(c)}
    if isinstance(c, (tuple, frozenset)):
        return {"tuple": [constant(x) for x in c]}
    if c is Ellipsis:
        return {"ellipsis": True}
    if isinstance(c, slice):
        return {"slice": [constant(c.start), constant(c.stop), constant(c.step)]}
    return {type(c).__name__: repr(c)}


def runs(positions):
    out = []
    for place in map(list, positions):
        if out and out[-1][1:] == place:
            out[-1][0] += 1
        else:
            out.append([1, *place])
    return out


def code(co):
    return {
        "name": co.co_name, "qualname": co.co_qualname, "flags": co.co_flags, "firstlineno": co.co_firstlineno,
        "argcount": co.co_argcount, "posonlyargcount": co.co_posonlyargcount, "kwonlyargcount": co.co_kwonlyargcount,
        "nlocals": co.co_nlocals, "stacksize": co.co_stacksize, "varnames": list(co.co_varnames), "names": list(co.co_names),
        "cellvars": list(co.co_cellvars), "freevars": list(co.co_freevars), "consts": [constant(c) for c in co.co_consts],
        "code": co.co_code.hex(), "linetable": co.co_linetable.hex(), "exceptiontable": co.co_exceptiontable.hex(),
        "positions": runs(co.co_positions()),
    }


def write(doc, path):
    text = json.dumps(doc, separators=(",", ":"))
    path.write_text(text.replace('},"', '},\n"') + "\n")  # lines that diff and grep can handle


def record(source, out):
    names = {}
    exec(compile(pathlib.Path(source).read_text(), pathlib.Path(source).name, "exec"), names)
    functions = {n: f for n, f in names.items() if isinstance(f, types.FunctionType)}
    write({**tables(), "functions": {n: code(f.__code__) for n, f in functions.items()}}, pathlib.Path(out))


def strip_code(co):
    co = {k: v for k, v in co.items() if k != "dis"}
    co["positions"] = runs(co["positions"])
    co["consts"] = [{"code": strip_code(c["code"])} if "code" in c else c for c in co["consts"]]
    return co


def strip(source):
    keep = ("version", "opmap", "cache_entries", "common_constants", *TABLES)
    for path in sorted(pathlib.Path(source).glob("3.*.json")):
        doc = json.loads(path.read_text())
        functions = {k: strip_code(v) for k, v in doc["functions"].items()}
        write({**{k: v for k, v in doc.items() if k in keep}, "functions": functions}, HERE / path.name)


if __name__ == "__main__":
    strip(sys.argv[2]) if sys.argv[1] == "--strip" else record(*sys.argv[1:])
