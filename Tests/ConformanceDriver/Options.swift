// The command line of the driver.

import ConformanceFormat

/// What performs a scenario: this package through one of its interfaces, the model of its rules,
/// the model with Core Foundation's rulings, or the live CFRunLoop.
enum FaceName: String, CaseIterable {
  case swift, lua, model
  case cfModel = "cf-model"
  case cf
  /// This package, in the runs of the live CFRunLoop.
  case hosted

  /// Whether traces must equal those of Core Foundation.
  var isCF: Bool { self == .cf || self == .cfModel }
  /// Whether traces may equal either Core Foundation's or this package's.
  var isEither: Bool { self == .hosted }
}
enum KernelName: String, CaseIterable { case real, simulated }

struct Options {
  var face = FaceName.swift
  var kernel = KernelName.real
  /// Run this one scenario in this process and print its line.
  var json: String?
  /// Run the scenarios of this file, one a line, in this process.
  var batch: String?
  /// Make and perform this many random scenarios, starting with this seed.
  var fuzz: Int?
  var seed = 1
  /// Only say what the scenarios are made of.
  var isCensus = false
  /// Whether to use only one face or kernel.
  var isRestricted = false
  /// Whether to shrink and print differences.
  var shrinks = true
  /// Only read the files.
  var checksOnly = false
  /// The folder of scenarios to run when no file is named.
  var suite = "Tests/Conformance"
  /// How often each scenario is run.
  var times = 1
  /// How many scenarios run at the same time.
  var jobs = 8
  /// Whether a scenario that failed in real time is run again, alone and slowly.
  var retries = true
  var files: [String] = []

  static let usage = """
    usage: conformance [--face NAME] [--kernel real|simulated] [FILE...]
           conformance [--face NAME] [--kernel real|simulated] --json FILE

    Runs run-loop scenarios and compares the traces they leave with those they have to leave.
    Without files it runs those in Tests/Conformance; a folder stands for its .json files.

      --face NAME     the interface to drive: swift (default) or lua; or the model of the
                      rules; or cf, the live CFRunLoop, or cf-model, the model of that;
                      or hosted, this package in the runs of the live CFRunLoop
      --kernel NAME   real time and threads (default), or simulated
      --json FILE     run one scenario and print its trace as a line of JSON; exit status 0,
                      3 when it took more than 20 seconds
      --batch FILE    run the scenarios of a file, one a line, as --json does
      --suite DIR     the folder to run when no file is named (Tests/Conformance)
      --times N       run each scenario N times (1)
      --jobs N        run N scenarios at the same time (8)
      --no-retry      do not run again, alone and slowly, what failed in real time
      --fuzz N        make N random scenarios, run them by all faces and kernels and by the live
                      CFRunLoop, and judge the traces by the model of the rules; with --face
                      or --kernel by these alone
      --seed S        the seed of the first one (1); each has the next
      --census        with --fuzz: only print what the scenarios are made of
      --no-shrink     stop at the first difference, and do not make it smaller
      --check         read the files only
      --help          print this

    CONFORMANCE_SCALE=N in the environment stretches all times N-fold, for a busy machine.
    Exit status: 0 when nothing failed, 1 when something did, 2 for a mistake in usage or in a file.

    """

  /// - Returns: nil if help was requested.
  static func parse(_ arguments: some Sequence<String>) throws(FormatError) -> Options? {
    var options = Options()
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h": return nil
      case "--fuzz": options.fuzz = try count(argument, &rest)
      case "--seed": options.seed = try count(argument, &rest)
      case "--census": options.isCensus = true
      case "--no-shrink": options.shrinks = false
      case "--check": options.checksOnly = true
      case "--face":
        options.face = try word(argument, &rest)
        options.isRestricted = true
      case "--kernel":
        options.kernel = try word(argument, &rest)
        options.isRestricted = true
      case "--json": options.json = try value(argument, &rest)
      case "--batch": options.batch = try value(argument, &rest)
      case "--no-retry": options.retries = false
      case "--suite": options.suite = try value(argument, &rest)
      case "--times": options.times = try count(argument, &rest)
      case "--jobs": options.jobs = try count(argument, &rest)
      case "--":
        options.files += rest
        rest = []
      default:
        guard !argument.hasPrefix("-") else {
          throw FormatError(message: "unknown option '\(argument)'; see --help")
        }
        options.files.append(argument)
      }
    }
    if options.json != nil, !options.files.isEmpty {
      throw FormatError(message: "--json takes one file and no others")
    }
    return options
  }

  private static func value(
    _ option: String, _ rest: inout ArraySlice<String>
  ) throws(FormatError) -> String {
    guard let value = rest.popFirst() else { throw FormatError(message: "\(option) needs a value") }
    return value
  }

  private static func word<Word: RawRepresentable & CaseIterable>(
    _ option: String, _ rest: inout ArraySlice<String>
  ) throws(FormatError) -> Word where Word.RawValue == String {
    let value = try value(option, &rest)
    guard let word = Word(rawValue: value) else {
      let all = Word.allCases.map(\.rawValue).joined(separator: " or ")
      throw FormatError(message: "\(option) is \(all), not '\(value)'")
    }
    return word
  }

  private static func count(
    _ option: String, _ rest: inout ArraySlice<String>
  ) throws(FormatError) -> Int {
    let value = try value(option, &rest)
    guard let count = Int(value), (1...1_000_000_000).contains(count)
    else {
      throw FormatError(message: "\(option) is a number from 1 to 1000000000, not '\(value)'")
    }
    return count
  }
}
