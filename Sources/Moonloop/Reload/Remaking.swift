// Handles that a file makes again under their names when it is reloaded: the same handle, with
// a new handler (D36). Descriptor, phase and pending events are not touched.

internal import LuaEmbed
internal import MoonloopCore

extension HostCall {
  /// Finds what an older generation made under this name, and gives it the new handlers, which
  /// are on top of the stack, the first lowest. Options and modes become the new ones.
  /// [-handlers, +1; nothing if there is none]
  /// - Parameters:
  ///   - fits: Whether it is the same except for its handlers.
  ///   - firstSlot: The user value of the first handler.
  ///   - modes: nil: they stay.
  /// - Returns: The item; nil if a new one must be made.
  func remake<Kind: ItemKind>(
    _ kind: Kind.Type, _ identity: String, handlers: Int32, firstSlot: Int32 = 1,
    _ options: Options?, modes: [ModeName]?, where fits: (Kind.Item) -> Bool
  ) throws -> Kind.Item? {
    let runtime = runtime
    guard let load = runtime.generations.load, runtime.generations.making == load.number,
      let item = load.take(kind, identity, where: fits)
    else { return nil }
    remember(item, slots: firstSlot..<(firstSlot + handlers), load)
    stack.push(ref: item.maker.ref)
    stack.rotate(-handlers - 1, 1)
    for place in (0..<handlers).reversed() {
      stack.popSlot(firstSlot + place, of: -place - 2)
    }
    runtime.handles.setPlace(of: item, stack.position)
    loop.setKeepsAlive(item, try options?.boolean("keep_alive") ?? true)
    runtime.handles.setOnError(of: item, try options?.reference("on_error"))
    if let modes { try runtime.set(modes, of: item) }
    return item
  }

  /// Remembers the state of an item before it is made again.
  private func remember(_ item: Loop.Item, slots: Range<Int32>, _ load: GenerationLoad) {
    let runtime = runtime
    let generation = load.previousGeneration
    let place = runtime.handles.place(of: item)
    let (holds, modes) = (item.holds, runtime.ownModes(of: item))
    let onError = runtime.handles.onError(of: item)
    stack.push(ref: item.maker.ref)
    let old = slots.map { slot in
      stack.pushSlot(slot, of: -1)
      return (slot, LuaReference(popping: stack))
    }
    stack.pop()
    load.toUndo {
      let stack = runtime.state.stack
      stack.push(ref: item.maker.ref)
      for (slot, value) in old {
        stack.push(value)
        stack.popSlot(slot, of: -2)
      }
      stack.pop()
      item.maker.generation = generation
      runtime.handles.setPlace(of: item, place)
      runtime.loop.setKeepsAlive(item, holds)
      runtime.handles.setOnError(of: item, onError)
      try? runtime.set(modes, of: item)
    }
  }
}

extension Runtime {
  /// The modes that a script put an item in: those of nested waits are not its own.
  func ownModes(of item: Loop.Item) -> [ModeName] {
    ownModes(loop.modes(of: item), loop.contains(item, mode: .common))
  }

  private func ownModes(_ names: [ModeName], _ isCommon: Bool) -> [ModeName] {
    let own = names.filter { name in
      !name.isOfWait && !(isCommon && loop.isCommonMode(name))
    }
    return isCommon ? own + [.common] : own
  }

  /// Puts an item into modes, and removes it from all others.
  func set(_ modes: [ModeName], of item: Loop.Item) throws {
    let gone = ownModes(of: item).filter { !modes.contains($0) }
    try loop.add(item, modes: modes)
    if gone.isEmpty { return }
    loop.remove(item, modes: gone)
    if gone.contains(.common) { try loop.add(item, modes: modes) }
  }

