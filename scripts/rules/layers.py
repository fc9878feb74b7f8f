"""The layers: which target may import which, and which symbols an object may refer to."""

import re
from .source import Source

SYSTEM = {"Glibc", "Synchronization", "Dispatch", "_Concurrency"}
FOUNDATION = {"CoreFoundation", "Foundation"}  # of one target, which is a product of its own
SYNTAX = {  # of the compiler's plug-in, which is no part of any program
    "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxBuilder",
    "SwiftSyntaxMacros",
}
ARROWS = {  # who may import whom; there are no other arrows
    "CLinuxShims": set(),
    "MoonloopCore": {"CLinuxShims"},
    "MoonloopSystem": {"MoonloopCore", "CLinuxShims"},
    "MoonloopSimulation": {"MoonloopCore", "CLinuxShims"},
    "MoonloopFoundation": {"MoonloopCore", "CLinuxShims"},
    "MoonloopCLua": set(),
    "CLuaShims": set(),
    "LuaEmbed": {"CLuaShims", "MoonloopCLua"},
    "LuaEmbedMacros": {"LuaEmbed"},
    "LuaEmbedMacrosPlugin": set(),
    "CRecording": {"CLinuxShims", "CLuaShims"},
    "MoonloopRecording": {"CRecording", "MoonloopCore", "LuaEmbed"},
    "MoonloopLua": {"CLuaShims"},
    "MoonloopCompat": {"MoonloopLua"},
    "Moonloop": {
        "MoonloopCore", "MoonloopSystem", "MoonloopRecording", "LuaEmbed", "MoonloopLua",
        "MoonloopCompat",
    },
    "CLineEditor": set(),
    "MoonloopCLI": {
        "Moonloop", "MoonloopCore", "MoonloopSystem", "MoonloopRecording", "LuaEmbed",
        "CLineEditor",
    },
}

# Folders of Lua modules: whose modules each may require besides its own and `moonloop`.
LUA_ARROWS = {
    "broker": {"json", "redis", "text", "unheld"},
    "compat": {"files", "posix", "text", "unheld"},
    "configuration": {"cron", "generation", "reload", "text"},
    "console": {"inspect", "json", "reference", "text"},
    "cron": {"text"},
    "fs": {"files", "text", "unheld", "warning"},
    "http": {"files", "text"},
    "inspect": {"text"},
    "inspection": {"console", "json", "text"},
    "json": {"text"},
    "log": {"files", "json", "sink", "text", "unheld", "warning"},
    "planning": {"configuration", "json", "reference", "testing", "text"},
    "projects": {"console", "json", "text"},
    "recording": {"tape", "taped"},
    "redis": {"http", "warning"},
    "reference": {"console", "text"},
    "reload": {"configuration", "generation", "text"},
    "testing": {"console", "http", "inspection", "json", "recording", "tape", "taped", "text",
                "unheld"},
    "text": set(),
    "unheld": {"text"},
    "workers": {"text"},
}

_LUA = re.compile(r"(lua|luaL|luaopen|cml)_\w+")
_WAIT = re.compile(r"(cmx_)?(epoll_|timerfd_|eventfd)\w*|p?poll|p?select|\w*sleep")
_CLOCK = re.compile(
    r"clock_gettime|clock_gettime64|gettimeofday|time|\$s\w*(Continuous|Suspending)Clock\w*"
)
_CALL = re.compile(  # of descriptors and files
    r"\$s5Glibc5errno\w*|__errno_location|p?read|p?write|open(at)?(64)?|close|fcntl(64)?|ioctl"
    r"|socket|bind|listen|accept4?|connect|[gs]etsockopt|get(sock|peer)name|send(to|msg)?"
    r"|recv(from|msg)?|pipe2?|dup[23]?|[fl]?stat(64)?|unlink|mkdir|opendir|readlink|kill"
    r"|sigaction|waitp?id"
)
_PATTERNS = re.compile(r"\$s.*17_StringProcessing.*")
_TAPE = re.compile(r"cmr_\w+")
_SYMBOLS = [  # files under Sources/, what their objects must not refer to, why
    (r"(MoonloopCore|MoonloopSystem|MoonloopSimulation|MoonloopFoundation|CLinuxShims)/.*", _LUA,
     "this knows no Lua"),
    (r"(MoonloopCore|MoonloopSystem|MoonloopRecording)/.*", _CALL,
     "only CLinuxShims makes system calls and reads errno"),
    # Those left out are C library interfaces for scripts, or work before or beside a loop.
    (r"Moonloop/(?!Posix/|Console/|Testing/|Recording/|Workers/WorkerText|Runtime/StandardError).*",
     _CALL, "only CLinuxShims makes system calls and reads errno"),
    # Even `contains` of a string in a string does: look with strstr, or through the characters.
    (r"(?!MoonloopFoundation/).*", _PATTERNS, "Swift's string processing makes the program 1.3 MB "
     "larger"),
    (r"(?!CRecording/|MoonloopRecording/).*", _TAPE, "only MoonloopRecording knows the tape"),
    (r"MoonloopCore/(?!Kernel/).*", _WAIT, "only Kernel/ waits"),
    (r"MoonloopCore/(?!Kernel/).*", _CLOCK, "only Kernel/ reads a clock"),
    (r"(MoonloopSystem|CLuaShims|LuaEmbed|Moonloop|MoonloopCLI)/.*", _WAIT, "only Kernel/ waits"),
    # CLuaShims may read a clock: the watchdog is below the loop and knows no kernel.
    (r"(MoonloopSystem|LuaEmbed|Moonloop|MoonloopCLI)/.*", _CLOCK, "only Kernel/ reads a clock"),
]
# Folders of a target, and those whose symbols they may use. Folders that are not listed may use all
# of their target.
FOLDERS = {
    "MoonloopCore": {"Kernel": set()},  # Loop, Items and Timers are parts of one object
    "MoonloopSystem": {
        "Children": set(), "Files": set(), "Signals": set(), "Sockets": set(),
        "Streams": {"Sockets", "TLS"}, "TLS": set(),
        "Terminals": set(), "Watches": set(),
    },
}
_IMPORT = re.compile(
    r"\s*(?:@\w+(?:\(.*?\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)"
)
_INCLUDE = re.compile(
    r"\s*#\s*include\s*[<\"](?:.*/)?(lua|lualib|lauxlib|MoonloopCLua|CLua\w*|cml_\w+)\.h"
)
_REQUIRE = re.compile(r"""\brequire\s*\(?\s*["']moonloop\.([a-z_]+)""")
_DO = "see the arrows in docs/architecture.md"


