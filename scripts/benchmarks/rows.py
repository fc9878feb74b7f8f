"""The rows of the benchmark: which workload, which peers, and what must be reached."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """What must be reached: so many times a peer's figure, or a figure of its own."""

    factor: float
    of: str | None = None
    strict: bool = False

    def words(self, unit):
        if self.of is None:
            return f"{self.factor:,g} {unit}".strip()
        if self.strict:
            return f"better than {self.of}" + ("" if self.factor == 1 else f" x {self.factor:g}")
        return f"{self.factor:g} x {self.of}"


def times(factor, of="floor"):
    return Limit(factor, of)


def beats(of, factor=1.0):
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
    peers: tuple
    args: tuple = ()
    figure: str = "cpu"
    unit: str = "ns"
    ours: str = "moonloop"
    base: str = "floor"  # What the ratio is to.
    more: bool = False  # More of it is better.
    driver: str = "once"
    command: str = "run"  # Of our program.
    clients: tuple = ()  # For drivers of servers: connections, how many of them talk, bytes.
    messages: int = 0  # How much a driver does.
    rounds: int = 9  # At most: long runs whose figures hardly differ are done less often.
    count_scale: float = 0.004  # How much of the work is done when instructions are counted.
    is_countable: bool = True

    @property
    def is_start(self):
        """A run of it is one start of a program."""
        return self.driver in ("start", "starts")

    @property
    def is_call(self):
        """Its workload can perform one call so often as is asked, by its figure."""
        return self.folder == "w18"

    @property
    def counts_itself(self):
        """The workload tells callgrind when to count; else a whole run is counted."""
        return self.driver == "once" or self.is_call

    @property
    def is_counted(self):
        """Whether its instructions say something: the operations are ours, and equal."""
        if self.is_start or self.is_call:
            return True
        return self.is_countable and self.figure == "cpu" and self.folder != "w4b"

    @property
    def count_key(self):
        """Where its instructions are among the figures of a run."""
        return f"instructions.{self.figure}" if self.is_call else "instructions"

    @property
    def run_key(self):
        """Rows with the same key read different figures of the same runs."""
        return self.folder, self.args, self.clients


LOOPS = ("floor", "luv", "cqueues", "node", "CFRunLoop", "moonloop")
WITH_OBJECTS = ("floor", "objects", *LOOPS[1:])
WITH_POLLED = ("floor", "polled", *LOOPS[1:])
CHURN = ("floor", "objects", "luv", "node", "CFRunLoop", "moonloop")
REARM = ("floor", "objects", "luv", "luv again", "cqueues", "node", "CFRunLoop", "moonloop")
SIGNALS = ("floor", "polled", "objects", *LOOPS[1:])
PIPES = ("floor", "libuv in C", "luv", "cqueues", "CFRunLoop", "moonloop", "same I/O")
SERVERS = ("floor", "luv", "cqueues", "lua-eco", "node", "CFRunLoop", "moonloop", "events")
WEB = ("nginx", "luv", "lua-http", "lua-eco", "node", "moonloop")
CALLS = ("floor", "luv", "moonloop", "Swift host")
COLLECTED = ("luv", "luv generational", "node", "moonloop", "generational")


def _churn(name, live):
    return Row(name, f"create + cancel at {live:,} live timers", "w2abc", times(1.6, "objects"),
               times(1.15, "objects"), CHURN, (str(live),), base="objects")


def _rearm(live, *order):
    words = f"re-arm of a random one of {live:,}" if order else f"re-arm at {live:,} live"
    return Row(".".join(["w2d", str(live), *order]), f"{words} timers", "w2d",
               times(1.5, "objects"), times(1.10, "objects"), REARM, (str(live), *order),
               base="objects")


def _pipes(name, count, first, goal, base):
    title = f"pipe event, the handler reads and writes: {count:,} pipes, 100 active"
    one = Row(name, title, "w5", first, goal, PIPES, (str(count),), base=base)
    same = Row(f"{name}.same", "the same, read and written by the peers' functions", "w5", first,
               goal, PIPES, (str(count),), ours="same I/O", base=base)
    return one, same


def _memory(kind, words, count, first, goal, peers):
    return Row(f"w7.{kind}", f"memory of {words}", "w7", at_most(first), at_most(goal),
               peers, (kind, str(count)), "bytes", "bytes", rounds=3)


def _connection(name, words, ours):
    peers = tuple(peer for peer in SERVERS if peer != "CFRunLoop")
    return Row(name, f"memory of an idle TCP connection, {words}", "w7c", at_most(1300),
               at_most(900), peers, ("4000",), "bytes", "bytes", ours=ours, rounds=3)