  func set(_ modes: [ModeName], ofTimer id: TimerID) {
    let gone = ownModes(loop.modeNames(of: id), loop.contains(id, .common))
      .filter { !modes.contains($0) }
    for mode in modes { loop.add(id, mode) }
    if gone.isEmpty { return }
    loop.remove(id, gone)
    if gone.contains(.common) { for mode in modes { loop.add(id, mode) } }
  }
}

/// What a timer is made again as.
struct TimerRequest {
  var interval: Int64
  var first: Int64?
  /// A date of the wall clock, nanoseconds since 1970.
  var wall: Int64?
  var tolerance: Int64
  var keepsAlive: Bool
  var onError: LuaReference?
  /// nil: they stay.
  var modes: [ModeName]?
}

extension HostCall {
  /// The same for a timer; its handler is on top of the stack. [-1, +1; nothing if there is none]
  func remakeTimer(_ name: String, _ request: TimerRequest) throws(SystemError) -> Bool {
    let runtime = runtime
    guard let load = runtime.generations.load, runtime.generations.making == load.number,
      let id = load.takeTimer(name, timers)
    else { return false }
    let handles = runtime.handles
    let (old, place) = (timers.records[id.slot], handles.place(ofTimer: id))
    let (tolerance, onError) = (timers.tolerance(id.slot), handles.onError(ofTimer: id))
    let (modes, wall) = (runtime.ownModes(ofTimer: id), loop.wallDate(of: id))
    if let date = request.wall { try loop.setWallDate(of: id, to: date) }
    let handler = runtime.exchangeHandler(of: id)
    loop.setInterval(of: id, to: request.interval, tolerance: request.tolerance)
    if old.interval != request.interval || (wall != nil && request.wall == nil) {
      loop.setDate(of: id, to: date(after: old, request))
    }
    loop.setHolds(of: id, request.keepsAlive)
    runtime.setOnError(ofTimer: id, request.onError)
    if let modes = request.modes { runtime.set(modes, ofTimer: id) }
    handles.setPlace(ofTimer: id, stack.position)
    handles.setGeneration(ofTimer: id, load.number)
    load.toUndo {
      let loop = runtime.loop
      runtime.state.stack.push(handler)
      _ = runtime.exchangeHandler(of: id)
      runtime.state.stack.pop()
      loop.setInterval(of: id, to: old.interval, tolerance: tolerance)
      loop.setDate(of: id, to: old.date)
      if let wall { try? loop.setWallDate(of: id, to: wall) }
      loop.setHolds(of: id, !old.flags.contains(.idle))
      runtime.setOnError(ofTimer: id, onError)
      runtime.set(modes, ofTimer: id)
      handles.setPlace(ofTimer: id, place)
      handles.setGeneration(ofTimer: id, load.previousGeneration)
    }
    return true
  }

  /// The next date of a timer whose interval changes: one interval after the last point of its
  /// grid, or the first future point of the new grid.
  private func date(after old: TimerRecord, _ request: TimerRequest) -> Int64 {
    if request.interval == 0 { return loop.dueDate(after: request.first ?? 0) }
    if old.interval == 0 { return old.date }
    return TimerSchedule.next(
      after: old.date - old.interval, interval: request.interval,
      laterThan: loop.kernel.now()
    ).date
  }
}

extension Runtime {
  fileprivate func ownModes(ofTimer id: TimerID) -> [ModeName] {
    ownModes(loop.modeNames(of: id), loop.contains(id, .common))
  }

  /// Puts the function on top of the stack into a timer that is held, and the timer's handle in its
  /// place. [-1, +1]
  /// - Returns: The function that it had.
  fileprivate func exchangeHandler(of id: TimerID) -> LuaReference {
    let stack = state.stack
    let records = loop.timers.records
    stack.pushUnheld(records[id.slot].callout.payload)
    stack.pushSlot(1, of: -1)
    let old = LuaReference(popping: stack)
    stack.rotate(-2, 1)
    stack.popSlot(1, of: -2)
    records[id.slot].callout.payload = stack.hold(-1)
    return old
  }
}
