"""The pictures of docs as SVG: boxes, arrows, and text, in light and dark."""

from html import escape
from .layers import ARROWS

_STYLE = """
  text { font: 14px system-ui, sans-serif; fill: #1b1f24 }
  .small { font-size: 12px; fill: #57606a }
  .box { fill: #f6f8fa; stroke: #8c959f; rx: 6px }
  .strong { fill: #ddf4ff; stroke: #218bff }
  .arrow { stroke: #57606a; stroke-width: 1.5; fill: none; marker-end: url(#head) }
  .head { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #9198a1 } .box { fill: #161b22; stroke: #3d444d }
    .strong { fill: #0d2d4d; stroke: #4493f8 } .arrow { stroke: #9198a1 } .head { fill: #9198a1 }
  }
"""
_HEAD = (
    '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker>'
)
# Each target: its row from the top, its column, and what it is.
_TARGETS = {
    "MoonloopCLI": (0, 2, "the program moonloop"),
    "CLineEditor": (1, 4, "editing a line"),
    "Moonloop": (1, 2, "the loop in Lua"),
    "MoonloopSimulation": (2, 0, "a kernel in memory"),
    "MoonloopSystem": (2, 1, "streams, sockets, ..."),
    "MoonloopRecording": (2, 2, "record and replay"),
    "MoonloopCompat": (2, 4, "luv, LuaSocket"),
    "MoonloopCore": (3, 0.7, "a loop and nothing else"),
    "CRecording": (3, 2, "the tape"),
    "LuaEmbed": (3, 3, "Lua in Swift"),
    "MoonloopLua": (3, 4, "modules in Lua"),
    "CLinuxShims": (4, 1, "system calls"),
    "CLuaShims": (4, 3, "the door to Lua"),
}


def _svg(width, height, title, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style><defs>{_HEAD}</defs>",
        *parts, "</svg>", "",
    ])


def _box(x, y, width, height, title, note="", strong=False):
    middle, kind = x + width / 2, "box strong" if strong else "box"
    yield f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}"/>'
    at = y + height / 2 + (-3 if note else 5)
    yield f'<text x="{middle}" y="{at}" text-anchor="middle">{escape(title)}</text>'
    if note:
        yield (f'<text class="small" x="{middle}" y="{at + 18}" text-anchor="middle">'
               f"{escape(note)}</text>")


def _arrow(x1, y1, x2, y2):
    return f'<path class="arrow" d="M{x1} {y1} L{x2} {y2}"/>'


def house():
    """The targets and who imports whom; an arrow that others imply is left out."""
    column, step, width, height = 200, 105, 178, 56
    place = {
        name: (10 + column * _TARGETS[name][1], 16 + step * _TARGETS[name][0])
        for name in ARROWS if name in _TARGETS
    }
    parts = []
    for name, (x, y) in place.items():
        implied = {b for a in ARROWS[name] for b in _below(a)}
        for target in sorted(ARROWS[name] - implied):
            if target in place:
                (tx, ty) = place[target]
                parts.append(_arrow(x + width / 2, y + height, tx + width / 2, ty))
    for name, (x, y) in place.items():
        strong = name in ("MoonloopCore", "Moonloop")
        parts += _box(x, y, width, height, name, _TARGETS[name][2], strong)
    return _svg(1000, 5 * step - 10, "The targets; an arrow means: imports", parts)


def _below(name):
    below = set(ARROWS.get(name, ()))
    return below | {c for b in below for c in _below(b)}


_PASS = [
    ("observers: beforeTimers, beforeSources", ""),
    ("blocks", "queued functions, taken together"),
    ("custom sources that were signalled", "by order; then blocks again if one was performed"),
    ("is a port or descriptor ready already?", "yes: straight to the event, without a sleep"),
    ("observers: beforeWaiting", ""),
    ("the sleep", "until a port, a timer, a wake-up or the timeout"),
    ("observers: afterWaiting", ""),
    ("one event", "a ready port, or else all timers that are due"),
    ("blocks", ""),
    ("the result", "handledSource, timedOut, stopped, finished; else the next pass"),
]


def one_pass():
    """The steps of a pass from top to bottom, with the two ways around the sleep."""
    parts, width, height, step = [], 400, 48, 66
    for index, (title, note) in enumerate(_PASS):
        y = 16 + step * index
        parts += _box(120, y, width, height, title, note, strong=index in (5, 7))
        if index:
            parts.append(_arrow(320, y - (step - height), 320, y))
    ready, event, last = (16 + step * index + height / 2 for index in (3, 7, 9))
    parts.append(f'<path class="arrow" d="M520 {ready} H570 V{event} H520"/>')
    parts.append(f'<path class="arrow" d="M120 {last} H70 V40 H120"/>')
    parts.append(f'<text class="small" x="578" y="{(ready + event) / 2}">ready, or polling</text>')
    parts.append(f'<text class="small" x="10" y="{(last + 40) / 2}">next pass</text>')
    return _svg(720, 16 + step * len(_PASS), "The steps of a pass", parts)


