"""The peers of the benchmark: how each is started, and where it comes from."""

import os
import pathlib
import shutil
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILT = HERE / ".build" / "native"

# Debian's lua-http has no folder for Lua 5.4, but runs there: it is written in Lua alone.
_LUA_HTTP = "".join(f";/usr/share/lua/5.{minor}/?.lua;/usr/share/lua/5.{minor}/?/init.lua"
                    for minor in (3, 2))


@dataclass(frozen=True)
class Peer:
    program: str  # What PROGRAMS starts.
    script: str | None  # The file of the row's folder that it runs; None: the folder's name.
    environment: dict = field(default_factory=dict)
    package: str = ""  # Debian's, which brings the program.
    kind: str = "lua"  # "ours"; "bound": not a peer; else who it competes with: "lua", "other".


PEERS = {
    "floor": Peer("floor", "floor.lua", kind="bound"),
    # The floor with a userdata for each handle.
    "objects": Peer("floor", "objects.lua", kind="bound"),
    # Asks the kernel in every 20th busy pass.
    "polled": Peer("floor", "floor.lua", {"FLOOR_POLL": "20"}, kind="bound"),
    "slack": Peer("floor", "floor.lua", {"FLOOR_SLACK": "1"}, kind="bound"),  # Of 1 ns.
    "libuv in C": Peer("libuv", None, kind="bound"),
    "nginx": Peer("bash", "nginx.sh", package="nginx-light", kind="bound"),
    "luv": Peer("lua", "luv.lua", package="lua-luv"),
    "luv again": Peer("lua", "luv-again.lua", package="lua-luv"),
    "luv generational": Peer("lua", "luv.lua", {"BENCH_GC": "generational"}, "lua-luv"),
    "cqueues": Peer("lua", "cqueues.lua", package="lua-cqueues"),
    "lua-http": Peer("lua", "lua-http.lua", {"LUA_PATH": _LUA_HTTP}, "lua-http"),
    "lua-eco": Peer("eco", "eco.lua"),
    "lua5.4": Peer("lua", "lua.lua", package="lua5.4"),
    "busted": Peer("busted", "busted.lua", package="lua-busted"),
    "gawk": Peer("gawk", "gawk.awk", {"LC_ALL": "C"}, "gawk", "other"),
    "node": Peer("node", "node.js", package="nodejs", kind="other"),
    "CFRunLoop": Peer("cf", None, kind="other"),
    "moonloop": Peer("moonloop", "moonloop.lua", kind="ours"),
    # Handlers of events instead of tasks.
    "events": Peer("moonloop", "moonloop-handlers.lua", kind="ours"),
    # Reads and writes by the C functions that the peers call.
    "same I/O": Peer("moonloop", "moonloop-same.lua", kind="ours"),
    "generational": Peer("moonloop", "moonloop.lua", {"BENCH_GC": "generational"}, kind="ours"),
    "least slack": Peer("moonloop", "moonloop.lua", {"BENCH_SLACK": "0"}, kind="ours"),
    "one worker": Peer("moonloop", "moonloop.lua", {"BENCH_WORKERS": "1"}, kind="bound"),
    "Swift host": Peer("host", "moonloop.lua", kind="ours"),
    "before": Peer("before", "moonloop.lua", kind="ours"),  # Our program at another commit.
}
PROGRAMS = {
    "floor": [BUILT / "floor"],
    "libuv": [BUILT / "libuv"],
    "lua": ["lua5.4"],
    "busted": ["lua5.4", "/usr/bin/busted", "--output=utfTerminal"],
    "eco": ["eco"],
    "gawk": ["gawk", "-f"],
    "node": ["node"],
    "bash": ["bash"],
    "cf": [BUILT / "cf"],
    "moonloop": [os.environ.get("MOONLOOP", BUILT / "moonloop")],
    "before": [BUILT / "before"],
    "host": [BUILT / "host"],
}


def kinds(*wanted):
    return tuple(name for name, peer in PEERS.items() if peer.kind in wanted)


def missing(name):
    """Why a peer cannot take part, in words; None when it can."""
    peer = PEERS[name]
    program = str(PROGRAMS[peer.program][0])
    if os.path.isabs(program):
        return None if os.access(program, os.X_OK) else "not built"
    files = {"busted": "/usr/bin/busted", "nginx": "/usr/sbin/nginx",
             "lua-http": "/usr/share/lua/5.3/http/server.lua"}
    is_there = shutil.which(program) and os.path.exists(files.get(name, "/"))
    if not is_there:
        return f"not installed: apt-get install {peer.package}" if peer.package else "not installed"
    return None


def command(name, row):
    """The command and environment of a peer's run, or the reason in words why there is none."""
    peer = PEERS[name]
    reason = missing(name)
    if reason:
        return reason
    words = [str(word) for word in PROGRAMS[peer.program]]
    if peer.script:
        file = HERE / "workloads" / row.folder / peer.script
        if not file.exists():
            return "has no such thing"
        words += [row.command] if peer.kind == "ours" and peer.program != "host" else []
        words.append(str(file))
    elif peer.program == "cf":
        words.append(row.folder)
    environment = {**os.environ, **peer.environment}
    if "LUA_PATH" in peer.environment:
        environment["LUA_PATH"] = os.environ["LUA_PATH"] + peer.environment["LUA_PATH"]
    return words + list(row.args), environment
