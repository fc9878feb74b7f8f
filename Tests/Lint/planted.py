"""Planted defects: each rule of scripts/lint must find its own, and must let the clean rows pass.

Run by `scripts/lint --self-test`. A row is: the rule, the path, the text, the lines it must name.
A rule without a row fails the run. What the lint would find in this file is written in two pieces.
"""

import pathlib
import re
import sys
import rules
from rules import layers

HEAD = "// A file for the test.\n"
LONG_SWIFT = HEAD + "func long() {\n" + "  step()\n" * 69 + "}\n"
LONG_C = HEAD + "static int long_one(int a) {\n" + "  step();\n" * 69 + "}\n"
LONG_LUA = "-- A file.\nlocal function long()\n" + "  if a then b() end\n" * 69 + "end\n"
LONG_PYTHON = '"""A file."""\ndef long():\n' + "    step()\n" * 70
DOC = "/// Does it.\n"
EXAMPLE = '-- An example.\nlocal ml = require "moonloop"\nlocal loop = ml.current()\n'
TYPES = """---@class moonloop
local ml = {}
---@class moonloop.Loop
local loop = {}
---@return moonloop.Loop loop The loop.
function ml.current() end
function ml.now() end
---@class moonloop.TimerOptions
---@field every? number How often.
---@field name? string Its name.

---@param options moonloop.TimerOptions When.
---@return moonloop.Timer timer The timer.
function loop:timer(options) end
---@class moonloop.Timer
local timer = {}
function timer:fire() end
"""

