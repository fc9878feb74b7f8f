// What the standard libraries ask of a program that runs scripts: how to end, what blocks, and
// the time.

internal import CLuaShims

/// Answers `os.exit`, and is notified of functions that block the thread. Loop thread only.
package final class LuaProgramHooks {
  /// `os.exit` was called with a status. If the flag is set, the state must be closed first: then
  /// this stops the call-out and returns; otherwise it does not return.
  let exit: (Int32, Bool) -> Void
  /// A function such as `io.read` is about to block, called at a place such as " (a.lua:3)".
  /// Returns whether that was reported, so that it is not reported again.
  let blocks: (_ name: String, _ site: String) -> Bool
  /// A script that has turned warnings on warns. Must not use the state.
  let warns: (_ text: String) -> Void
  fileprivate let hooks = UnsafeMutablePointer<cml_program_hooks>.allocate(capacity: 1)

  /// - Parameter execute: Runs a command for `os.execute`, like `system` of the C library, which it
  ///   replaces.
  package init(
    exit: @escaping (Int32, Bool) -> Void,
    blocks: @escaping (_ name: String, _ site: String) -> Bool,
    warns: @escaping (_ text: String) -> Void,
    execute: (@convention(c) (UnsafePointer<CChar>?) -> Int32)? = nil
  ) {
    self.exit = exit
    self.blocks = blocks
    self.warns = warns
    hooks.initialize(
      to: cml_program_hooks(
        exit: { status, closes, context in LuaProgramHooks.of(context).exit(status, closes) },
        blocks: { L, name, context in
          let hooks = LuaProgramHooks.of(context)
          let site = LuaStack(L: L!).site
          return hooks.blocks(String(cString: name!), site)
        },
        warns: { text, context in
          LuaProgramHooks.of(context).warns(LuaText.clean(String(cString: text!)))
        }, execute: execute,
        context: Unmanaged.passUnretained(self).toOpaque()))
  }

  deinit { hooks.deallocate() }

  private static func of(_ context: UnsafeMutableRawPointer?) -> LuaProgramHooks {
    Unmanaged<LuaProgramHooks>.fromOpaque(context!).takeUnretainedValue()
  }
}

/// The reading of a host's clock.
package struct LuaShownTime {
  /// Seconds since 1970.
  let epoch: Int
  /// Seconds from some moment on.
  let elapsed: Double

  package init(epoch: Int, elapsed: Double) {
    self.epoch = epoch
    self.elapsed = elapsed
  }
}

/// A clock that scripts read in place of the machine's.
package protocol LuaClock: AnyObject {
  /// Its reading; nil while it is the machine's. Must not use the state.
  var shownTime: LuaShownTime? { get }
}

/// Keeps a clock for C, which has a pointer to this.
private final class HeldClock {
  unowned let clock: any LuaClock  // see `follow`
  init(_ clock: any LuaClock) { self.clock = clock }
}

extension LuaState {
  /// Makes `os.time`, `os.date` and `os.clock` follow a clock while it is not the machine's.
  /// - Parameter clock: Must live as long as the state. Later calls have no effect.
  package func follow(_ clock: any LuaClock) {
    if kept.contains(where: { $0 is HeldClock }) { return }
    let held = HeldClock(clock)
    kept.append(held)
    _ = cml_follow_clock(
      record,
      { context, time in
        let held = Unmanaged<HeldClock>.fromOpaque(context!).takeUnretainedValue()
        guard let shown = held.clock.shownTime else { return false }
        time!.pointee = cml_shown_time(epoch: Int64(shown.epoch), elapsed: shown.elapsed)
        return true
      }, Unmanaged.passUnretained(held).toOpaque())
  }
}

extension LuaState {
  /// Makes `os.exit`, `os.execute`, `io.popen` and `io.read` call the hooks, which the state holds.
  package func install(_ hooks: LuaProgramHooks) {
    kept.append(hooks)
    _ = cml_install_program(record, hooks.hooks)
  }
}

extension LuaState {
  /// Whether there are hooks.
  package var hasProgramHooks: Bool { kept.contains { $0 is LuaProgramHooks } }

  /// Tells the hooks, if there are any, that a library function is about to block the thread.
  /// - Returns: Whether it was reported, so that it need not be again.
  package func reportsBlocking(_ name: String, _ site: String) -> Bool {
    let hooks = kept.lazy.compactMap { $0 as? LuaProgramHooks }.first
    return hooks?.blocks(name, site) ?? true
  }
}
