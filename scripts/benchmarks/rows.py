"""The rows of the benchmark: which workload, which peers, and what must be reached."""

from dataclasses import dataclass, field

# How each peer is started: the host program, the workload file it runs, and its environment.
PEERS = {
    "floor": ("floor", "floor", {}),
    "objects": ("floor", "objects", {}),  # The floor with a userdata for each handle.
    "polled": ("floor", "floor", {"FLOOR_POLL": "20"}),  # Asks the kernel every 20th busy pass.
    "slack": ("floor", "floor", {"FLOOR_SLACK": "1"}),  # Timer slack of 1 ns.
    "luv": ("lua", "luv", {}),
    "luv again": ("lua", "luv-again", {}),
    "cqueues": ("lua", "cqueues", {}),
    "libuv in C": ("libuv", None, {}),
    "lua5.4": ("lua", "lua", {}),
    "moonloop": ("moonloop", "moonloop", {}),
    "events": ("moonloop", "moonloop-handlers", {}),  # Handlers of events instead of tasks.
    "Swift host": ("host", "moonloop", {}),
    "before": ("before", "moonloop", {}),  # Our program at another commit.
}
RIVALS = ("luv", "luv again", "cqueues")  # Goals to beat in each row, besides the limit.
OURS = ("moonloop", "events", "Swift host")


@dataclass
class Limit:
    """What must be reached: at most `factor` times a peer's figure, or a figure of its own."""

    factor: float
    of: str | None = None
    strict: bool = False

    def words(self, unit):
        if self.of is None:
            return f"{self.factor:g} {unit}".strip()
        if self.strict:
            return f"under {self.of}" + ("" if self.factor == 1 else f" x {self.factor:g}")
        return f"{self.factor:g} x {self.of}"

    def value(self, figures):
        if self.of is None:
            return self.factor
        return figures[self.of] * self.factor if self.of in figures else None


def times(factor, of="floor"):
    return Limit(factor, of)


def under(of, factor=1.0):
    return Limit(factor, of, strict=True)


def at_most(figure):
    return Limit(figure)


@dataclass
class Row:
    id: str
    title: str
    folder: str
    first: Limit
    goal: Limit
    peers: tuple = ("floor", "luv", "cqueues", "moonloop")
    args: tuple = ()
    figure: str = "cpu"
    unit: str = "ns"
    ours: str = "moonloop"
    notes: dict = field(default_factory=dict)
    count_scale: float = 0.004  # How much of the work is done when instructions are counted.

    @property
    def is_start(self):
        """A run of it is one start of a program."""
        return self.folder == "w8"

    @property
    def is_call(self):
        """Its workload can perform one call so often as is asked, by its figure."""
        return self.folder == "w12"

    @property
    def is_counted(self):
        """Whether its instructions say something: the operations are ours, and equal."""
        if self.is_start or self.is_call:
            return True
        return self.figure == "cpu" and self.folder != "w4b"

    @property
    def count_key(self):
        """Where its instructions are among the figures of a run."""
        return f"instructions.{self.figure}" if self.is_call else "instructions"

    @property
    def run_key(self):
        """Rows with the same key read different figures of the same runs."""
        return self.folder, self.args


WITH_OBJECTS = ("floor", "objects", "luv", "cqueues", "moonloop")
CHURN = ("floor", "objects", "luv", "moonloop")
REARM = ("floor", "objects", "luv", "luv again", "cqueues", "moonloop")
WITH_POLLED = ("floor", "polled", "luv", "cqueues", "moonloop")
SIGNALS = ("floor", "polled", "objects", "luv", "cqueues", "moonloop")
CALLS = ("floor", "luv", "moonloop", "Swift host")
CROSSINGS = ("floor", "Swift host")


def _churn(id, live):
    return Row(id, f"create + cancel at {live:,} live timers", "w2abc",
               times(1.6, "objects"), times(1.15, "objects"), CHURN, (str(live),))


def _rearm(live, *order):
    words = f"re-arm of a random one of {live:,}" if order else f"re-arm at {live:,} live"
    return Row(".".join(["w2d", str(live), *order]), f"{words} timers", "w2d",
               times(1.5, "objects"), times(1.10, "objects"), REARM, (str(live), *order))


def _memory(kind, words, count, first, goal, peers):
    return Row(f"w7.{kind}", f"memory of {words}", "w7", at_most(first), at_most(goal), peers,
               (kind, str(count)), "bytes", "bytes")


def _echo(id, connections, size=64):
    words = f"{connections:,} connection" + "s" * (connections > 1)
    return Row(id, f"TCP echo server, {words}, a message of {size:,} bytes", "w6", times(1.3),
               times(1.10), ("floor", "luv", "cqueues", "moonloop", "events"),
               (str(connections), str(size)), count_scale=0.02)


def _http(connections):
    return Row(f"http.{connections}", f"HTTP server, {connections} connections, a request", "http",
               under("luv"), under("luv"), ("luv", "moonloop"), (str(connections),),
               count_scale=0.02)


def _call(figure, words, ours):
    return Row(f"w11.{figure}", f"a script calls {words}", "w11", times(1.3), times(1.05),
               CALLS, (), figure, ours=ours)


