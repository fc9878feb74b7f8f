"""Rules for calls of Lua's C API: no error may cross a Swift frame, and there is one door into Lua.

An error that Lua raises jumps over the Swift frames above it: nothing is released, and the next
exclusive access on that thread never ends. So Swift calls only what cannot raise; C bodies do the
rest.
"""

import re
from .source import Source

# Functions that run metamethods or raise, by the indicators of the Lua 5.4 manual.
_RAISING = """
lua_gettable lua_getfield lua_geti lua_getglobal lua_settable lua_setfield lua_seti lua_setglobal
lua_arith lua_compare lua_concat lua_len lua_next lua_toclose lua_closeslot lua_error
lua_call lua_callk lua_yield lua_yieldk
luaL_tolstring luaL_len luaL_requiref luaL_openlibs luaL_setfuncs luaL_newlib luaL_getsubtable
luaL_getmetafield luaL_callmeta luaL_error luaL_gsub luaL_dostring luaL_dofile luaL_execresult
luaL_fileresult luaL_getmetatable luaL_where
""".split()
_CALL = re.compile(
    r"\b(" + "|".join(sorted(_RAISING, key=len, reverse=True)) + r"|luaL_(?:check|opt|arg)\w+)\s*\("
)
_DOOR = re.compile(r"\b(lua_(?:pcallk?|callk?|resume))\s*\(")

# The only files that enter Lua, each with its reason.
DOORS = {
    "Sources/CLuaShims/cml_call.c": "the door: protected calls and resumes, with their limits",
}


# A shim that works on a Lua stack: its contract states what it pops, pushes and raises.
_SHIM = re.compile(r"[\w\s*]*?\b(cml_\w+)\(lua_State \*\s*L\b")
_CONTRACT = re.compile(r"\[-[^,\]]+, \+[^,\]]+, [-me]\]")


def _contract(source: Source):
    for number, code in enumerate(source.code, 1):
        if not (match := _SHIM.match(code)):
            continue
        said = [source.comments[number - 1]]
        above = number - 2
        while above >= 0 and source.comments[above].strip() and not source.code[above].strip():
            said.append(source.comments[above])
            above -= 1
        if not _CONTRACT.search("".join(reversed(said))):
            yield source.finding(
                number,
                "contract",
                f"'{match[1]}' does not say what it does to the stack and whether it can raise",
                "write [-pops, +pushes, raises: - | m | e] after the model of the Lua manual",
            )


def check(source: Source):
    if re.match(r"Sources/CLuaShims/include/\w+\.h$", source.path):
        yield from _contract(source)
    if not source.path.startswith("Sources/") or source.suffix not in (".swift", ".c", ".h"):
        return
    for number, code in enumerate(source.code, 1):
        if source.suffix == ".swift" and (match := _CALL.search(code)):
            yield source.finding(
                number,
                "raising-call",
                f"{match[1]} can raise, and a Lua error must not cross a Swift frame",
                "call it in a C body (CLuaShims) under a protected call, or use its raw form",
            )
        argued = source.suffix == ".c" and "door: " in source.comments[number - 1]
        if (match := _DOOR.search(code)) and source.path not in DOORS and not argued:
            yield source.finding(
                number,
                "door",
                f"{match[1]} outside of the door into Lua, where limits and reports are",
                "enter through the door; a C body below it says so beside it: // door: reason",
            )
