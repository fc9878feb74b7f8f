// A program that systemd has started reports its state to it, and marks its messages for the
// journal.

internal import Moonloop
internal import MoonloopCore
internal import MoonloopSystem

/// Tells the service manager of the program's state. Loop thread only.
final class ServiceReports {
  private let runtime: Runtime
  private var isReady = false

  /// - Returns: nil if no manager listens.
  init?(_ runtime: Runtime) {
    guard Systemd.isListening else { return nil }
    self.runtime = runtime
  }

  func attach() {
    runtime.loop.whenIdle(self) { [unowned self] _ in noteIdle() }  // lives as long as the program
    runtime.generations.whenLoads = { begins in
      if begins { Systemd.notifyReload() } else { Systemd.notify("READY=1") }
    }
    if Intake.isPlain, let time = Systemd.watchdogTime { answerWatchdog(time) }
  }

  /// The program is ready when its loop sleeps for the first time with all of it started.
  private func noteIdle() {
    if isReady || !runtime.mainChunk.hasStarted { return }
    isReady = true
    Systemd.notify("READY=1")
  }

  /// A sign of life is a timer of the loop, in whatever mode it runs: a handler that does not
  /// return is a program that does not live.
  private func answerWatchdog(_ time: Duration) {
    let loop = runtime.loop
    let timer = loop.schedule(after: .zero, every: time / 3, name: "watchdog of the service") { _ in
      Systemd.notify("WATCHDOG=1")
    }
    timer.keepsLoopAlive = false
    loop.whenModeIsMade(self) { [weak timer] mode in
      guard let timer, timer.isValid else { return }
      try? loop.add(timer, modes: [mode.name])
    }
  }

  func end() { Systemd.notify("STOPPING=1") }
}

/// Messages for the journal, which takes each line for one of its own.
enum Journal {
  static let takesErrors = Systemd.isJournal(2)

  /// The text with its priority before each line: 3 is an error, 4 a warning.
  static func marked(_ text: String) -> String {
    let priority = text.hasPrefix("moonloop: warning: ") ? "<4>" : "<3>"
    return text.split(separator: "\n").map { priority + $0 }.joined(separator: "\n")
  }
}
