// Why tasks do not go on, and what channels, semaphores and workers wait for.

internal import LuaEmbed
internal import MoonloopCore

extension Explanation {
  /// The same for handles that are not items; nil if it is none.
  func whyOther(_ call: HostCall) -> String? {
    let L = call.stack.L
    if let task = call.task(2) { return why(task) }
    if let channel = kinds.channel.handle(L, 2)?.object(as: ScriptChannel.self) {
      return "\(channel.label(runtime)): \(channel.obstacle)"
    }
    if let semaphore = kinds.semaphore.handle(L, 2)?.object(as: ScriptSemaphore.self) {
      return "\(semaphore.label(runtime)): \(semaphore.obstacle)"
    }
    return nil
  }

  // MARK: Tasks

  func why(_ task: ScriptTask) -> String {
    "\(runtime.label(of: .task(task))): \(obstacle(task))"
  }

  private func obstacle(_ task: ScriptTask) -> String {
    switch task.phase {
    case .ended:
      switch task.outcome {
      case .failed:
        let words = task.failure.map { ": \($0.error.message)" } ?? ""
        return "it has failed\(words)"
      case .cancelled: return "it was cancelled"
      case .none, .returned: return "it has returned; await gives its results"
      }
    case .running:
      return "it runs now\(task.wait == nil ? "" : ", and waits \(tasks.forWhat(task))")"
    case .prepared: return "it begins in the next pass\(placeOf(task))"
    case .joining: return "its function has returned; it waits for \(children(of: task))"
    case .suspended: break
    }
    if task.isReady {
      return "its wait is over: it continues in the next pass\(placeOf(task))"
    }
    return "it waits \(tasks.forWhat(task))\(chain(from: task))\(placeOf(task))"
  }

  private func children(of task: ScriptTask) -> String {
    let all = task.children.all
    guard let first = all.first else { return "its children" }
    let rest = all.count > 1 ? " and \(all.count - 1) more" : ""
    return "\(runtime.label(of: .task(first)))\(rest), which waits \(tasks.forWhat(first))"
  }

  /// What the awaited task waits for, and so on.
  private func chain(from task: ScriptTask) -> String {
    var text = ""
    var last = task
    for _ in 0..<8 {
      guard case .task(let other)? = last.wait?.cause else { break }
      if other.phase == .ended || other.phase == .running { break }
      text +=
        ", which waits "
        + (other.phase == .joining ? "for \(children(of: other))" : tasks.forWhat(other))
      last = other
    }
    return text
  }

  /// Where a task will go on, if that mode is not running.
  private func placeOf(_ task: ScriptTask) -> String {
    let modes = task.servingModes
    let list = modes.map(\.rawValue).joined(separator: ", ")
    guard let current = scriptRun?.mode.name else {
      return "; the loop does not run: it goes on once it runs in \(list)"
    }
    if modes.contains(where: { $0 == current || ($0 == .common && loop.isCommonMode(current)) }) {
      return ""
    }
    return "; the loop runs in mode '\(current)', but it goes on in \(list)"
  }
}

extension ScriptChannel {
  /// Why nothing passes through, as text.
  var obstacle: String {
    if isClosed {
      return "it is closed" + (count > 0 ? "; \(plural(count, "value")) can still be received" : "")
    }
    let (waitToSend, waitToReceive) = (sendersWaiting, receiversWaiting)
    if waitToSend > 0 {
      return
        "it is full (\(count) of \(capacity)) and no task is receiving; "
        + "\(plural(waitToSend, "task")) \(waitToSend == 1 ? "waits" : "wait") to send"
    }
    if waitToReceive > 0 {
      return "it is empty and no task is sending; \(plural(waitToReceive, "task")) "
        + "\(waitToReceive == 1 ? "waits" : "wait") to receive; close it when no more will come"
    }
    return "\(count) of \(capacity) values are in it, and no task is waiting"
  }

  private func plural(_ count: Int, _ what: String) -> String {
    "\(count) \(what)\(count == 1 ? "" : "s")"
  }
}

extension ScriptSemaphore {
  /// Why no task gets a permit, as text.
  var obstacle: String {
    if isClosed { return "it is closed" }
    if available > 0 {
      return "\(available) of \(permits) permits are free, and no task is waiting"
    }
    return waiting == 0
      ? "all \(permits) permits are taken, and no task is waiting"
      : "all \(permits) permits are taken; \(waiting) "
        + (waiting == 1 ? "task waits" : "tasks wait")
        + ": release one, or take permits with <close>"
  }
}

extension WorkerLink {
  /// What the worker's thread is doing, as text.
  var doing: String { Intake.text { doingNow } }

  private var doingNow: String {
    guard let thread = runningThread else { return "its thread has ended" }
    let mail =
      inward.waiting == 0
      ? "" : "; \(inward.waiting) message\(inward.waiting == 1 ? " waits" : "s wait") in it"
    if !thread.loop.isRunning {
      let what =
        blockedIn.map { "is in \($0), which blocks its thread" } ?? "has not come to its end"
      return "its thread does not run its loop: its script \(what)\(mail); let it return, or run "
        + "its loop"
    }
    return thread.loop.isWaiting
      ? "its loop sleeps\(mail)" : "its loop is busy with a handler\(mail)"
  }
}
