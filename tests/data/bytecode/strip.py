"""Copy recorded bytecode without its disassembly, and with positions run-length coded.

usage: python strip.py FROM_DIR        writes 3.11.json … 3.14.json beside this file

FROM_DIR holds what dump_code.py wrote for each version. A run is [count, line, end_line, col, end_col].
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
DROPPED = ("dis",)
TABLES = ("version", "opmap", "cache_entries", "nb_ops", "intrinsic_1_descs", "intrinsic_2_descs",
          "common_constants", "special_method_names", "functions")


def runs(positions):
    out = []
    for place in positions:
        if out and out[-1][1:] == place:
            out[-1][0] += 1
        else:
            out.append([1, *place])
    return out


def strip_code(code):
    code = {k: v for k, v in code.items() if k not in DROPPED}
    code["positions"] = runs(code["positions"])
    code["consts"] = [{"code": strip_code(c["code"])} if "code" in c else c for c in code["consts"]]
    return code


def main(source):
    for path in sorted(pathlib.Path(source).glob("3.*.json")):
        doc = json.loads(path.read_text())
        doc = {k: v for k, v in doc.items() if k in TABLES}
        doc["functions"] = {k: strip_code(v) for k, v in doc["functions"].items()}
        text = json.dumps(doc, separators=(",", ":"))
        (HERE / path.name).write_text(text.replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
