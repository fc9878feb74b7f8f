// The doors from the loop to user code: one function for each kind, never inlined, so that a
// backtrace shows the stage.

extension Loop {
  /// Calls the observers of a mode for an activity (R32 to R37).
  @inline(__always)
  func notify(_ activity: Activity, _ mode: Mode) {
    if tracing.isOn { tell(.activity(activity, mode: mode.name)) }
    if mode.observers.watched.contains(activity) { callOutToObservers(activity, mode) }
  }

  @inline(never)
  private func callOutToObservers(_ activity: Activity, _ mode: Mode) {
    let frame = runs.frames.last
    runs.strangers &+= 1
    frame?.telling = activity
    defer { frame?.telling = [] }
    // A copy: those added now are first called for the next activity (R37).
    for observer in mode.observers.observers(of: activity) {
      guard observer.isValid, !observer.isFiring, !observer.isSuspended,
        let handler = observer.handler
      else { continue }
      observer.isFiring = true
      observer.countCall()
      if tracing.isOn {
        traced(.observer, mode, observer) { handler(observer, activity) }
      } else {
        handler(observer, activity)
      }
      observer.isFiring = false
      if !observer.repeats { observer.invalidate() }  // R34
      if !observer.isValid { observer.dropHandler() }
    }
  }

  @inline(never)
  func callOut(
    toTimer id: TimerID, _ callout: TimerCallout, due date: Int64, missed: Int64, _ mode: Mode
  ) {
    runs.strangers &+= 1
    if tracing.isOn {
      traced(
        .timer, mode, name: hooks.timerName?(id, callout) ?? "", subject: id.rawValue,
        due: date, missed: missed
      ) {
        callout.actions.pointee.fire(callout.context, callout.payload, id.rawValue, missed)
      }
    } else {
      callout.actions.pointee.fire(callout.context, callout.payload, id.rawValue, missed)
    }
  }

  /// The same when it is fired by hand: it is not late, and no fire was missed.
  @inline(never)
  func callOut(byHandToTimer id: TimerID, _ callout: TimerCallout, _ mode: Mode) {
    let body = { callout.actions.pointee.fire(callout.context, callout.payload, id.rawValue, 0) }
    if !tracing.isOn { return body() }
    traced(
      .timer, mode, name: hooks.timerName?(id, callout) ?? "", subject: id.rawValue, body)
  }

  @inline(never)
  func callOut(to source: Source, _ mode: Mode) {
    defer { source.endCall() }
    guard source.beginCall(), let perform = source.perform else { return }
    runs.strangers &+= 1
    source.countCall()
    if tracing.isOn {
      traced(.source, mode, source) { perform(source) }
    } else {
      perform(source)
    }
  }

  @inline(never)
  func callOut(to port: Port, _ parcel: any Parcel, _ mode: Mode) {
    defer { port.endCall() }
    guard port.beginCall(), let handler = port.handler else { return }
    runs.strangers &+= 1
    port.countCall()
    if tracing.isOn {
      traced(.port, mode, port) { handler(port, parcel) }
    } else {
      handler(port, parcel)
    }
  }

  @inline(never)
  func callOut(to source: DescriptorSource, _ event: DescriptorSource.Events, _ mode: Mode) {
    guard let handler = source.handler else { return }
    source.callDepth += 1
    source.countCall()
    if tracing.isOn {
      traced(.descriptor, mode, source) { handler(source, event) }
    } else {
      handler(source, event)
    }
    source.callDepth -= 1
    if !source.isValid && source.callDepth == 0 { source.dropHandler() }
  }

  @inline(never)
  func callOut(toBlock block: QueuedBlock, _ mode: Mode) {
    runs.strangers &+= 1
    if tracing.isOn {
      traced(.block, mode, name: "") { block.perform() }
    } else {
      block.perform()
    }
  }

  @inline(never)
  func callOutToMainQueue() {
    runs.strangers &+= 1
    kernel.drainMainQueue()
  }

  /// Schedule and cancel callbacks of sources, and failures: outside of any stage.
  @inline(never)
  func callOut(_ body: () -> Void) { body() }
}