# rule, path, text, lines that must be named
FOUND = [
    ("columns", "Sources/Core/A.swift", HEAD + "let a = 1  // " + "x" * 100 + "\n", [2]),
    ("columns", "Sources/CShims/a.c", HEAD + "int a = 1" + " + 1" * 30 + ";\n", [2]),
    ("blanks", "Sources/Core/A.swift", HEAD + "let a = 1 \n\tlet b = 2\n", [2, 3]),
    ("machine-path", "Sources/Core/A.swift", HEAD + "// See /wo" + "rk/design.md\n", [2]),
    ("open-end", "Sources/Core/A.swift", HEAD + "// TO" + "DO: later\n", [2]),
    ("open-end", "Sources/Core/lua/a.lua", "-- A file.\n-- FIX" + "ME later\n", [2]),
    ("word", "Sources/Core/A.swift", HEAD + "// The event" + " loop wakes.\n", [2]),
    ("word", "Sources/Core/A.swift", HEAD + "struct TimerMan" + "ager {}\n", [2]),
    ("word", "Sources/Core/A.swift", HEAD + "// It is made an" + "ew.\n", [2]),
    ("word", "Sources/Core/A.swift", HEAD + "// What it takes, ab" + "out.\n", [2]),
    ("word", "Sources/Core/A.swift", HEAD + "// So that no" + "body else waits.\n", [2]),
    ("word", "Sources/Core/A.swift", HEAD + "// The rest is to" + "ld.\n", [2]),
    ("check-steps", "CONTRIBUTING.md", "## What `scripts/check` wants\n\n| `lint` | x |\n", [1]),
    ("file-length", "Sources/Core/A.swift", HEAD + "// x\n" * 500, [1]),
    ("file-length", "scripts/thing", "#!/bin/sh\n" + "# x\n" * 80, [1]),
    ("function-length", "Sources/Core/A.swift", LONG_SWIFT, [2]),
    ("function-length", "Sources/Core/A.swift", LONG_SWIFT.replace("() {", "() -> Int\n{"), [2]),
    ("function-length", "Sources/Core/A.swift", LONG_SWIFT.replace("func long", "init?"), [2]),
    ("function-length", "Sources/CShims/a.c", LONG_C, [2]),
    ("function-length", "Sources/Core/lua/a.lua", LONG_LUA, [2]),
    ("function-length", "scripts/rules/a.py", LONG_PYTHON, [2]),
    ("docs", "Sources/Core/A.swift", HEAD + "public func go() {}\n", [2]),
    ("docs", "Sources/Core/A.swift", HEAD + "public static let a = 1\n", [2]),
    (
        "docs",
        "Sources/Core/A.swift",
        HEAD + "public final class A {\n  public init() {}\n}\n",
        [2, 3],
    ),
    ("docs", "Sources/Core/A.swift", HEAD + "@frozen public enum A {}\n", [2]),
    ("docs", "Sources/Core/A.swift", HEAD + "extension A {\n  public func go() {}\n}\n", [3]),
    ("summary", "Sources/Core/A.swift", HEAD + "/// does it\npublic func go() {}\n", [2]),
    (
        "summary",
        "Sources/Core/A.swift",
        HEAD + "/// " + "It does. "[:-2] * 20 + ".\npublic var a = 1\n",
        [2],
    ),
    ("foundation", "Sources/Core/A.swift", HEAD + "internal import Foundation\n", [2]),
    ("foundation", "Sources/Core/A.swift", HEAD + "import FoundationEssentials\n", [2]),
    ("testable", "Tests/CoreTests/A.swift", HEAD + "@testable import Core\n", [2]),
    ("argument", "Sources/Core/A.swift", HEAD + "\nfinal class A: @unchecked Sendable {}\n", [3]),
    ("argument", "Sources/Core/A.swift", HEAD + "\nnonisolated(unsafe) var a = 1\n", [3]),
    ("argument", "Sources/Core/A.swift", HEAD + "\nlet a = try! go()\n", [3]),
    ("unowned", "Sources/Core/A.swift", HEAD + "\nlet a = { [unowned self] in go() }\n", [3]),
    (
        "unowned",
        "Sources/Core/A.swift",
        HEAD + "\n// Unowned: it ends first.\nlet a = 1\nunowned let b: C\n\nunowned let d: E\n",
        [7],
    ),
    ("name", "Sources/Core/A.swift", HEAD + "let timer_queue = 1\nvar Queue = 2\n", [2, 3]),
    ("sleeping", "Tests/CoreTests/A.swift", HEAD + "try await Task.sleep(for: .seconds(1))\n", [2]),
    ("raising-call", "Sources/Core/A.swift", HEAD + 'lua_getfield(L, 1, "x")\n', [2]),
    ("raising-call", "Sources/Core/A.swift", HEAD + "let n = luaL_checkinteger(L, 1)\n", [2]),
    ("door", "Sources/CShims/a.c", HEAD + "int r = lua_pcall(L, 0, 0, 0);\n", [2]),
    ("door", "Sources/Core/A.swift", HEAD + "lua_call(L, 0, 0)  // door: no\n", [2]),
    ("door", "Sources/Core/A.swift", HEAD + "let r = lua_resume(L, nil, 0, &n)\n", [2]),
    ("contract", "Sources/CLuaShims/include/a.h", HEAD + "\nint cml_a(lua_State *L);\n", [3]),
    ("file-name", "Sources/Core/TimerUt" + "ils.swift", HEAD, [1]),
    ("placeholder", "Sources/Core/A.swift", "// Placeholder.\n", [1]),
    ("first-sentence", "Sources/Core/A.swift", "import Glibc\n\nlet a = 1\n", [1]),
    ("first-sentence", "Sources/CShims/a.c", "#include <errno.h>\nint a;\n", [1]),
    ("last-line", "Sources/Core/A.swift", HEAD + "let a = 1", [2]),
    ("decision", "docs/decisions/0007-a-choice.md", "# 0007: A choice\n\nStatus: accepted.\n", [1]),
    ("decision", "docs/decisions/0007-a-choice.md", "# 7. A choice\n\n**Context.** None.\n", [1]),
    ("dead-file", "Sources/Gone/A.swift", HEAD, [1]),
    ("dead-file", "Sources/Core/lua/unused.lua", "-- A file.\n", [1]),
    ("dead-file", "scripts/examples/unused.lua", "-- An example.\n", [1]),
    ("dead-file", "docs/unlinked.md", "# A page\n", [1]),
    ("type", "scripts/examples/a_spec.lua", EXAMPLE + "loop:evry(1, print)\nml.now()\n", [4]),
    (
        "type",
        "scripts/examples/a_spec.lua",
        EXAMPLE + "local t = loop:timer { evry = 1, name = 'a' }\nt:fire()\nt:fre()\n",
        [4, 6],
    ),
    ("rule", "Sources/Core/A.swift", HEAD + "// It is once only (R7).\n", [2]),
    ("link", "README.md", "See [this](docs/gone.md).\n", [1]),
    ("old-offender", "Sources/Core/Shrunk.swift", HEAD, [1]),
    ("old-offender", "Sources/Core/A.swift", HEAD, []),
]

