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
    there is no test to run; 129, 130 and 143 after SIGHUP, SIGINT and SIGTERM.
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
    "--filter", value: "PATTERN", repeats: true,
    help: "Run only tests whose full names match a Lua pattern."),
  OptionSpec(
    "--filter-out", value: "PATTERN", repeats: true,
    help: "Skip tests and blocks whose full names match."),
  OptionSpec(
    "--name", value: "NAME", repeats: true,
    help: "Run only the test with this full name."),
  OptionSpec("--rerun-failed", help: "Run only tests that failed here and have not passed since."),
  OptionSpec("--only", help: "Run only tests with the option 'only = true'."),
  OptionSpec(
    "--shard", value: "NUMBER/COUNT",
    help: "Run only this share of the files, e.g. 2/5 for the second of five."),
  OptionSpec(
    "--durations", value: "FILE",
    help: "With --shard, share files by the durations in FILE;\notherwise record them there."),
  OptionSpec(
    "--tags", "-t", value: "TAGS", repeats: true,
    help: "Run only tests with one of these #tags (comma-separated)."),
  OptionSpec(
    "--exclude-tags", value: "TAGS", repeats: true,
    help: "Skip tests and blocks with one of these #tags."),
  OptionSpec(
    "--exclude-names-file", value: "FILE",
    help: "Skip tests whose full names are listed in FILE, one per line."),
  OptionSpec(
    "--pattern", "-p", value: "PATTERN", repeats: true,
    help: "Treat matching files in folders as specs (_spec%.lua$, _test%.lua$)."),
  OptionSpec(
    "--exclude-pattern", value: "PATTERN", repeats: true,
    help: "Do not treat matching files as specs."),
  OptionSpec("--recursive", "-R", isNegatable: true, help: "Search subfolders (default)."),
  OptionSpec("--list", "-l", help: "List the tests that would run, without running them."),
]

private let ordering = [
  OptionSpec("--repeat", value: "COUNT", help: "Run everything this many times."),
  OptionSpec("--shuffle", isNegatable: true, help: "Run files and tests in random order."),
  OptionSpec("--shuffle-files", isNegatable: true, help: "Shuffle files only."),
  OptionSpec("--shuffle-tests", isNegatable: true, help: "Shuffle tests within files only."),
  OptionSpec("--sort", isNegatable: true, help: "Run files and tests in order of name."),
  OptionSpec("--sort-files", isNegatable: true, help: "Sort files only."),
  OptionSpec("--sort-tests", isNegatable: true, help: "Sort tests within files only."),
  OptionSpec(
    "--orders", value: "COUNT",
    help: "Run each test with this many orders of equally ready events."),
  OptionSpec(
    "--seed", value: "SEED",
    help: "Seed for --shuffle; tests with several orders run only\nthe one with this seed."),
  OptionSpec("--shuffle-seed", value: "SEED", help: "Seed for --shuffle only."),
]

private let running = [
  OptionSpec(
    "--timeout", value: "TIME", isTime: true,
    help: "Time limit for each test and hook, in real time (60s)."),
  OptionSpec(
    "--clock", value: "CLOCK", choices: ["real", "virtual", "skip_idle"],
    help: "Clock for tests that do not choose one (real)."),
  OptionSpec("--keep-going", "-k", isNegatable: true, help: "Continue after a failure (default)."),
  OptionSpec("--bail", value: "COUNT", help: "Stop after this many failures."),
  OptionSpec(
    "--jobs", "-j", value: "COUNT",
    help: "Run this many files at a time, each in its own process."),
  OptionSpec(
    "--break-on-error",
    help: "Stop at failures and uncaught errors if there is a console:\n"
      + "the terminal, or an attached one."),
  OptionSpec("--watch", help: "Wait for file changes and rerun the affected specs."),
  OptionSpec(
    "--leaks", value: "WHAT", choices: ["fail", "allow"],
    help: "If a test leaves something behind: fail (default) or allow it."),
  OptionSpec("--keep", help: "Keep the folders of failed tests, and name them."),
  OptionSpec("--update", help: "Rewrite golden files instead of comparing with them."),
  OptionSpec(
    "--coverage", "-c", isNegatable: true,
    help: "Measure coverage with luacov, if installed."),
  OptionSpec("--coverage-config-file", value: "FILE", help: "Settings for luacov."),
]

