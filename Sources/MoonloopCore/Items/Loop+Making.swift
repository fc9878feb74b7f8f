// Items for one loop: their closures may be bound to its thread, because no other thread serves
// them.

extension Loop {
  /// Makes a source for loops of this thread, on none yet; adding it to another's throws.
  /// - Parameters: As for the initialiser of `Source`; the closures need not be Sendable.
  /// - Note: Loop thread only. The source may be signalled on any.
  public func makeSource(
    order: Int = 0, name: String = "", identity: (any Hashable)? = nil,
    describe: ((_ source: Source) -> String)? = nil, schedule: Source.Scheduler? = nil,
    cancel: Source.Scheduler? = nil, perform: @escaping Source.Perform
  ) -> Source {
    let traits = SourceTraits(identity: identity.map { AnyHashable($0) }, describe: describe)
    return bound(
      Source(
        order: order, name: name, traits: traits, schedule: schedule, cancel: cancel,
        perform: perform), "makeSource")
  }

  /// Makes a port for loops of this thread, on none yet; adding it to another's throws.
  /// - Note: Loop thread only. Any thread may post to the port.
  public func makePort(
    name: String = "", capacity: Int = 65_536, handler: @escaping Port.Handler
  ) -> Port {
    bound(Port(name: name, capacity: capacity, handler: handler), "makePort")
  }

  /// Makes a timer for loops of this thread, on none yet; see `schedule`.
  /// - Note: Loop thread only.
  public func makeTimer(
    after delay: Duration, every interval: Duration = .zero, tolerance: Duration = .zero,
    name: String = "", handler: @escaping Timer.Handler
  ) -> Timer {
    bound(
      Timer(
        at: now.advanced(by: delay), every: interval, tolerance: tolerance, name: name,
        handler: handler), "makeTimer")
  }

  /// Makes an observer for loops of this thread, on none yet; see `observe`.
  /// - Note: Loop thread only.
  public func makeObserver(
    _ activities: Activity = .all, repeats: Bool = true, order: Int = 0, name: String = "",
    handler: @escaping Observer.Handler
  ) -> Observer {
    bound(
      Observer(activities, repeats: repeats, order: order, name: name, handler: handler),
      "makeObserver")
  }

  /// Makes a source for a descriptor, for loops of this thread, on none yet.
  /// - Note: Loop thread only.
  public func makeDescriptorSource(
    _ fd: Int32, closesDescriptor: Bool = false, events: DescriptorSource.Events = .read,
    reenabled: DescriptorSource.Events = .read, name: String = "",
    handler: @escaping DescriptorSource.Handler
  ) -> DescriptorSource {
    bound(
      DescriptorSource(
        fd, closesDescriptor: closesDescriptor, events: events, reenabled: reenabled, name: name,
        handler: handler), "makeDescriptorSource")
  }

  private func bound<Made: Item>(_ item: Made, _ what: StaticString) -> Made {
    requireThread(what)
    item.bindToThread()
    return item
  }
}
