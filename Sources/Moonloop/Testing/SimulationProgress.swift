// How far a simulation has come, shown at a terminal.

internal import MoonloopCore

/// A line on standard error that is rewritten during a recording. Loop thread only.
final class SimulationProgress {
  /// Asking the time for each event would slow the simulation down.
  private static let stride = 1024
  private static let patience: Int64 = 1_000_000_000  // real nanoseconds until the first line
  private static let interval: Int64 = 250_000_000

  private var events = 0
  private var next = RealTime.monotonic + SimulationProgress.patience
  private var isShown = false

  /// Takes note of an event.
  func note(_ recorder: LoopRecorder) {
    events += 1
    guard events % Self.stride == 0 else { return }
    let now = RealTime.monotonic
    guard now >= next else { return }
    next = now + Self.interval
    isShown = true
    let done = min(1, Double(recorder.now) / Double(recorder.options.span))
    // The cursor goes back to the beginning, so that what handlers print takes the line's place.
    write("\u{1B}[Ksimulated \(Int(done * 100)) %, \(recorder.passes) passes\r")
  }

  /// Removes the line.
  func end() {
    if isShown { write("\u{1B}[K") }
  }

  private func write(_ text: String) {
    var text = text
    text.withUTF8 { writeToStandardError(UnsafeRawBufferPointer($0)) }
  }
}