def imports(source: Source):
    """Findings on the imports and includes of a file under Sources/."""
    target = source.path.split("/")[1]
    allowed = ARROWS.get(target, set()) | SYSTEM
    if target == "MoonloopFoundation":
        allowed |= FOUNDATION
    if target == "LuaEmbedMacrosPlugin":
        allowed |= SYNTAX
    for number, code in enumerate(source.code, 1):
        if source.suffix == ".swift" and (match := _IMPORT.match(code)) and match[1] not in allowed:
            what = f"{target} may not import {match[1]}"
            yield source.finding(number, "arrow", what, _DO)
        # The mask blanks the name of a quoted include: check the line itself.
        if target == "CLinuxShims" and source.suffix in (".c", ".h"):
            if match := _INCLUDE.match(source.lines[number - 1]):
                what = f"{target} may not include {match[1]}.h"
                yield source.finding(number, "arrow", what, _DO)


def requires(source: Source):
    """Findings on what a module written in Lua requires."""
    if source.suffix != ".lua" or "/lua/" not in source.path:
        return
    folder = source.path.split("/lua/", 1)[1].split("/")[0].removesuffix(".lua")
    for number, line in enumerate(source.lines, 1):
        for name in _REQUIRE.findall(line):
            if name != folder and name not in LUA_ARROWS.get(folder, set()):
                what = f"{folder} may not require moonloop.{name}"
                yield source.finding(number, "arrow", what, _DO)


def symbols(source: Source, names):
    """Findings on the names that the object of a file refers to or defines."""
    for files, pattern, why in _SYMBOLS:
        if re.fullmatch(files, source.path.removeprefix("Sources/")):
            found = sorted((name for name in names if pattern.fullmatch(name)), key=len)
            if found:
                more = f" and {len(found) - 1} like it" if len(found) > 1 else ""
                what = f"its object refers to '{found[0]}'{more}, but {why}"
                yield source.finding(1, "symbol", what, _DO)


def folders(seen):
    """Findings on the folders of each target; `seen` has (source, names, defined names)."""
    homes = {}
    for source, _, defined in seen:
        target, folder = source.path.split("/")[1:3]
        if target in FOLDERS:
            homes.update(((target, name), folder) for name in defined)
    for source, names, _ in seen:
        target, folder = source.path.split("/")[1:3]
        allowed = FOLDERS.get(target, {}).get(folder)
        if allowed is None:
            continue
        others = {homes.get((target, name), folder): name for name in sorted(names)}
        for other, name in others.items():
            if other != folder and other not in allowed:
                what = f"{folder}/ may not use {other}/, but its object refers to '{name}'"
                yield source.finding(1, "folder", what, "see FOLDERS in scripts/rules/layers.py")


def unused(seen):
    """Findings on functions of our C targets that no other object refers to."""
    used = {name for _, names, defined in seen for name in names - defined}
    for source, _, defined in seen:
        for name in sorted(defined - used):
            if source.suffix == ".c" and re.match(r"cm[lxro]_", name):
                what = f"only this file uses '{name}'"
                yield source.finding(1, "unused", what, "make it static, or remove it")
