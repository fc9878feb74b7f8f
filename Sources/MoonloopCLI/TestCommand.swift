// The command `test`: its options, and how they come to the runner, which is written in Lua.

internal import Moonloop

let testCommand = CommandSpec(
  name: "test",
  summary: "Runs spec files: *_spec.lua and *_test.lua, in busted's words.",
  usage: "[OPTION...] [FILE|FOLDER...]",
  options: selecting + ordering + running + reporting + surroundings,
  mixesOperands: true,
  notes: [
    """
    Without paths the folder 'spec' is searched, or the current one. A file '.busted' is read for
    options that are not given here. Tests are written with describe, it, before_each and luassert's
    asserts; each runs on a loop of its own: it("name", { clock = "virtual", timeout = 5 },
    function(loop, clock, t) ... end).
    """,
    """
    Exit status: 0; 1 if a test failed or something outside of the tests did; 2 if the command line
    is wrong or there is nothing to run; 130 after SIGINT, 143 after SIGTERM.
    """,
  ],
  examples: [
    ("moonloop test", "All spec files of the folder 'spec', or of this one."),
    ("moonloop test --filter debounce -v", "The tests whose names have 'debounce', one a line."),
    ("moonloop test --output people --output junit=report.xml", "For people and a build server."),
    ("moonloop test --name 'counter adds' --seed 17", "One test in the order that failed."),
    ("moonloop test --jobs 4 --slowest 10", "Four files at a time, and where the time went."),
  ])

private let selecting = [
  OptionSpec(
    names: ["--filter"], placeholder: "PATTERN", repeats: true,
    help: "Runs the tests whose full names match a Lua pattern."),
  OptionSpec(
    names: ["--filter-out"], placeholder: "PATTERN", repeats: true,
    help: "Leaves out tests and blocks whose full names match."),
  OptionSpec(
    names: ["--name"], placeholder: "NAME", repeats: true,
    help: "Runs the test with this full name."),
  OptionSpec(
    names: ["--tags", "-t"], placeholder: "TAGS", repeats: true,
    help: "Runs tests with one of these #tags, which commas separate."),
  OptionSpec(
    names: ["--exclude-tags"], placeholder: "TAGS", repeats: true,
    help: "Leaves out tests and blocks with one of these #tags."),
  OptionSpec(
    names: ["--exclude-names-file"], placeholder: "FILE",
    help: "Leaves out the tests whose full names are the lines of a file."),
  OptionSpec(
    names: ["--pattern", "-p"], placeholder: "PATTERN", repeats: true,
    help: "Which files of a folder are spec files (_spec%.lua$, _test%.lua$)."),
  OptionSpec(
    names: ["--exclude-pattern"], placeholder: "PATTERN", repeats: true,
    help: "Which files of a folder are not."),
  OptionSpec(
    names: ["--recursive", "-R"], isNegatable: true,
    help: "Searches folders in folders (default)."),
  OptionSpec(names: ["--list", "-l"], help: "Prints the tests that would run, and runs none."),
]

private let ordering = [
  OptionSpec(
    names: ["--repeat"], placeholder: "COUNT", help: "Runs everything as often as this."),
  OptionSpec(
    names: ["--shuffle"], isNegatable: true, help: "Runs files and tests in an order by chance."),
  OptionSpec(names: ["--shuffle-files"], isNegatable: true, help: "The files only."),
  OptionSpec(names: ["--shuffle-tests"], isNegatable: true, help: "The tests in files only."),
  OptionSpec(names: ["--sort"], isNegatable: true, help: "Runs files and tests by their names."),
  OptionSpec(names: ["--sort-files"], isNegatable: true, help: "The files only."),
  OptionSpec(names: ["--sort-tests"], isNegatable: true, help: "The tests in files only."),
  OptionSpec(
    names: ["--orders"], placeholder: "COUNT",
    help: "Runs each test in this many orders of equally ready events."),
  OptionSpec(
    names: ["--seed"], placeholder: "SEED",
    help: "The seed of --shuffle; of tests with orders, runs only the one\nof this seed."),
  OptionSpec(
    names: ["--shuffle-seed"], placeholder: "SEED", help: "The seed of --shuffle alone."),
]

private let running = [
  OptionSpec(
    names: ["--timeout"], placeholder: "TIME", isTime: true,
    help: "The most that a test or hook may take, in real time (60s)."),
  OptionSpec(
    names: ["--clock"], placeholder: "CLOCK", choices: ["real", "virtual", "skip_idle"],
    help: "How time runs in tests that do not say it (real)."),
  OptionSpec(
    names: ["--keep-going", "-k"], isNegatable: true,
    help: "Goes on after a failure (default)."),
  OptionSpec(
    names: ["--jobs", "-j"], placeholder: "COUNT",
    help: "Runs this many files at a time, each in a process of its own."),
  OptionSpec(names: ["--watch"], help: "Waits for changes of files, and runs what they touch."),
  OptionSpec(names: ["--update"], help: "Writes golden files anew instead of comparing."),
  OptionSpec(
    names: ["--coverage", "-c"], isNegatable: true,
    help: "Counts lines with luacov, if it is installed."),
  OptionSpec(
    names: ["--coverage-config-file"], placeholder: "FILE", help: "Settings of luacov."),
]

private let reporting = [
  OptionSpec(
    names: ["--output", "-o"], placeholder: "NAME[=FILE]", repeats: true,
    help: "How to report: people (default), tap, junit or json;\nto a file, or standard output."),
  OptionSpec(
    names: ["--verbose", "-v"], isNegatable: true, help: "A line for each test."),
  OptionSpec(
    names: ["--slowest"], placeholder: "COUNT", help: "Lists the slowest tests at the end."),
  OptionSpec(
    names: ["--suppress-pending"], isNegatable: true, help: "Does not list pending tests."),
  OptionSpec(
    names: ["--color"], placeholder: "WHEN", choices: ["auto", "always", "never"],
    help: "When to use colours; auto: on a terminal, unless NO_COLOR is set."),
]

private let surroundings = [
  OptionSpec(
    names: ["--helper"], placeholder: "FILE|MODULE", help: "Runs a script before all tests."),
  OptionSpec(
    names: ["-Xhelper"], placeholder: "ARGUMENTS", repeats: true,
    help: "What the helper finds in arg."),
  OptionSpec(
    names: ["-e"], placeholder: "CHUNK", repeats: true, help: "Runs the text before all tests."),
  OptionSpec(
    names: ["--lpath", "-m"], placeholder: "PATH", repeats: true,
    help: "Where 'require' looks first (./src/?.lua and its like)."),
  OptionSpec(
    names: ["--cpath"], placeholder: "PATH", repeats: true,
    help: "Where 'require' looks first for modules in C."),
  OptionSpec(
    names: ["--lazy"], isNegatable: true,
    help: "setup and teardown mean lazy_setup and lazy_teardown."),
  OptionSpec(
    names: ["--auto-insulate"], isNegatable: true,
    help: "Undoes what a file did to globals and modules (default)."),
  OptionSpec(
    names: ["--run", "-r"], placeholder: "TASK", help: "Takes the options of a task of '.busted'."),
  OptionSpec(
    names: ["--config-file", "-f"], placeholder: "FILE", help: "Reads this file instead."),
]

extension Program {
  static func test(_ arguments: [String]) throws(UsageError) -> Int32 {
    // The runner ends the program by itself, unless a signal does.
    try runInLua(
      arguments, testCommand,
      """
      local status = require "moonloop.testing.main".command(...)
      if status then os.exit(status, true) end
      """)
  }
}
