// The command `test`: its options, passed on to the runner, which is written in Lua.

internal import Moonloop

let testCommand = CommandSpec(
  name: "test",
  summary: "Run spec files (*_spec.lua, *_test.lua) written for busted.",
  usage: "[OPTION...] [FILE|FOLDER...]",
  options: selecting + ordering + running + reporting + surroundings + ofBusted,
  mixesOperands: true,
  notes: [
    """
    Without paths, searches the folder 'spec' if there is one, else the current folder. Options not
    given here are taken from the file '.busted'. Write tests with describe, it, before_each and
    luassert's asserts; each runs on its own loop: it("name", { clock = "virtual", timeout = 5 },
    function(loop, clock, t) ... end).
    """,
    """
    Exit status: 0; 1 if a test or code outside the tests failed; 2 if the command line is wrong or
    there is no test to run; 130 after SIGINT, 143 after SIGTERM.
    """,
  ],
  examples: [
    ("moonloop test", "Run all spec files in the folder 'spec', or in this one."),
    (
      "moonloop test --filter debounce -v",
      "Run tests with 'debounce' in their names, one per line."
    ),
    (
      "moonloop test --output people --output junit=report.xml",
      "Report to the terminal, and in a file for a build server."
    ),
    ("moonloop test --name 'counter adds' --seed 17", "Repeat one test in the order that failed."),
    ("moonloop test --jobs 4 --slowest 10", "Run four files at a time; list the slowest tests."),
  ])

private let selecting = [
  OptionSpec(
    names: ["--filter"], placeholder: "PATTERN", repeats: true,
    help: "Run only tests whose full names match a Lua pattern."),
  OptionSpec(
    names: ["--filter-out"], placeholder: "PATTERN", repeats: true,
    help: "Skip tests and blocks whose full names match."),
  OptionSpec(
    names: ["--name"], placeholder: "NAME", repeats: true,
    help: "Run only the test with this full name."),
  OptionSpec(
    names: ["--rerun-failed"], help: "Run only the tests that failed in the last run here."),
  OptionSpec(names: ["--only"], help: "Run only tests with the option 'only = true'."),
  OptionSpec(
    names: ["--shard"], placeholder: "NUMBER/COUNT",
    help: "Run only this share of the files, e.g. 2/5 for the second of five."),
  OptionSpec(
    names: ["--durations"], placeholder: "FILE",
    help: "With --shard, share files by the durations in FILE;\notherwise record them there."),
  OptionSpec(
    names: ["--tags", "-t"], placeholder: "TAGS", repeats: true,
    help: "Run only tests with one of these #tags (comma-separated)."),
  OptionSpec(
    names: ["--exclude-tags"], placeholder: "TAGS", repeats: true,
    help: "Skip tests and blocks with one of these #tags."),
  OptionSpec(
    names: ["--exclude-names-file"], placeholder: "FILE",
    help: "Skip tests whose full names are listed in FILE, one per line."),
  OptionSpec(
    names: ["--pattern", "-p"], placeholder: "PATTERN", repeats: true,
    help: "Treat matching files in folders as specs (_spec%.lua$, _test%.lua$)."),
  OptionSpec(
    names: ["--exclude-pattern"], placeholder: "PATTERN", repeats: true,
    help: "Do not treat matching files as specs."),
  OptionSpec(
    names: ["--recursive", "-R"], isNegatable: true,
    help: "Search subfolders (default)."),
  OptionSpec(
    names: ["--list", "-l"], help: "List the tests that would run, without running them."),
]

private let ordering = [
  OptionSpec(
    names: ["--repeat"], placeholder: "COUNT", help: "Run everything this many times."),
  OptionSpec(
    names: ["--shuffle"], isNegatable: true, help: "Run files and tests in random order."),
  OptionSpec(names: ["--shuffle-files"], isNegatable: true, help: "Shuffle files only."),
  OptionSpec(
    names: ["--shuffle-tests"], isNegatable: true, help: "Shuffle tests within files only."),
  OptionSpec(names: ["--sort"], isNegatable: true, help: "Run files and tests in order of name."),
  OptionSpec(names: ["--sort-files"], isNegatable: true, help: "Sort files only."),
  OptionSpec(names: ["--sort-tests"], isNegatable: true, help: "Sort tests within files only."),
  OptionSpec(
    names: ["--orders"], placeholder: "COUNT",
    help: "Run each test with this many orders of equally ready events."),
  OptionSpec(
    names: ["--seed"], placeholder: "SEED",
    help: "Seed for --shuffle; tests with several orders run only\nthe one with this seed."),
  OptionSpec(
    names: ["--shuffle-seed"], placeholder: "SEED", help: "Seed for --shuffle only."),
]

