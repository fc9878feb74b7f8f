// The file watches of a script: one inotify for all, served in the modes of all of them.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What the watches of a runtime share. Loop thread only.
final class WatchService {
  private unowned(unsafe) let loop: Loop  // The runtime's, which outlives this.
  let hub: WatchHub
  private var source: Loop.DescriptorSource! = nil
  private var modes: [ModeName: Int] = [:]

  init(_ loop: Loop) throws(SystemError) {
    self.loop = loop
    hub = try WatchHub()
    source = Loop.DescriptorSource(hub.descriptor, name: "file watches") {
      [hub] _, _ in hub.collect()
    }
    source.isNonBlocking = true
    loop.setKeepsAlive(source, false)  // Each watch holds the run for itself.
  }

  /// A watch came into a mode, or left one.
  func enter(_ mode: ModeName) {
    modes[mode, default: 0] += 1
    if modes[mode] == 1 { try? loop.add(source, modes: [mode]) }
  }

  func leave(_ mode: ModeName) {
    guard let count = modes[mode] else { return }
    modes[mode] = count > 1 ? count - 1 : nil
    if count == 1 { loop.remove(source, modes: [mode]) }
  }

  /// The state ends.
  func end() { source.invalidate() }
}

/// One watch of a script. Loop thread only.
final class ScriptWatch {
  let files: FileWatch
  /// The path as the script gave it.
  let given: [UInt8]
  private let service: WatchService
  private unowned(unsafe) let runtime: Runtime  // The state ends all watches before it goes.
  let debounce: Int64
  private(set) var source: Loop.Source! = nil
  /// The changes that were not reported yet.
  private var changes: [FileChange] = []
  /// Counts what it knows, and the changes, as script memory.
  private var charge: MemoryCharge?
  private var timer: Loop.Timer?
  /// When the changes that the timer waits for began.
  private var heardFirst: Int64 = 0

  /// How many changes are kept for a handler that does not get its turn.
  static let changeLimit = 1 << 16
  /// Changes that do not stop are reported after this many quiet times.
  private static let patience: Int64 = 10

  init(
    _ runtime: Runtime, _ service: WatchService, _ files: FileWatch, given: [UInt8], name: String,
    debounce: Int64
  ) {
    self.runtime = runtime
    self.service = service
    self.files = files
    self.given = given
    self.debounce = debounce
    source = Loop.Source(
      name: name,
      schedule: { _, _, mode in service.enter(mode) },
      cancel: { _, _, mode in service.leave(mode) },
      perform: { [unowned self] _ in deliver() })  // the source holds this
    runtime.state.charge(footprint, to: &charge)
    files.onNews = { [weak self] in self?.hasHeard() }
    files.onFailure = { [weak self] in self?.fail($0, $1) }
  }

  /// The watch of an item; nil once that has ended.
  static func of(_ source: Loop.Source) -> ScriptWatch? { source.state(as: ScriptWatch.self) }

  // MARK: Quiet

  /// A change was noticed: looks when it has been quiet, or has not been for long.
  func hasHeard() {
    if debounce == 0 { return look() }
    let now = runtime.loop.kernel.now()
    if let timer {
      let last = heardFirst.addingSaturated(
        debounce.multipliedReportingOverflow(by: Self.patience).partialValue)
      let due = min(now.addingSaturated(debounce), max(last, now))
      timer.nextFire = LoopTime(nanoseconds: due)
      return
    }
    heardFirst = now
    timer = runtime.loop.schedule(
      after: .nanoseconds(debounce), modes: runtime.loop.modes(of: source),
      name: "quiet of \(source.name)"
    ) { [weak self] _ in
      self?.timer = nil
      self?.look()
    }
    timer?.keepsLoopAlive = false
  }

  private func look() {
    changes += files.takeChanges()
    runtime.state.count(footprint, in: &charge)
    if changes.count > Self.changeLimit || !changes.isEmpty && !runtime.state.hasRoom() {
      changes = [FileChange(kind: .overflow, path: files.root)]
    }
    runtime.state.count(footprint, in: &charge)
    if !changes.isEmpty { source.signal() }
  }

  private var footprint: Int {
    1024 + given.count + files.footprint + changes.count * (128 + files.root.bytes.count)
  }

  private func deliver() {
    let changes = changes
    self.changes = []
    runtime.state.count(footprint, in: &charge)
    guard !changes.isEmpty else { return }
    runtime.itemKinds[WatchKind.self].tell(source, of: changes, self)
  }

  private func fail(_ error: SystemError, _ path: WatchedPath) {
    let failure = Self.failure(error, text(of: path))
    runtime.report(
      LuaError(message: "watch: " + failure.message, code: failure.code), .item(source))
  }

  /// A refusal of the system, with advice.
  static func failure(_ error: SystemError, _ path: [UInt8]) -> OperatingFailure {
    let name = String(decoding: path, as: UTF8.self)
    var text = "cannot watch '\(name)': "
    switch (error.call, error.name) {
    case (_, "ENOSPC"):
      text +=
        "all \(WatchHub.limit) folders that a user may watch are watched; watch fewer, or "
        + "raise fs.inotify.max_user_watches"
    case ("inotify_init1", "EMFILE"):
      text +=
        "the user has too many inotify instances, or the process too many open files; raise "
        + "fs.inotify.max_user_instances"
    case (_, "ENOMEM"):
      text += "its paths take more than the memory limit leaves; watch fewer, or raise the limit"
    default: text += error.message
    }
    return OperatingFailure(text, error.name)
  }

  /// A path as the script sees it.
  func text(of path: WatchedPath) -> [UInt8] { given + path.rest(behind: files.root) }

  /// The item has ended.
  func end() {
    timer?.invalidate()
    timer = nil
    changes = []
    files.end()
    charge = nil
  }

  // MARK: As text

  var stateText: String {
    let waiting = changes.isEmpty ? "" : ", \(changes.count) changes waiting"
    return "\(files.knownCount) paths known\(waiting)"
  }

  var obstacle: String {
    if timer != nil { return "something has changed; it is reported when the changes stop" }
    if changes.isEmpty && files.knownCount == 0 {
      return
        "there is nothing at \(String(decoding: given, as: UTF8.self)) yet; its handler is "
        + "called when it appears"
    }
    return changes.isEmpty
      ? "nothing has changed since the last report"
      : "\(changes.count) changes wait for the next pass"
  }
}