def _echo(name, connections, size=64, active=None):
    """CPU time of a message at the server; messages a second, and 99 of 100 answers' time."""
    words = f"TCP echo, {connections:,} connection" + "s" * (connections > 1)
    words += f", {active} of them active" if active else f", messages of {size:,} bytes"
    peers = tuple(peer for peer in SERVERS if connections <= 500 or peer != "CFRunLoop")
    shared = {"driver": "clients", "clients": (connections, active or connections, size),
              "messages": 20_000 if size > 4096 else 60_000, "count_scale": 0.03,
              "is_countable": size == 64 and connections <= 500,
              "rounds": 9 if name in ("w6a", "w6b") else 3}
    return (Row(name, words, "w6", times(1.3), times(1.10), peers, **shared),
            Row(f"{name}.rate", "messages a second", "w6", times(1 / 1.3), times(1 / 1.10),
                peers, figure="rate", unit="", more=True, **shared),
            Row(f"{name}.p99", "time to the answer, p99", "w6", times(1.3), times(1.10), peers,
                figure="p99", unit="µs", **shared))


def _web(connections):
    shared = {"driver": "wrk", "clients": (connections, connections, "http"), "rounds": 4,
              "messages": 100_000, "count_scale": 0.006, "base": "nginx",
              "is_countable": connections == 50}
    name, goals = f"w12.{connections}", (beats("luv"), times(1, "node"))
    return (Row(f"{name}.rate", f"HTTP, {connections} connections kept: requests a second", "w12",
                *goals, WEB, figure="rate", unit="", more=True, **shared),
            Row(f"{name}.p99", "time to the answer, p99", "w12", *goals, WEB, figure="p99",
                unit="µs", **shared),
            Row(name, "CPU time of a request", "w12", *goals, WEB, **shared))


def _call(figure, words, ours, goal=None):
    return Row(f"w11.{figure}", f"a script calls {words}", "w11", times(1.3),
               goal or times(1.05), CALLS, (), figure, ours=ours)


def _configured(figure, words, most):
    return Row(f"w13.{figure}", f"a configuration of 1,000 items: {words}", "w13", at_most(most),
               at_most(most), ("moonloop",), figure=f"{figure}_ms", unit="ms")


def _crossing(figure, words, limit):
    """What C that is written for it takes, so many times: both have the same limit."""
    return Row(f"w18.{figure}", words, "w18", times(limit), times(limit), ("floor", "Swift host"),
               (), figure, ours="Swift host", rounds=3)


def _collected(name, ours, words):
    return Row(name, f"a 10 ms timer beside 200 MB of live data, {words}, p99.9", "w17",
               at_most(1), at_most(1), COLLECTED, figure="p999", unit="ms", ours=ours, rounds=2)


