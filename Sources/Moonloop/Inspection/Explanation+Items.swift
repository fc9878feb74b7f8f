// Why an item that is in the mode which runs is not called, kind by kind.

internal import LuaEmbed
internal import MoonloopCore

extension Runtime {
  func obstacle(_ source: Loop.Source) -> String {
    if !source.isSignalled {
      return source.callouts == 0
        ? "nobody has signalled it; call source:signal()"
        : "it was not signalled since it was last performed; call source:signal()"
    }
    if scriptRun?.telling == .beforeWaiting {
      return "it was signalled when the loop was about to sleep, and a signal does not wake: it is "
        + "performed after the sleep; call loop:wake_up()"
    }
    return
      "it is signalled: \(blocker()), then the next pass performs it; a signal alone does not wake "
      + "the loop, so call loop:wake_up() if it may be about to sleep"
  }

  func obstacle(_ port: Loop.Port) -> String {
    if let worker = workers.of(loop).first(where: { $0.link.outward === port }) {
      return port.waiting == 0
        ? "no message waits in it; \(worker.link.label): \(worker.obstacle(port))"
        : "\(waiting(in: port)): \(service(of: port))"
    }
    if port.isSuspended { return "it has no handler, \(waiting(in: port)); use port:on" }
    if port.waiting == 0 { return "no message waits in it" }
    if port.waiting >= port.capacity {
      return "it is full, \(waiting(in: port)), and sending fails or waits: \(service(of: port)); "
        + "give it a greater capacity, or send less"
    }
    return "\(waiting(in: port)): \(service(of: port))"
  }

  private func service(of port: Loop.Port) -> String {
    "\(blocker()), then " + (port.waiting == 1 ? "it is served" : "they are served, one a pass")
  }

  func waiting(in port: Loop.Port) -> String {
    port.waiting == 1 ? "1 message waits" : "\(port.waiting) messages wait"
  }

  func obstacle(_ source: Loop.DescriptorSource) -> String {
    if !loop.kernel.isOpen(source.fd) {
      return "descriptor \(source.fd) was closed while it was watched; invalidate the handle first"
    }
    switch source.maker.role {
    case .server:
      if let server = ScriptServer.of(source) { return obstacle(server) }
    case .datagrams: return "no datagram has come that anybody waits for"
    case .none, .stream: break
    }
    if source.enabled.isEmpty { return disabledWords(source) }
    if source.isAtEnd && source.enabled == .read && !source.hasReadAhead {
      return "it is at its end of file, and stays ready to read: invalidate it, or it is called in "
        + "every pass"
    }
    var parts: [String] = []
    for (name, event) in [("read", Loop.DescriptorSource.Events.read), ("write", .write)] {
      let isReady =
        loop.kernel.isReady(source.fd, for: event.interest)
        || (event == .read && source.hasReadAhead)
      if !source.enabled.contains(event) {
        if isReady && event == .read {
          parts.append(
            "there is something to \(name), but it is disabled: fd:enable \"\(name)\"")
        }
      } else if isReady {
        let always = source.isAlwaysReady ? ", as a file always is" : ""
        parts.append("it is ready to \(name)\(always): \(blocker()), then it is served")
      } else {
        parts.append(
          event == .read ? "there is nothing to read" : "there is no space to write into")
      }
    }
    return parts.joined(separator: "; ")
  }

  private func disabledWords(_ source: Loop.DescriptorSource) -> String {
    let text = "no event of it is enabled; use enable"
    if source.callouts == 0 { return text }
    return source.reenabled.isEmpty
      ? text + ", also in its handler, for a call disables it (reenable)"
      : text + "; a call disables events that are not in its 'reenable'"
  }

  private func obstacle(_ server: ScriptServer) -> String {
    if server.connections >= server.settings.mostConnections {
      return "\(server.connections) connections are open, and no more are taken until one is closed"
    }
    if server.isPaused { return "the system has no descriptors left; it tries again by itself" }
    if !server.hasHandler && !(server.accepting?.isActive ?? false) {
      return "it has no handler, and nobody waits in server:accept()"
    }
    return loop.kernel.isReady(server.source.fd, for: .read)
      ? "a client waits: \(blocker()), then it is served" : "no client has come"
  }

  func obstacle(_ observer: Loop.Observer) -> String {
    let names = names(of: observer.activities)
    if observer.isFiring {
      return "its handler runs now; it is not told of \(names) inside of itself"
    }
    let sleep: Activity = [.beforeWaiting, .afterWaiting]
    if let run = scriptRun {
      if run.polls && observer.activities.isSubset(of: sleep) {
        return "it is told of \(names), and a run with a timeout of 0 only looks: it never sleeps"
      }
      if observer.activities == .entry {
        return "it is told of entry, and this run has begun already: the next one tells it"
      }
    }
    return "it is told of \(names), when that comes in a run in its modes"
  }

  // MARK: Streams

  /// A stream is served where those are who wait for it.
  func obstacle(_ stream: ScriptStream) -> String {
    var parts: [String] = []
    if let reader = stream.reader, reader.isBusy {
      parts.append("\(who(reader)) waits for \(reader.what), and \(readWords(stream))")
    }
    if let writer = stream.writer, writer.isBusy {
      parts.append("\(who(writer)) waits for \(writer.what)")
    }
    if !stream.bytes.output.isEmpty {
      let count = stream.bytes.output.count
      let isReady = loop.kernel.isReady(stream.source.fd, for: .write)
      parts.append(
        "\(count) bytes are queued: "
          + (isReady
            ? "\(blocker()), then they are written"
            : "there is no room, for the other side does not read"))
    }
    if parts.isEmpty {
      parts.append(
        stream.events == nil
          ? "nobody reads or writes it now" : "nothing has come that its handler has not heard of")
    }
    if let current = scriptRun?.mode.name, stream.isUsed,
      !loop.modes(of: stream.source).contains(current)
    {
      let list = loop.modes(of: stream.source).map(\.rawValue).joined(separator: ", ")
      parts.append(
        "the loop runs in mode '\(current)', and it is served in \(list.isEmpty ? "none" : list)")
    }
    return parts.joined(separator: "; ")
  }

  private func who(_ wait: StreamWait) -> String {
    wait.waiter.map { label(of: .task($0)) } ?? "a task"
  }

  private func readWords(_ stream: ScriptStream) -> String {
    if !loop.kernel.isReady(stream.source.fd, for: .read) {
      return "the other side has sent nothing\(stream.bytes.input.isEmpty ? "" : " more")"
    }
    return "there is more: \(blocker()), then it is read"
  }
}