# rule, path, text, symbols of its object, lines that must be named
LAYERS = [
    ("arrow", "Sources/MoonloopCore/A.swift", HEAD + "internal import LuaEmbed\n", [], [2]),
    ("arrow", "Sources/LuaEmbed/A.swift", HEAD + "package import MoonloopCore\n", [], [2]),
    ("arrow", "Sources/LuaEmbed/A.swift", HEAD + "import struct CLinuxShims.Event\n", [], [2]),
    ("arrow", "Sources/LuaEmbed/A.swift", HEAD + "internal import SwiftSyntax\n", [], [2]),
    ("arrow", "Sources/LuaEmbedMacrosPlugin/A.swift", HEAD + "import SwiftSyntax\n", [], []),
    ("arrow", "Sources/CLinuxShims/a.c", HEAD + "#include <lauxlib.h>\n", [], [2]),
    ("arrow", "Sources/Moonloop/A.swift", HEAD + "import MoonloopCore\nimport Glibc\n", [], []),
    ("arrow", "Sources/M/lua/json/a.lua", "-- A.\nlocal a = require 'moonloop.http.url'", [], [2]),
    ("arrow", "Sources/M/lua/json.lua", 'require "moonloop" require "moonloop.json.a"', [], []),
    ("symbol", "Sources/MoonloopCore/A.swift", HEAD, ["lua_gettop"], [1]),
    ("symbol", "Sources/MoonloopCore/A.swift", HEAD, ["epoll_ctl", "clock_gettime"], [1, 1]),
    ("symbol", "Sources/MoonloopCore/A.swift", HEAD, ["cmx_epoll_wait"], [1]),
    ("symbol", "Sources/MoonloopCore/A.swift", HEAD, ["$ss15ContinuousClockV3nowyyF"], [1]),
    ("symbol", "Sources/LuaEmbed/A.swift", HEAD, ["lua_gettop", "usleep"], [1]),
    ("symbol", "Sources/Moonloop/A.swift", HEAD, ["$sSy17_StringProcessingE8containsySbSSF"], [1]),
    ("symbol", "Sources/MoonloopCore/Kernel/A.swift", HEAD, ["epoll_ctl", "clock_gettime"], []),
    ("symbol", "Sources/CLuaShims/a.c", HEAD, ["lua_pcallk", "clock_gettime"], []),
]

# rule, the files of a target with the names that their objects use and define, the files found
OBJECTS = [
    (
        "folder",
        [
            ("Sources/MoonloopSystem/Watches/A.swift", {"$s6opened"}, set()),
            ("Sources/MoonloopSystem/Sockets/A.swift", {"$s6opened"}, {"$s6opened"}),
        ],
        ["Sources/MoonloopSystem/Watches/A.swift"],
    ),
    (
        "folder",
        [
            ("Sources/MoonloopSystem/Streams/A.swift", {"$s6opened", "$s4read"}, {"$s4read"}),
            ("Sources/MoonloopSystem/Sockets/A.swift", {"$s6opened"}, {"$s6opened"}),
        ],
        [],
    ),
    (
        "unused",
        [
            ("Sources/CLuaShims/a.c", {"cml_a", "cml_b"}, {"cml_a", "cml_b"}),
            ("Sources/LuaEmbed/A.swift", {"cml_b"}, set()),
        ],
        ["Sources/CLuaShims/a.c"],
    ),
    (
        "unused",
        [
            ("Sources/CLuaShims/a.c", {"cml_a", "stay"}, {"cml_a", "stay"}),
            ("Sources/CLuaShims/b.c", {"cml_a"}, set()),
        ],
        [],
    ),
]

