"""How a run is driven: what is started beside the workload, and what is read from outside.

Each driver takes a row and the command and environment of a peer; it returns the figures of one
run, or the error in words.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from peers import BUILT, HERE

TIMEOUT_S = 120
STARTS = 40  # Of one peer, in one round of W8.


def scale(environment):
    return float(environment.get("BENCH_SCALE", "1"))


def reaped(pid):
    """How a child ended, and what it used; one that does not end is killed."""
    watchdog = threading.Timer(TIMEOUT_S, os.kill, (pid, signal.SIGKILL))
    watchdog.start()
    try:
        _, status, usage = os.wait4(pid, 0)
    finally:
        watchdog.cancel()
    return os.waitstatus_to_exitcode(status), usage


def once(_row, words, environment):
    """The workload measures itself and prints its figures as JSON."""
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        return json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        return f"did not end in {TIMEOUT_S} s"
    except (IndexError, ValueError):
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return lines[0]


def starts(_row, words, environment):
    """The wall and CPU time of one start, from many: from before the spawn until it is over."""
    walls, cpus = [], []
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        actions = [(os.POSIX_SPAWN_DUP2, nowhere.fileno(), 1)]
        for _ in range(STARTS if scale(environment) == 1 else 5):
            begin = time.perf_counter()
            child = os.posix_spawnp(words[0], words, environment, file_actions=actions)
            status, usage = reaped(child)
            walls.append(time.perf_counter() - begin)
            cpus.append(usage.ru_utime + usage.ru_stime)
            if status:
                return f"exit status {status}"
    return {"wall_ms": statistics.median(walls) * 1e3, "cpu_ms": statistics.median(cpus) * 1e3}


def one_start(_row, words, environment):
    done = subprocess.run(words, env=environment, capture_output=True, timeout=TIMEOUT_S,
                          check=False)
    return f"exit status {done.returncode}" if done.returncode else {}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(words, environment):
    """A server on BENCH_PORT that answers; its process and its port."""
    port = free_port()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(words, env={**environment, "BENCH_PORT": str(port)},
                                   stdout=subprocess.DEVNULL, stderr=errors)
        try:
            end = time.monotonic() + TIMEOUT_S
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    if process.poll() is None and time.monotonic() < end:
                        time.sleep(0.01)
                        continue
                    errors.seek(0)
                    lines = errors.read().decode(errors="replace").strip().splitlines()
                    raise RuntimeError(lines[0] if lines else "the server has ended") from None
            yield process, port
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def clients(row, words, environment, at_end=lambda pid: {}):
    """A server, and our clients: CPU time and wall time of a message, rate, and latencies; and what
    `at_end` finds out about the server's process."""
    connections, active, size = row.clients
    messages = max(100, int(row.messages * scale(environment)))
    try:
        with server(words, environment) as (process, port):
            arguments = [process.pid, port, connections, active, size, messages]
            done = subprocess.run([BUILT / "clients", *map(str, arguments)], capture_output=True,
                                  text=True, timeout=TIMEOUT_S, check=False)
            if done.returncode:
                return done.stderr.strip().splitlines()[0]
            return {**json.loads(done.stdout), **at_end(process.pid)}
    except subprocess.TimeoutExpired:
        return f"did not end in {TIMEOUT_S} s"
    except RuntimeError as error:
        return str(error)


def cpu_seconds(pid):
    """The CPU time of another process, by the clock that the kernel keeps for it."""
    return time.clock_gettime(~pid << 3 | 2)


def wrk(row, words, environment):
    """A server of HTTP, and wrk: rate, latencies, and CPU time of a request."""
    seconds = 2 if scale(environment) == 1 else 1
    load = ["wrk", "-t1", f"-c{row.clients[0]}", f"-d{seconds}s", "-s",
            str(HERE / "workloads" / "w12" / "wrk-report.lua")]
    try:
        with server(words, environment) as (process, port):
            url = f"http://127.0.0.1:{port}/"
            subprocess.run([*load[:3], "-d1s", url], capture_output=True, check=True)
            before = cpu_seconds(process.pid)
            done = subprocess.run([*load, url], capture_output=True, text=True, check=True)
            spent = cpu_seconds(process.pid) - before
            found = json.loads(done.stdout.strip().splitlines()[-1])
            if found["errors"]:
                return f"{found['errors']:.0f} wrong answers"
            return {**found, "cpu": spent / found["requests"] * 1e9}
    except FileNotFoundError:
        return "not installed: apt-get install wrk"
    except (RuntimeError, subprocess.CalledProcessError) as error:
        return str(error)


def expected(row, environment):
    """How many operations a whole run has, what it is fed, and whether what it said is right."""
    count = max(1, int(row.messages * scale(environment)))
    if row.folder != "w15":
        passed = re.compile(rf"\b{count} (?:passed|successes)|\bpass {count}\b".encode())
        return count, None, passed.search
    lines = "".join(f"{i} the quick brown fox jumps over the lazy dog\n" for i in range(count))
    feed = pathlib.Path(tempfile.gettempdir()) / f"bench-lines-{count}"
    if not feed.exists():
        feed.write_text(lines, encoding="ascii")
    answer = lines.upper().encode()
    return count, feed, lambda said: said == answer


def whole(row, words, environment):
    """A whole run of a program, from its spawn to its end; what it prints must be right."""
    count, feed, is_right = expected(row, environment)
    environment = {**environment, "BENCH_COUNT": str(count)}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        source = subprocess.Popen(["cat", feed], stdout=subprocess.PIPE) if feed else None
        begin = time.perf_counter()
        child = subprocess.Popen(words, env=environment, stdout=output, stderr=errors,
                                 stdin=source.stdout if source else subprocess.DEVNULL)
        if source:
            source.stdout.close()
        child.returncode, usage = reaped(child.pid)
        wall, cpu = time.perf_counter() - begin, usage.ru_utime + usage.ru_stime
        if source:
            source.wait()
        output.seek(0)
        said = output.read()
        if child.returncode or not is_right(said):
            errors.seek(0)
            text = (errors.read() + said).decode(errors="replace").strip()
            return f"wrong: {text.splitlines()[0][:80]}" if text else "wrong: printed nothing"
    return {"wall_ms": wall * 1e3, "cpu": cpu / count * 1e9, "rate": count / wall,
            "operations": count}


DRIVERS = {"once": once, "start": one_start, "starts": starts, "clients": clients, "wrk": wrk,
           "whole": whole}


def countable(row):
    """The row as it is counted: by a number of requests, not for a time; a start once."""
    if row.driver == "wrk":
        return dataclasses.replace(row, driver="clients")
    return dataclasses.replace(row, driver="start") if row.is_start or row.is_call else row


def run(row, words, environment):
    return DRIVERS[row.driver](row, words, environment)
