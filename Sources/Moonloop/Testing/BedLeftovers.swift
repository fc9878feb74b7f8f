// What a test leaves behind, found by ownership: what the loop holds of the scripts.

internal import LuaEmbed
internal import MoonloopCore

/// `leftovers()`: what is alive on the present loop, found by ownership.
func bedLeftovers(_ call: HostCall) throws -> Int32 {
  let bed = try call.requireBed()
  let leftovers = bed.leftovers()
  call.stack.push(list: Array(zip(leftovers, bed.identify(leftovers)))) { one, id in
    call.stack.newTable(fields: 6)
    call.stack.setField("id", id)
    call.stack.setField("is_held", one.isHeld)
    call.stack.setField("kind", one.kind)
    call.stack.setField("name", one.name)
    call.stack.setField("place", one.place)
    call.stack.setField("text", one.text)
  }
  return 1
}

/// Something left over: the thing itself, or the number of a timer.
enum LeftoverIdentity: Hashable {
  case object(AnyObject)
  case timer(UInt64)

  private var key: (UInt, UInt64) {
    switch self {
    case .object(let object): (UInt(bitPattern: ObjectIdentifier(object).hashValue), 0)
    case .timer(let id): (0, id)
    }
  }

  static func == (one: Self, other: Self) -> Bool { one.key == other.key }

  func hash(into hasher: inout Hasher) {
    hasher.combine(key.0)
    hasher.combine(key.1)
  }
}

/// Something that outlives the test that made it.
private struct Leftover {
  let identity: LeftoverIdentity
  /// Whether the loop holds it, so that no collector will end it.
  var isHeld = true
  let kind: String
  let name: String
  let place: String
  let text: String
}

extension TestBed {
  /// What the loop holds for the scripts: items in modes, timers, tasks, requests. The collector
  /// takes care of what no loop holds.
  fileprivate func leftovers() -> [Leftover] {
    let (state, loop, handles) = (runtime.state, runtime.loop, runtime.handles)
    let items = handles.items.filter {
      ($0.maker.ref > 0 || type(of: runtime.itemKinds[$0]).isLeftUnheld)
        && !isOfConsole(.item($0))
    }
    .map { item in
      Leftover(
        identity: .object(item), isHeld: item.maker.ref > 0,
        kind: runtime.itemKinds.word(for: item),
        name: item.name, place: state.text(of: handles.place(of: item)),
        text: runtime.label(of: .item(item)))
    }
    let timers = handles.timers(of: loop, madeBy: runtime.context).filter {
      isScheduled($0) && !isOfConsole(.timer($0))
    }.map { id in
      Leftover(
        identity: .timer(id.rawValue), kind: "timer", name: handles.name(ofTimer: id),
        place: state.text(of: handles.place(ofTimer: id)), text: runtime.label(of: .timer(id)))
    }
    let tasks = runtime.tasks.all.filter { !isOfConsole(.task($0)) }.map { task in
      Leftover(
        identity: .object(task), kind: "task", name: task.name,
        place: runtime.place(of: .task(task)),
        text: "\(runtime.label(of: .task(task))), which waits \(runtime.tasks.forWhat(task))")
    }
    let requests = runtime.requests.waiting.values.map { request in
      Leftover(
        identity: .object(request), kind: "\(request.kind)", name: "",
        place: state.text(of: request.madeAt), text: runtime.label(of: .request(request)))
    }
    return items + timers + tasks + requests.sorted { $0.place < $1.place }
  }

  /// The number of each thing: the same as at the last look, if it was there then.
  fileprivate func identify(_ leftovers: [Leftover]) -> [Int] {
    guard let level = levels.indices.last else { return leftovers.map { _ in 0 } }
    var known: [LeftoverIdentity: Int] = [:]
    for one in leftovers where known[one.identity] == nil {
      if let id = levels[level].known[one.identity] {
        known[one.identity] = id
      } else {
        lastID += 1
        known[one.identity] = lastID
      }
    }
    levels[level].known = known
    return leftovers.map { known[$0.identity] ?? 0 }
  }

  /// A person may watch at the end of a test.
  private func isOfConsole(_ subject: Subject) -> Bool {
    runtime.loopContext.modes(of: subject).contains(debugMode)
  }

  /// Whether the loop holds a timer of a script, other than that of a sleep.
  private func isScheduled(_ id: TimerID) -> Bool {
    let (loop, tasks) = (runtime.loop, runtime.tasks)
    let isHeld = !loop.modeNames(of: id).isEmpty || loop.contains(id, .common)
    return isHeld && !tasks.all.contains { $0.wait?.timer == id }
  }
}