private let running = [
  OptionSpec(
    names: ["--timeout"], placeholder: "TIME", isTime: true,
    help: "Time limit for each test and hook, in real time (60s)."),
  OptionSpec(
    names: ["--clock"], placeholder: "CLOCK", choices: ["real", "virtual", "skip_idle"],
    help: "Clock for tests that do not choose one (real)."),
  OptionSpec(
    names: ["--keep-going", "-k"], isNegatable: true,
    help: "Continue after a failure (default)."),
  OptionSpec(
    names: ["--bail"], placeholder: "COUNT", help: "Stop after this many failures."),
  OptionSpec(
    names: ["--jobs", "-j"], placeholder: "COUNT",
    help: "Run this many files at a time, each in its own process."),
  OptionSpec(
    names: ["--break-on-error"],
    help: "Stop at failures and uncaught errors if there is a console:\n"
      + "the terminal, or an attached one."),
  OptionSpec(names: ["--watch"], help: "Wait for file changes and rerun the affected specs."),
  OptionSpec(
    names: ["--leaks"], placeholder: "WHAT", choices: ["fail", "allow"],
    help: "If a test leaves something behind: fail (default) or allow it."),
  OptionSpec(names: ["--update"], help: "Rewrite golden files instead of comparing with them."),
  OptionSpec(
    names: ["--coverage", "-c"], isNegatable: true,
    help: "Measure coverage with luacov, if installed."),
  OptionSpec(
    names: ["--coverage-config-file"], placeholder: "FILE", help: "Settings for luacov."),
]

private let reporting = [
  OptionSpec(
    names: ["--output", "-o"], placeholder: "NAME[=FILE]",
    choices: ["people", "tap", "junit", "json", "github"], repeats: true,
    help:
      "Report format: people (default), tap, junit, json, github;\n"
      + "written to FILE or standard output."
  ),
  OptionSpec(
    names: ["--verbose", "-v"], isNegatable: true, help: "Print a line for each test."),
  OptionSpec(
    names: ["--slowest"], placeholder: "COUNT", help: "List this many slowest tests at the end."),
  OptionSpec(
    names: ["--log-success"], placeholder: "FILE",
    help: "Append the names of passed tests, for --exclude-names-file."),
  OptionSpec(
    names: ["--defer-print"], isNegatable: true, help: "Print the report at the end."),
  OptionSpec(
    names: ["--suppress-pending"], isNegatable: true, help: "Do not list pending tests."),
  OptionSpec(
    names: ["--record"], placeholder: "FOLDER",
    help: "Keep a recording of each file with failures in this folder, for\n"
      + "'moonloop replay'; FILE.mlt records the whole run."),
  OptionSpec(
    names: ["--metrics"],
    help: "Measure the loop of each test; write the figures to standard error."),
  OptionSpec(
    names: ["--trace-out"], placeholder: "FILE",
    help: "Write a trace file for ui.perfetto.dev or chrome://tracing,\nwith a track for each test."
  ),
  OptionSpec(
    names: ["--color"], placeholder: "WHEN", choices: ["auto", "always", "never"],
    help: "Use colours; auto: on a terminal, unless NO_COLOR is set."),
]

private let surroundings = [
  OptionSpec(
    names: ["--directory", "-C"], placeholder: "FOLDER", repeats: true,
    help: "Change to this folder first."),
  OptionSpec(
    names: ["--helper"], placeholder: "FILE|MODULE", help: "Run this script before all tests."),
  OptionSpec(
    names: ["-Xhelper"], placeholder: "ARGUMENTS", repeats: true,
    help: "Arguments for the helper, in arg."),
  OptionSpec(
    names: ["-e"], placeholder: "CHUNK", repeats: true, help: "Run this text before all tests."),
  OptionSpec(
    names: ["--lpath", "-m"], placeholder: "PATH", repeats: true,
    help: "Where 'require' looks first (./src/?.lua and similar)."),
  OptionSpec(
    names: ["--cpath"], placeholder: "PATH", repeats: true,
    help: "Where 'require' looks first for C modules."),
  OptionSpec(
    names: ["--lazy"], isNegatable: true,
    help: "Treat setup and teardown as lazy_setup and lazy_teardown."),
  OptionSpec(
    names: ["--auto-insulate"], isNegatable: true,
    help: "Undo each file's changes to globals and modules (default)."),
  OptionSpec(
    names: ["--run", "-r"], placeholder: "TASK", help: "Use the options of a task in '.busted'."),
  OptionSpec(
    names: ["--config-file", "-f"], placeholder: "FILE",
    help: "Read this file instead of '.busted'."),
]

/// For command lines of busted: what they ask for is so, or a message says what to use.
private let ofBusted = [
  OptionSpec(names: ["-Xoutput"], placeholder: "FILE", help: "Same as '--output NAME=FILE'."),
  OptionSpec(names: ["--lua"], placeholder: "LUA", help: "Refused: tests run in moonloop itself."),
  OptionSpec(names: ["--ignore-lua"], help: "Ignore --lua."),
  OptionSpec(names: ["--loaders"], placeholder: "NAMES", help: "Only 'lua'."),
  OptionSpec(names: ["--lang"], placeholder: "LANGUAGE", help: "Only 'en'."),
  OptionSpec(names: ["--enable-sound", "-s"], help: "Refused: moonloop makes no sounds."),
  OptionSpec(names: ["--version"], help: "Refused: use 'moonloop --version'."),
]

extension Program {
  static func test(
    _ arguments: [String], traceOut: String? = nil
  ) throws(UsageError) -> Int32 {
    // The runner ends the program itself, unless a signal does.
    try runInLua(
      arguments, testCommand, traceOut: traceOut,
      """
      local status = require "moonloop.testing.main".command(...)
      if status then os.exit(status, true) end
      """)
  }
}