# path, text: nothing is wrong here
CLEAN = [
    ("Sources/Core/A.swift", HEAD + 'let url = "event' + ' loop // not a comment"\n'),
    ("Sources/Core/A.swift", HEAD + "// TO" + "DO(#12): later\n"),
    (
        "Sources/Core/A.swift",
        HEAD + "// Safe: written once, before threads start.\nnonisolated(unsafe) var a = 1\n",
    ),
    (
        "Sources/Core/A.swift",
        HEAD + 'let text = "\\(call("a")) lua_error("\n// lua_error(L) is for C.\n',
    ),
    ("Sources/Core/A.swift", HEAD + "func `a stopped run ends`() {}\nlet L = 1, wait_ns = 2\n"),
    (
        "Sources/Core/A.swift",
        HEAD + DOC + "@discardableResult\npublic func go() -> Bool { true }\n",
    ),
    ("Sources/Core/A.swift", HEAD + "extension A: P {\n  public func read() {}\n}\n"),
    ("Sources/Core/A.swift", HEAD + DOC + "// Sendable: it is.\npublic final class A {}\n"),
    ("Tests/CoreTests/A.swift", HEAD + "case sleep(ms: Int)\nlet a = [.sleep(ms: 1)]\n"),
    ("Sources/CLuaShims/include/a.h", HEAD + "// [-0, +1, m]\nint cml_a(lua_State *L);\n"),
    ("Sources/CShims/a.c", HEAD + "lua_call(L, 0, 0);  // door: below a protected call\n"),
    ("Sources/Core/A.swift", HEAD + "// Calls wakeUp.\n"),
    ("Sources/CLuaShims/cml_call.c", HEAD + "int r = lua_pcall(L, 0, 0, 0);\n"),
    ("Sources/Core/A.swift", HEAD + 'extension A {\n  public var description: String { "" }\n}\n'),
    (
        "Sources/Core/A.swift",
        HEAD + "protocol P {\n  func a()\n  func b() -> Int\n}\n" + "// x\n" * 90,
    ),
    ("Sources/Core/A.swift", HEAD + LONG_SWIFT[len(HEAD) :].replace("  step()\n", "", 1)),
    ("Sources/Core/lua/used.lua", "-- A file.\nlocal s = [[\nfunction x(\n]]\n"),
    ("Tests/LinuxKernelTests/A.swift", HEAD + "usleep(10)\n"),
]


def findings(path, text):
    files = {
        "Package.swift": '"Core" "CoreTests" "CShims" "CLuaShims" "LinuxKernelTests"\n',
        "docs/types/loop.lua": TYPES,
        "scripts/check": "#!/bin/sh\n# Checks.\nstep scripts/lint\nstep scripts/build\n",
        "Sources/CShims/embed.c": '// Embeds.\n#embed "../lua/used.lua"\n#embed "../lua/a.lua"\n',
        path: text,
    }
    sources = {name: rules.Source(name, text) for name, text in files.items()}
    offenders = {("Sources/Core/Shrunk.swift", "file-length"): 600}
    return [f for f in rules.check(sources, set(sources), offenders) if f.path == path]


def main():
    failures = []
    for rule, path, text, lines in FOUND:
        got = [f.line for f in findings(path, text) if f.rule == rule]
        if got != lines:
            failures.append(f"{rule} in {path}: expected lines {lines}, got {got}:\n{text[:200]}")
    for rule, path, text, symbols, lines in LAYERS:
        source = rules.Source(path, text)
        found = (layers.imports(source), layers.requires(source), layers.symbols(source, symbols))
        got = [f.line for one in found for f in one]
        if got != lines:
            failures.append(
                f"{rule} in {path}: expected lines {lines}, got {got}:\n{text}{symbols}"
            )
    for rule, objects, paths in OBJECTS:
        seen = [(rules.Source(path, HEAD), names, defined) for path, names, defined in objects]
        got = [(f.rule, f.path) for one in (layers.folders(seen), layers.unused(seen)) for f in one]
        if got != [(rule, path) for path in paths]:
            failures.append(f"{rule}: expected findings in {paths}, got {got}:\n{objects}")
    for path, text in CLEAN:
        failures += [
            f"nothing is wrong, but: {finding}\n{text[:200]}" for finding in findings(path, text)
        ]
    planted = {row[0] for row in FOUND + LAYERS + OBJECTS}
    code = "".join(p.read_text() for p in pathlib.Path("scripts/rules").glob("*.py"))
    named = set(re.findall(r'finding\(\s*\w[^,"]*,\s*"([a-z-]+)"', code)) | {"dead-file"}
    failures += [f"no defect is planted for the rule '{rule}'" for rule in sorted(named - planted)]
    print(*failures, sep="\n", end="\n" if failures else "")
    print(
        f"lint: {len(FOUND + LAYERS + OBJECTS)} rows, {len(CLEAN)} clean files, "
        f"{len(named)} rules, {len(failures)} failures",
        file=sys.stderr,
    )
    return 1 if failures else 0