_EVENT = [
    ("Lua", "loop:every(0.5, f)", "the script asks"),
    ("Moonloop/Timers", "arguments checked, f kept", "the subject's folder"),
    ("MoonloopCore/Timers", "a record, in the queue of its modes", "registration ends here"),
    ("MoonloopCore/Kernel", "one system call waits for everything", "the sleep of a pass"),
    ("MoonloopCore/Loop", "Loop+Run takes the one event", "the order, and nowhere else"),
    ("Moonloop/Timers", "the call-out of the kind", "no lock held, nothing borrowed"),
    ("LuaEmbed, CLuaShims", "f on a pooled coroutine, in a protected call", "the door"),
    ("Lua", "f returns, waits, or fails", "an error goes to on_error"),
]


def event():
    """The way of one event, from the script that asks for it to the handler."""
    parts, step = [], 74
    for index, (where, what, note) in enumerate(_EVENT):
        y = 12 + step * index
        parts += _box(10, y, 220, 50, where, strong=where == "Lua")
        parts.append(f'<text x="250" y="{y + 22}">{escape(what)}</text>')
        parts.append(f'<text class="small" x="250" y="{y + 42}">{escape(note)}</text>')
        if index:
            parts.append(_arrow(120, y - (step - 50), 120, y))
    return _svg(640, 12 + step * len(_EVENT), "The path of an event", parts)


_AWAKE = [("work", 60), ("child", 150), ("work", 60)]
_CLOCKS = [
    ("real", "runs", [("sleep", 230), *_AWAKE, ("sleep", 180)]),
    ("virtual", "stands still in handlers and while the child lives, jumps over sleeps", _AWAKE),
    ("skip_idle", "runs in handlers and while the child lives, jumps over sleeps", _AWAKE),
]
_LABELS = {"sleep": "0.5 s asleep", "work": "work", "child": "a child's work"}


def clocks():
    """How long the same script takes on each clock: three rows of bars over real time."""
    parts, step, left = [], 84, 190
    for index, (name, note, bars) in enumerate(_CLOCKS):
        y = 20 + step * index
        parts.append(f'<text x="10" y="{y + 18}">{name}</text>')
        parts.append(f'<text class="small" x="{left}" y="{y + 52}">{escape(note)}</text>')
        x = left
        for kind, width in bars:
            parts += _box(x, y, width, 32, "", strong=kind == "work")
            parts.append(f'<text class="small" x="{x + width / 2}" y="{y + 20}" '
                         f'text-anchor="middle">{escape(_LABELS[kind])}</text>')
            x += width
    y = 20 + step * len(_CLOCKS)
    parts.append(_arrow(left, y, left + 690, y))
    parts.append(f'<text class="small" x="{left + 690}" y="{y + 20}" text-anchor="end">'
                 "real time</text>")
    return _svg(900, y + 34, "The same script on three clocks", parts)


_SHADES = ("#6e7781", "#218bff", "#2da44e", "#bf8700", "#8250df", "#cf222e")


def bars(title, parts_of, rows):
    """A bar for each row, [(title, {part: nanoseconds})], each as wide as all others."""
    parts, left, width, step = [], 10, 780, 62
    x = left
    for name, shade in zip(parts_of, _SHADES):
        parts.append(f'<rect fill="{shade}" x="{x}" y="10" width="14" height="14" rx="2"/>')
        parts.append(f'<text class="small" x="{x + 20}" y="22">{escape(name)}</text>')
        x += 46 + 8 * len(name)
    for index, (name, times) in enumerate(rows):
        y, x, total = 40 + step * index, left, sum(times.values())
        parts.append(f'<text x="{left}" y="{y + 14}">{escape(name)}</text>')
        parts.append(f'<text class="small" x="{left + width}" y="{y + 14}" text-anchor="end">'
                     f"{total:,.0f} ns</text>")
        for part, shade in zip(parts_of, _SHADES):
            size = width * times[part] / total
            parts.append(f'<rect fill="{shade}" x="{x:.1f}" y="{y + 22}" width="{size:.1f}" '
                         f'height="22"><title>{escape(part)} {times[part]:,.0f} ns</title></rect>')
            if size > 40:
                parts.append(f'<text style="font-size:12px;fill:#fff" x="{x + size / 2:.1f}" '
                             f'y="{y + 38}" text-anchor="middle">{100 * size / width:.0f} %</text>')
            x += size
    return _svg(left + width + 10, 40 + step * len(rows), title, parts)


PICTURES = {"house": house, "pass": one_pass, "event": event, "clocks": clocks}
