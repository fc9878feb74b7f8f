"""Runs a suite of the table: specs by `moonloop test`, other files as programs."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from suites import HERE, SUITES

ROOT = HERE.parent.parent
PROGRAM = str(pathlib.Path(os.environ.get("MOONLOOP", ROOT / "scripts/moonloop")).resolve())


def run(arguments, folder, environment, limit=1800):
    """What a run printed; nothing is asked of its status."""
    try:
        ended = subprocess.run(
            [PROGRAM, *arguments], cwd=folder, env={**os.environ, **environment}, timeout=limit,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return ended.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace") + f"\nended after {limit} s\n"


def specs(suite, filled, options):
    """Runs specs by `moonloop test`: how many passed, how many did not, and what was printed."""
    environment = {name: filled(text) for name, text in suite.get("environment", {}).items()}
    environment["LUA_PATH"] = filled(suite["path"])
    arguments = [filled(word) for word in suite.get("arguments", [])]
    command = ["test", "--color", "never", *options, *arguments]
    output = run(command, filled(suite["in"]), environment)
    counts = re.findall(r"^(\d+) passed, (\d+) failed", output, re.M)
    passed, failed = counts[-1] if counts else (0, 1)
    return int(passed), int(failed), output


def tap(suite, filled, _):
    """Runs files that print TAP, each in a program of its own."""
    # luv's test-signal starts uv.exepath() with a compiled chunk on its input, like `lua -`.
    lua = pathlib.Path(filled("{scratch}/lua"))
    call = f"exec {PROGRAM} run --uv -e 'assert(load(io.read \"a\"))()' 2>/dev/null"
    lua.write_text(f"#!/bin/sh\n{call}\n")
    lua.chmod(0o755)
    folder = pathlib.Path(filled(suite["in"]))
    environment = {name: filled(text) for name, text in suite.get("environment", {}).items()}
    reasons = {
        test: reason for reason, tests in suite.get("excluded", {}).items() for test in tests}
    passed, failed, excluded, outputs = 0, 0, 0, []
    for file in sorted(folder.glob("tests/test-*.lua")):
        file = str(file.relative_to(folder))
        arguments = [filled(word).replace("{file}", file) for word in suite["program"]]
        output = run(arguments, folder, environment, 120)
        planned = int((re.findall(r"^1\.\.(\d+)", output, re.M) or [1])[0])
        well = len(re.findall(r"^ok ", output, re.M))
        passed += well - len(re.findall(r"^ok .*# skip", output, re.M))
        subject = pathlib.Path(file).stem.removeprefix("test-")
        names = re.findall(r"^not ok \d+ (?:- )?(.*)", output, re.M)
        names = [f"{subject}: {name}" for name in names]
        names += [subject] * (planned - well - len(names))
        for name in names:
            excluded += name in reasons
            print(f"  {name}: {reasons.get(name, 'failed')}", flush=True)
        failed += planned - well
        outputs.append(f"--- {file}\n{output}")
    return passed, failed - excluded, "".join(outputs)


def whole(suite, filled, _):
    """Runs all at once, in each of several ways."""
    passed, outputs = 0, []
    for way, arguments in suite["ways"].items():
        output = run(arguments, filled(suite["in"]), {}, 600)
        passed += suite["ends"] in output
        outputs.append(f"--- {way}\n{output}")
    return passed, len(suite["ways"]) - passed, "".join(outputs)


def run_suite(name, folder, options, is_verbose):
    """Whether as many tests pass as are known to."""
    suite = SUITES[name]
    with tempfile.TemporaryDirectory() as scratch:
        filled = lambda text: text.format(
            dir=folder, here=HERE, scratch=scratch, file="{file}")
        for link, target in suite.get("links", {}).items():
            place = pathlib.Path(scratch, link)
            place.parent.mkdir(exist_ok=True)
            place.symlink_to(filled(target))
        for copy in map(folder.joinpath, suite.get("copies", [])):
            if copy.is_dir():
                shutil.copytree(copy, pathlib.Path(scratch, copy.name))
            elif copy.exists():
                shutil.copy(copy, scratch)
        way = tap if "program" in suite else whole if "ways" in suite else specs
        passed, failed, output = way(suite, filled, options)
    is_well = bool(options) or passed >= suite["passes"] and not (failed and "excluded" in suite)
    if is_verbose or not is_well:
        print(output)
    known = f"{suite['passes']} are known to pass"
    print(f"{name}: {passed} passed, {failed} failed; {known}", flush=True)
    return is_well
