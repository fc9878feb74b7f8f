// Signal names as scripts write them, in lower case, and their numbers on this system.

internal import CLinuxShims

/// The names and numbers of signals.
package enum SignalNumber {
  package static let kill: Int32 = 9
  package static let term: Int32 = 15
  package static let winch: Int32 = 28
  package static let goOn: Int32 = 18
  package static let stop: Int32 = 19

  /// Why a signal cannot be handled.
  package enum Obstacle: Sendable {
    /// No process can handle it (SIGKILL, SIGSTOP).
    case unblockable
    /// It reports a fault at the place where it happens.
    case fault
    /// The C library reserves it.
    case library
  }

  /// The number for a name: "term", "TERM", "SIGTERM", "rtmin+2"; nil if there is none.
  package static func number(of name: String) -> Int32? {
    var word = name.lowercased()
    if word.hasPrefix("sig") { word.removeFirst(3) }
    if let alias = aliases[word] { return alias }
    if let standard = (1..<32).first(where: { standardName($0) == word }) { return standard }
    let (first, last) = (cmx_signal_realtime_first(), cmx_signal_realtime_last())
    if word == "rtmin" { return first }
    if word == "rtmax" { return last }
    if word.hasPrefix("rtmin+"), let step = Int32(word.dropFirst(6)), step >= 0 {
      return step <= last - first ? first + step : nil
    }
    if word.hasPrefix("rtmax-"), let step = Int32(word.dropFirst(6)), step >= 0 {
      return step <= last - first ? last - step : nil
    }
    return nil
  }

  /// The name for a number, such as "term"; the number itself if it has none.
  package static func name(of number: Int32) -> String {
    if let name = standardName(number) { return name }
    let first = cmx_signal_realtime_first()
    if number >= first && number <= cmx_signal_realtime_last() {
      return number == first ? "rtmin" : "rtmin+\(number - first)"
    }
    return "\(number)"
  }

  /// The name for a number in messages, such as "SIGTERM".
  package static func title(of number: Int32) -> String {
    standardName(number).map { "SIG\($0.uppercased())" } ?? "signal \(name(of: number))"
  }

  /// Whether the system has this signal.
  package static func exists(_ number: Int32) -> Bool {
    number >= 1 && number <= cmx_signal_realtime_last()
  }

  /// All names except those of real-time signals.
  package static var names: [String] { (1..<32).compactMap(standardName) }

  /// Why a signal cannot be handled; nil if it can.
  package static func obstacle(_ number: Int32) -> Obstacle? {
    switch name(of: number) {
    case "kill", "stop": .unblockable
    case "segv", "bus", "fpe", "ill", "trap", "sys", "abrt": .fault
    default: number >= 32 && number < cmx_signal_realtime_first() ? .library : nil
    }
  }

  private static let aliases: [String: Int32] = ["iot": 6, "cld": 17, "poll": 29]

  private static func standardName(_ number: Int32) -> String? {
    guard number >= 1, number < 32, let name = cmx_signal_name(number) else { return nil }
    return String(cString: name).lowercased()
  }
}

package enum FatalSignals {
  /// A fatal signal ends the program, also where Swift's backtracer handles it and returns. Called
  /// once, at the start.
  package static func endProgram() { cmx_end_at_fatal_signals() }
}
