// Workers: threads with their own state and loop. The item is the port on which they report.

internal import LuaEmbed
internal import MoonloopCore

final class WorkerKind: ItemKind {
  static let word = "worker"
  static var handles: ItemHandles? { ItemHandles(slots: 1, workerEntries) }
  static var keepsState: Bool { true }  // How a worker ended can still be asked.
  static var moduleEntries: [LuaEntry] { [.function("worker", moduleWorker)] }

  let seat: KindSeat
  let notice: Loop.Port.Handler

  init(_ seat: KindSeat) {
    self.seat = seat
    let door = seat.door
    notice = { port, notice in
      door._withUnsafeGuaranteedRef { $0.deliver(port, notice: notice) }
    }
  }

  func ended(_ control: Loop.Port) { Worker.of(control)?.handleEnded() }
  func collected(_ control: Loop.Port) { ended(control) }

  func endAfterReload(_ control: Loop.Port) -> Bool {
    control.maker.generation = 0
    Worker.of(control)?.stop()
    return true
  }

  // MARK: As text

  func stateText(of control: Loop.Port) -> String {
    guard let worker = Worker.of(control) else { return "" }
    let waiting = worker.link.outward.waiting
    return worker.outcome == nil && waiting > 0
      ? "\(worker.status), \(waiting) messages wait" : "\(worker.status)"
  }

  func obstacle(to control: Loop.Port) -> String {
    guard let worker = Worker.of(control) else { return "it has ended" }
    return worker.outcome == nil && !worker.link.isStopping
      ? "it is running, and its end or an error would be reported; \(worker.link.doing)"
      : "it is \(worker.status)"
  }
}