private let reporting = [
  OptionSpec(
    "--output", "-o", value: "NAME[=FILE]", choices: ["people", "tap", "junit", "json", "github"],
    repeats: true,
    help: "Report format: people (default), tap, junit, json, github;\n"
      + "written to FILE or standard output."),
  OptionSpec("--verbose", "-v", isNegatable: true, help: "Print a line for each test."),
  OptionSpec("--slowest", value: "COUNT", help: "List this many slowest tests at the end."),
  OptionSpec(
    "--log-success", value: "FILE",
    help: "Append the names of passed tests, for --exclude-names-file."),
  OptionSpec("--defer-print", isNegatable: true, help: "Print the report at the end."),
  OptionSpec("--suppress-pending", isNegatable: true, help: "Do not list pending tests."),
  OptionSpec(
    "--record", value: "FOLDER",
    help: "Keep a recording of each file with failures in this folder, for\n"
      + "'moonloop replay'; FILE.mlt records the whole run."),
  OptionSpec(
    "--metrics",
    help: "Measure the loop of each test; write the figures to standard error."),
  OptionSpec(
    "--trace-out", value: "FILE",
    help: "Write a trace file for ui.perfetto.dev or chrome://tracing,\n"
      + "with a track for each test."),
  OptionSpec(
    "--color", value: "WHEN", choices: ["auto", "always", "never"],
    help: "Use colours; auto: on a terminal, unless NO_COLOR is set."),
]

private let surroundings = [
  OptionSpec(
    "--directory", "-C", value: "FOLDER", repeats: true,
    help: "Change to this folder first."),
  OptionSpec("--helper", value: "FILE|MODULE", help: "Run this script before all tests."),
  OptionSpec(
    "-Xhelper", value: "ARGUMENTS", repeats: true,
    help: "Arguments for the helper, in arg."),
  OptionSpec("-e", value: "CHUNK", repeats: true, help: "Run this text before all tests."),
  OptionSpec(
    "--lpath", "-m", value: "PATH", repeats: true,
    help: "Where 'require' looks first (./src/?.lua and similar)."),
  OptionSpec(
    "--cpath", value: "PATH", repeats: true,
    help: "Where 'require' looks first for C modules."),
  OptionSpec(
    "--lazy", isNegatable: true,
    help: "Treat setup and teardown as lazy_setup and lazy_teardown."),
  OptionSpec(
    "--auto-insulate", isNegatable: true,
    help: "Undo each file's changes to globals and modules (default)."),
  OptionSpec("--run", "-r", value: "TASK", help: "Use the options of a task in '.busted'."),
  OptionSpec("--config-file", "-f", value: "FILE", help: "Read this file instead of '.busted'."),
]

/// For command lines of busted: what they ask for is so, or a message says what to use.
private let ofBusted = [
  OptionSpec("-Xoutput", value: "FILE", help: "Same as '--output NAME=FILE'."),
  OptionSpec("--lua", value: "LUA", help: "Refused: tests run in moonloop itself."),
  OptionSpec("--ignore-lua", help: "Ignore --lua."),
  OptionSpec("--loaders", value: "NAMES", help: "Only 'lua'."),
  OptionSpec("--lang", value: "LANGUAGE", help: "Only 'en'."),
  OptionSpec("--enable-sound", "-s", help: "Refused: sounds are not supported."),
  OptionSpec("--version", help: "Refused: use 'moonloop --version'."),
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
