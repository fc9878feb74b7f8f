// Drives the run loop through its Swift interface.

import ConformanceFormat
import CoreFoundation
import MoonloopCore
import MoonloopFoundation
import Synchronization

final class SwiftFace: Face {
  private let receiver: any CallbackReceiver
  private let world: any World
  private struct State {
    var items: [String: Loop.Item] = [:]
    /// The perform requests made for each block, with their loops.
    var requests: [String: [(loop: Loop, request: PerformRequest)]] = [:]
    var targets: [String: Target] = [:]
  }
  private let state = Mutex(State())

  /// Whether loops run inside Foundation's runs.
  private let isHosted: Bool

  init(_ receiver: any CallbackReceiver, _ world: any World, isHosted: Bool = false) {
    self.isHosted = isHosted
    self.receiver = receiver
    self.world = world
  }

  static func reasonNotToRun(_ scenario: Scenario) -> String? { nil }

  func threadBegan(_ name: String, on loop: Loop) {
    guard isHosted else { return }
    do { try loop.attach(to: CFRunLoopGetCurrent()) } catch { fail("cannot attach: \(error)") }
  }

  func place(of id: String) -> String? { nil }

  // MARK: Objects

  func make(_ spec: ObjectSpec, descriptor: Int32?) {
    let item: Loop.Item? =
      switch spec.kind {
      case .timer(let delay, let interval, let tolerance):
        makeTimer(spec.id, delay: delay, interval: interval, tolerance: tolerance)
      case .source(let order, let hasLifecycle, let identity):
        makeSource(spec.id, order: order, hasLifecycle: hasLifecycle, identity: identity)
      case .port: makePort(spec.id)
      // The order of descriptors does not matter here: one event a pass, in turn (R29, R54).
      case .descriptor(let events, let reenabled, _):
        descriptor.map {
          makeDescriptorSource(
            spec.id, $0, events: .init(events), reenabled: .init(reenabled))
        }
      case .observer(let activities, let repeats, let order):
        makeObserver(spec.id, activities, repeats: repeats, order: order)
      case .block: nil
      }
    state.withLock { $0.items[spec.id] = item }
  }

  private func makeTimer(
    _ id: String, delay: Int64, interval: Int64, tolerance: Int64
  ) -> Loop.Timer {
    Loop.Timer(
      after: .nanoseconds(delay), every: .nanoseconds(interval),
      tolerance: .nanoseconds(tolerance), name: id
    ) { [receiver] _ in receiver.called(id, .plain) }
  }

  private func makeSource(
    _ id: String, order: Int, hasLifecycle: Bool, identity: String?
  ) -> Loop.Source {
    let receiver = receiver
    guard hasLifecycle else {
      return Loop.Source(order: order, name: id, identity: identity) { _ in
        receiver.called(id, .perform)
      }
    }
    return Loop.Source(
      order: order, name: id, identity: identity,
      schedule: { _, _, mode in receiver.called(id, .schedule(mode: mode.rawValue)) },
      cancel: { _, _, mode in receiver.called(id, .cancel(mode: mode.rawValue)) },
      perform: { _ in receiver.called(id, .perform) })
  }

  private func makePort(_ id: String) -> Loop.Port {
    Loop.Port(name: id) { [receiver] _, message in
      receiver.called(id, .message(message as? String ?? "\(message)"))
    }
  }

  private func makeDescriptorSource(
    _ id: String, _ fd: Int32, events: Loop.DescriptorSource.Events,
    reenabled: Loop.DescriptorSource.Events
  ) -> Loop.DescriptorSource {
    Loop.DescriptorSource(
      fd, closesDescriptor: true, events: events, reenabled: reenabled, name: id
    ) { [receiver] _, event in
      receiver.called(id, .ready(event.contains(.read) ? .read : .write))
    }
  }

  private func makeObserver(
    _ id: String, _ activities: [ActivityName], repeats: Bool, order: Int
  ) -> Loop.Observer {
    let mask = Activity(activities.map(\.activity))
    return Loop.Observer(mask, repeats: repeats, order: order, name: id) { [receiver] _, activity in
      guard let name = ActivityName(activity) else { return }
      receiver.called(id, .activity(name))
    }
  }

  func item(_ id: String) -> Loop.Item {
    guard let item = state.withLock({ $0.items[id] }) else {
      fail("'\(id)' is used before it was created")
    }
    return item
  }

  private func item<Kind: Loop.Item>(_ id: String, as kind: Kind.Type = Kind.self) -> Kind {
    guard let item = item(id) as? Kind else { fail("'\(id)' is not a \(kind)") }
    return item
  }

  func add(_ id: String, to mode: String, of loop: Loop) {
    // What cannot be added (invalid, or on another loop) stays out, as in Core Foundation.
    do { try loop.add(item(id), modes: [ModeName(mode)]) } catch {
      switch error {
      case .invalidItem, .onAnotherLoop: break
      default: fail("cannot add '\(id)' to \(mode): \(error)")
      }
    }
  }

  func remove(_ id: String, from mode: String, of loop: Loop) {
    loop.remove(item(id), modes: [ModeName(mode)])
  }

  func contains(_ id: String, in mode: String, of loop: Loop) -> Bool {
    loop.contains(item(id), mode: ModeName(mode))
  }

  func isValid(_ id: String) -> Bool { item(id).isValid }

