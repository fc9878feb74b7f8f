// Callbacks that a host of the loop registers between its stages; these are no call-outs, and no
// observer is notified of them.

internal import CLinuxShims

/// What a host has given a loop. Loop thread only.
package struct LoopHooks {
  // Types of their own: the library makes those of tuples and functions at each start.
  struct IdleHook {
    let owner: ObjectIdentifier
    let body: (_ date: Int64) -> Void
  }
  struct Call {
    let owner: ObjectIdentifier?
    let body: () -> Void
  }
  struct ModeHook {
    let owner: ObjectIdentifier
    let body: (Mode) -> Void
  }

  /// Called before the sleep, after the observers, with the date of the next deadline; by owner.
  var whenIdle: [IdleHook] = []
  /// Called once, at the end of the pass under way, when none of its code is called any more.
  var afterPass: [Call] = []
  /// Called once, when the loop is about to end; by owner.
  var whenEnds: [Call] = []
  /// Called when a mode has come into being; by owner.
  var whenModeIsMade: [ModeHook] = []
  /// Called when there are some more, or fewer, `placesInModes`; by owner.
  var whenPlacesChange: [Call] = []
  /// Called when another process asks for attention; see `Attention`.
  var attention: (() -> Void)?
  /// The run loop in whose runs this one is served.
  var host: (any LoopHost)?
  /// Called when a port gets a message on this thread while no run could see it: see `makeLodger`.
  var whenTouched: (() -> Void)?
  /// Called between two call-outs: whether the host that pumps the loop wants the thread back. What
  /// has not been served by then stays due.
  package var mustYield: (() -> Bool)?
  /// What a timer without an object is called in traces.
  package var timerName: ((TimerID, TimerCallout) -> String)?
  /// In which order events that are ready at once are served; nil: as they became so.
  package var eventOrder: EventOrder?
}

extension Loop {
  /// Calls a body whenever the loop is about to sleep, after the observers.
  package func whenIdle(_ owner: AnyObject, _ body: @escaping (_ date: Int64) -> Void) {
    hooks.whenIdle.append(.init(owner: ObjectIdentifier(owner), body: body))
  }

  /// Calls a body with each new mode. Loop thread only.
  package func whenModeIsMade(_ owner: AnyObject, _ body: @escaping (Mode) -> Void) {
    hooks.whenModeIsMade.append(.init(owner: ObjectIdentifier(owner), body: body))
  }

  /// Calls a body when entries of modes were added or removed. Loop thread only.
  package func whenPlacesChange(_ owner: AnyObject, _ body: @escaping () -> Void) {
    hooks.whenPlacesChange.append(.init(owner: ObjectIdentifier(owner), body: body))
  }

  package func forgetHooks(of owner: AnyObject) {
    hooks.whenPlacesChange.removeAll { $0.owner == ObjectIdentifier(owner) }
    hooks.whenIdle.removeAll { $0.owner == ObjectIdentifier(owner) }
    hooks.whenModeIsMade.removeAll { $0.owner == ObjectIdentifier(owner) }
  }

  /// Calls a body when the loop is about to end, while items can still be used.
  package func whenEnds(_ owner: AnyObject, _ body: @escaping () -> Void) {
    hooks.whenEnds.append(.init(owner: ObjectIdentifier(owner), body: body))
  }

  package func forgetEnd(of owner: AnyObject) {
    hooks.whenEnds.removeAll { $0.owner == ObjectIdentifier(owner) }
  }

  /// Has a body called between this pass and the next. The run looks whether anything is left to
  /// wait for only after it. Loop thread only.
  package func callAfterPass(_ body: @escaping () -> Void) {
    hooks.afterPass.append(.init(owner: nil, body: body))
  }

  /// What is requested meanwhile comes after the next pass.
  @inline(never)
  func performAfterPass() {
    let calls = hooks.afterPass
    hooks.afterPass = []
    for call in calls { call.body() }
  }
  // MARK: Attention

  /// From now on a body is called in a pass of this loop when another process asked for attention,
  /// in whatever mode the loop runs. One loop of a process; loop thread only.
  package func onAttention(_ kernel: LinuxKernel, _ body: @escaping () -> Void) {
    hooks.attention = body
    kernel.hearsAttention = true
    cmx_attention_catch(kernel.wakeUpDescriptor)
  }

  /// Whether other processes may ask this loop for attention.
  package var hearsAttention: Bool { hooks.attention != nil }

  /// Before a sleep: a block of the mode does what was requested, not this call (R30).
  @inline(never)
  func hearAttention(_ mode: Mode) {
    guard cmx_attention_take(), let attention = hooks.attention else { return }
    performHere(modes: [mode.name], attention)
  }
}