def _crossing(figure, words, limit):
    """What C that is written for it takes, so many times: both have the same limit."""
    return Row(f"w12.{figure}", words, "w12", times(limit), times(limit), CROSSINGS, (), figure,
               ours="Swift host")


ROWS = [
    Row("w1a", "fire of one of 10,000 repeating timers", "w1a", times(1.4), times(1.10)),
    Row("w1a.full", "the same, all of 1 ms: more than can be fired", "w1a", times(1.4),
        times(1.10), args=("1",), count_scale=0.01),
    Row("w1b", "a zero-delay one-shot that arms itself again", "w1bc", under("luv"),
        at_most(60), WITH_POLLED, ("1",)),
    Row("w1b.fd", "the same with an idle descriptor", "w1bc", under("luv"), at_most(150),
        WITH_POLLED, ("1", "fd")),
    Row("w1c", "a hundred such chains at once", "w1bc", times(1.6), times(1.15),
        WITH_POLLED, ("100",)),
    Row("w1d", "one-shot timers made and fired in bulk", "w1d", times(1.6, "objects"),
        times(1.15, "objects"), WITH_OBJECTS),
    _churn("w2a", 10), _churn("w2b", 1000), _churn("w2c", 100000),
    _rearm(10), _rearm(1000), _rearm(100000), _rearm(100000, "random"),
    Row("w3a", "signal a custom source, its handler signals again", "w3",
        under("cqueues", 0.5), at_most(60),
        SIGNALS, ("1",)),
    Row("w3a.fd", "the same with an idle descriptor", "w3", under("cqueues", 0.5), at_most(150),
        SIGNALS, ("1", "fd")),
    Row("w3b", "a hundred sources signalled per pass", "w3", times(1.6), times(1.15),
        WITH_OBJECTS, ("100",)),
    Row("w4a", "another thread signals, the handler runs, p50", "w4a", times(1.15), times(1.05),
        ("floor", "luv", "moonloop"), figure="p50", unit="µs"),
    Row("w4b", "signals of another thread, coalesced", "w4b", times(2), times(1.1),
        ("floor", "luv", "Swift host"), ours="Swift host"),
    Row("w4c", "messages posted by another thread, none coalesced", "w4c", times(2), times(1.2),
        ("floor", "moonloop"), count_scale=0.02),
    Row("w5a", "pipe event, the handler reads and writes: 100 pipes, 100 active", "w5",
        times(1.1), times(1.02), args=("100",)),
    Row("w5b", "the same with 5,000 pipes, 100 active", "w5", under("luv"),
        under("libuv in C"), ("floor", "libuv in C", "luv", "cqueues", "moonloop"), ("5000",)),
    _echo("w6.one", 1), _echo("w6a", 50), _echo("w6b", 500), _echo("w6c", 5000),
    _echo("w6.4k", 50, 4096), _echo("w6.64k", 50, 65536), _http(50), _http(500),
    _memory("timer", "a far timer", 100000, 264, 160, CHURN),
    _memory("descriptor", "an idle descriptor", 5000, 300, 200,
            ("floor", "luv", "cqueues", "moonloop")),
    _memory("task", "a sleeping task", 20000, 1500, 1300,
            ("floor", "luv", "cqueues", "moonloop")),
    Row("w7i", "wake-ups in 5 s, 1,000 far timers and 100 idle descriptors", "w7i",
        at_most(0), at_most(0), figure="wakeups", unit=""),
    Row("w7i.cpu", "CPU time in those 5 s", "w7i", at_most(1), at_most(1),
        figure="cpu_ms", unit="ms"),
    Row("w8", "start-up of a script whose timer says hello", "w8", times(3.0), times(1.8),
        ("floor", "lua5.4", "luv", "cqueues", "moonloop"), figure="wall_ms", unit="ms"),
    Row("w9", "lateness of a 1 ms timer, p50", "w9", times(1.1), at_most(30),
        ("floor", "slack", "luv", "cqueues", "moonloop"), figure="p50", unit="µs"),
    Row("w10", "100,000 tasks sleep ten times, up to 100 ms", "w10", times(1.5), times(1.10)),
    _call("nothing", "`nothing()`", "Swift host"),
    _call("now", "`now()`", "moonloop"),
    _call("add", "`add(a, b)`", "Swift host"),
    _call("method", "a method of an object", "moonloop"),
    *(_crossing(f"call{n}", f"the program calls a Lua function with {n} arguments", 2)
      for n in range(4)),
    _crossing("method", "a script calls a method of the program's object", 1.2),
    _crossing("get", "a script reads a property", 1.5),
    _crossing("set", "a script sets a property", 1.5),
    _crossing("list", "a list of 1,000 integers becomes the program's, an item", 2),
    _crossing("new_list", "such a list becomes a table, an item", 2),
    _crossing("dictionary", "a table of 100 integers by name becomes the program's, an entry", 1.5),
    _crossing("new_dictionary", "such a dictionary becomes a table, an entry", 1.5),
    _crossing("text", "a string of 32 bytes to the program and back", 1.3),
    _crossing("records", "1,000 records are decoded, a record", 4),
]