  func invalidate(_ id: String) {
    switch item(id) {
    case let timer as Loop.Timer: timer.invalidate()
    case let source as Loop.Source: source.invalidate()
    case let port as Loop.Port: port.invalidate()
    case let descriptor as Loop.DescriptorSource: descriptor.invalidate()
    case let observer as Loop.Observer: observer.invalidate()
    default: fail("'\(id)' cannot be invalidated")
    }
  }

  // MARK: Timers

  func nextFire(_ id: String) -> Int64? {
    item(id, as: Loop.Timer.self).nextFire?.nanoseconds
  }

  func setNextFire(_ id: String, _ time: Int64) {
    item(id, as: Loop.Timer.self).nextFire = LoopTime(nanoseconds: time)
  }

  func setTolerance(_ id: String, _ time: Int64) {
    item(id, as: Loop.Timer.self).tolerance = .nanoseconds(time)
  }

  func fire(_ id: String) { item(id, as: Loop.Timer.self).fire() }

  // MARK: Sources, ports, descriptors

  func signal(_ id: String) { item(id, as: Loop.Source.self).signal() }

  func post(_ message: String, to id: String) {
    // An invalid port takes no messages, which is what such a scenario tests.
    try? item(id, as: Loop.Port.self).post(message)
  }

  func enable(_ id: String, _ events: [Direction]) {
    item(id, as: Loop.DescriptorSource.self).enable(Loop.DescriptorSource.Events(events))
  }

  func disable(_ id: String, _ events: [Direction]) {
    item(id, as: Loop.DescriptorSource.self).disable(Loop.DescriptorSource.Events(events))
  }

  func read(_ id: String, atMost count: Int) -> ReadOutcome {
    // The Swift interface leaves reading to the program.
    world.read(item(id, as: Loop.DescriptorSource.self).fd, atMost: count)
  }

  // MARK: Loops

  func run(_ loop: Loop, mode: String, timeout: Int64?, returnAfterSource: Bool) -> RunResult {
    loop.run(
      mode: ModeName(mode), for: timeout.map { .nanoseconds($0) },
      returnAfterSource: returnAfterSource)
  }

  func runUnconditionally(_ loop: Loop) { _ = loop.run() }

  func addCommonMode(_ mode: String, to loop: Loop) { loop.addCommonMode(ModeName(mode)) }

  func nextTimerDate(in mode: String, of loop: Loop) -> Int64? {
    loop.nextTimerDate(mode: ModeName(mode))?.nanoseconds
  }

  func currentMode(of loop: Loop) -> String? { loop.currentMode?.rawValue }
  func isWaiting(_ loop: Loop) -> Bool { loop.isWaiting }
  func stop(_ loop: Loop) { loop.stop() }
  func wakeUp(_ loop: Loop) { loop.wakeUp() }

  // MARK: Blocks

  func perform(_ id: String, modes: [String], on loop: Loop, _ aim: Aim?) {
    loop.perform(
      for: target(aim), order: aim?.order ?? 0, modes: modes.map { ModeName($0) }, wakes: false
    ) { [receiver] in receiver.called(id, .plain) }
  }

  private final class Target: Sendable {}

  private func target(_ aim: Aim?) -> Target? {
    guard let name = aim?.target else { return nil }
    return state.withLock { state in
      let target = state.targets[name] ?? Target()
      state.targets[name] = target
      return target
    }
  }

  func cancelRequests(ofTarget name: String, on loop: Loop) {
    if let target = state.withLock({ $0.targets[name] }) { loop.cancelPerforms(of: target) }
  }

  func request(_ id: String, modes: [String], on loop: Loop, _ aim: Aim?, then flag: Flag?) {
    let request = loop.perform(
      for: target(aim), order: aim?.order ?? 0, modes: modes.map { ModeName($0) }, asSource: true
    ) { [receiver] in
      receiver.called(id, .plain)
      flag?.set()
    }
    keep(request, for: id, on: loop)
  }

  func request(_ id: String, modes: [String], after delay: Int64, on loop: Loop) {
    let request = loop.perform(
      after: .nanoseconds(delay), modes: modes.map { ModeName($0) }
    ) { [receiver] in receiver.called(id, .plain) }
    keep(request, for: id, on: loop)
  }

  private func keep(_ request: PerformRequest, for id: String, on loop: Loop) {
    state.withLock { $0.requests[id, default: []].append((loop, request)) }
  }

  func cancelRequests(_ id: String, on loop: Loop) {
    let requests = state.withLock { state in
      let all = state.requests.removeValue(forKey: id) ?? []
      state.requests[id] = all.filter { $0.loop !== loop }
      return all.filter { $0.loop === loop }
    }
    for entry in requests { loop.cancel(entry.request) }
  }
}

extension Loop.DescriptorSource.Events {
  init(_ directions: [Direction]) {
    self = []
    if directions.contains(.read) { insert(.read) }
    if directions.contains(.write) { insert(.write) }
  }
}

extension ActivityName {
  var activity: Activity {
    switch self {
    case .entry: .entry
    case .beforeTimers: .beforeTimers
    case .beforeSources: .beforeSources
    case .beforeWaiting: .beforeWaiting
    case .afterWaiting: .afterWaiting
    case .exit: .exit
    }
  }

  init?(_ activity: Activity) {
    guard let name = ActivityName.allCases.first(where: { $0.activity == activity }) else {
      return nil
    }
    self = name
  }
}
