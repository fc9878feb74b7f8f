// What a program that runs scripts is asked by the standard libraries: the end, and what blocks.

internal import CLuaShims

/// Answers `os.exit`, and hears of functions that block the thread. Loop thread only.
package final class LuaProgramHooks {
  /// `os.exit` was called with a status. If the flag is set, the state is to be closed first: then
  /// this stops the call-out and returns; else it does not return.
  let exit: (Int32, Bool) -> Void
  /// A function such as `io.read` is about to block, called at a place such as " (a.lua:3)".
  /// Returns whether that was told, so that it need not be told again.
  let blocks: (_ name: String, _ site: String) -> Bool
  /// A finalizer failed, or a script that has switched warnings on warns. Must not use the state.
  let warns: (_ text: String, _ isError: Bool) -> Void
  fileprivate let hooks = UnsafeMutablePointer<cml_program_hooks>.allocate(capacity: 1)

  package init(
    exit: @escaping (Int32, Bool) -> Void,
    blocks: @escaping (_ name: String, _ site: String) -> Bool,
    warns: @escaping (_ text: String, _ isError: Bool) -> Void
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
        warns: { text, isError, context in
          LuaProgramHooks.of(context).warns(LuaText.clean(String(cString: text!)), isError)
        },
        context: Unmanaged.passUnretained(self).toOpaque(), warns_on: false))
  }

  deinit { hooks.deallocate() }

  private static func of(_ context: UnsafeMutableRawPointer?) -> LuaProgramHooks {
    Unmanaged<LuaProgramHooks>.fromOpaque(context!).takeUnretainedValue()
  }
}

extension LuaState {
  /// Has `os.exit`, `os.execute`, `io.popen` and `io.read` ask the hooks, which the state holds.
  package func install(_ hooks: LuaProgramHooks) {
    kept.append(hooks)
    _ = cml_install_program(record, hooks.hooks)
  }
}