ROWS = [
    Row("w1a", "fire of one of 10,000 repeating timers", "w1a", times(1.4), times(1.10), LOOPS),
    Row("w1a.full", "the same, all of 1 ms: more than can be fired", "w1a", times(1.4),
        times(1.10), LOOPS, ("1",), count_scale=0.01),
    Row("w1b", "a zero-delay one-shot that arms itself again", "w1bc", beats("luv"),
        at_most(60), WITH_POLLED, ("1",)),
    Row("w1b.fd", "the same with an idle descriptor", "w1bc", beats("luv"), at_most(150),
        WITH_POLLED, ("1", "fd")),
    Row("w1c", "a hundred such chains at once", "w1bc", times(1.6), times(1.15),
        WITH_POLLED, ("100",)),
    Row("w1d", "one-shot timers made and fired in bulk", "w1d", times(1.6, "objects"),
        times(1.15, "objects"), WITH_OBJECTS, base="objects", count_scale=0.02),
    _churn("w2a", 10), _churn("w2b", 1000), _churn("w2c", 100000),
    _rearm(10), _rearm(1000), _rearm(100000), _rearm(100000, "random"),
    Row("w3a", "signal a custom source, its handler signals again", "w3",
        beats("cqueues", 0.5), at_most(60), SIGNALS, ("1",)),
    Row("w3a.fd", "the same with an idle descriptor", "w3", beats("cqueues", 0.5), at_most(150),
        SIGNALS, ("1", "fd")),
    Row("w3b", "a hundred sources signalled per pass", "w3", times(1.6), times(1.15),
        WITH_OBJECTS, ("100",)),
    Row("w4a", "another thread signals, the handler runs, p50", "w4a", times(1.15), times(1.05),
        ("floor", "luv", "node", "CFRunLoop", "moonloop"), figure="p50", unit="µs"),
    Row("w4b", "signals of another thread, coalesced, the sender in C", "w4b", times(2),
        at_most(12), ("floor", "luv", "CFRunLoop", "Swift host"), ours="Swift host"),
    Row("w4c", "messages posted by another thread, none coalesced", "w4c", times(2), times(3),
        ("floor", "node", "CFRunLoop", "moonloop"), count_scale=0.02),
    *_pipes("w5a", 100, times(1.1), times(1.02), "floor"),
    Row("w5a.timer", "the same as W5A beside a timer that is always due", "w5", beats("luv"),
        times(1.02), ("floor", "luv", "moonloop"), ("100", "timer")),
    *_pipes("w5b", 5000, beats("luv"), beats("libuv in C"), "libuv in C"),
    *_echo("w6.one", 1), *_echo("w6a", 50), *_echo("w6b", 500), *_echo("w6c", 5000),
    *_echo("w6.4k", 50, 4096), *_echo("w6.64k", 50, 65536), *_echo("w16", 10000, active=100),
    _memory("timer", "a far timer", 100000, 264, 160, CHURN),
    _memory("descriptor", "an idle descriptor", 5000, 300, 200,
            ("floor", "luv", "cqueues", "moonloop")),
    _memory("task", "a sleeping task", 20000, 1500, 1300,
            ("floor", "luv", "cqueues", "lua-eco", "node", "moonloop")),
    _connection("w7.connection", "served by a task", "moonloop"),
    _connection("w7.connection.events", "served by handlers of events", "events"),
    Row("w7i", "wake-ups in 5 s, 1,000 far timers and 100 idle descriptors", "w7i",
        at_most(0), at_most(0), LOOPS, figure="wakeups", unit="", rounds=2),
    Row("w7i.cpu", "CPU time in those 5 s", "w7i", at_most(1), at_most(1), LOOPS,
        figure="cpu_ms", unit="ms", rounds=2),
    Row("w8", "start-up of a script whose timer says hello", "w8", times(3.0), at_most(1.6),
        ("floor", "lua5.4", "luv", "cqueues", "lua-eco", "node", "CFRunLoop", "moonloop"),
        figure="wall_ms", unit="ms", driver="starts"),
    Row("w9", "lateness of a 1 ms timer, p50", "w9", times(1.1), at_most(30),
        ("floor", "slack", "luv", "cqueues", "node", "CFRunLoop", "moonloop"), figure="p50",
        unit="µs"),
    Row("w9.slack", "the same with a timer slack of 1 ns", "w9", times(1.1, "slack"), at_most(30),
        ("slack", "CFRunLoop", "least slack"), figure="p50", unit="µs", base="slack",
        ours="least slack"),
    Row("w10", "100,000 tasks sleep ten times, up to 100 ms", "w10", times(1.5), times(1.10),
        ("floor", "luv", "cqueues", "node", "moonloop")),
    _call("nothing", "`nothing()`", "Swift host", at_most(9)),
    _call("now", "`now()`, the time of the pass", "moonloop", at_most(12)),
    _call("add", "`add(a, b)`", "Swift host"),
    _call("method", "a method of an object", "moonloop"),
    *_web(50), *_web(500),
    _configured("load", "load", 10), _configured("start", "start", 10),
    _configured("reload", "reload", 20),
    Row("w14", "1,000 small tests", "w14", beats("busted", 0.5), beats("busted", 0.5),
        ("busted", "node", "moonloop"), figure="wall_ms", unit="ms", base="busted",
        driver="whole", command="test", messages=1000),
    Row("w15", "lines a second, standard input to standard output", "w15", beats("lua5.4"),
        beats("lua5.4"), ("lua5.4", "luv", "cqueues", "gawk", "node", "moonloop"), figure="rate",
        unit="", base="lua5.4", more=True, driver="whole", messages=500_000),
    Row("w15.cpu", "CPU time of a line", "w15", beats("lua5.4"), beats("lua5.4"),
        ("lua5.4", "luv", "cqueues", "gawk", "node", "moonloop"), base="lua5.4",
        driver="whole", messages=500_000, count_scale=0.01),
    _collected("w17", "moonloop", "incremental"),
    _collected("w17.generational", "generational", "generational"),
    Row("w19", "HTTP whose handler computes, two workers: requests a second", "w19",
        times(1.7, "one worker"), times(1.7, "one worker"), ("one worker", "moonloop"),
        figure="rate", unit="", base="one worker", more=True, driver="wrk",
        clients=(32, 32, "http"), rounds=5, is_countable=False),
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
