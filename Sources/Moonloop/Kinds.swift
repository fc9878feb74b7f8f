// The kinds of handles that scripts hold: userdata with a few plain words (D56).

package import LuaEmbed

/// The kinds of one state.
package struct Kinds {
  package let loop: LuaHandleKind
  package let timer: LuaHandleKind
  package let task: LuaHandleKind
  /// What `ml.await` keeps on the stack; no script sees it.
  package let callback: LuaHandleKind

  package init(_ state: LuaState) {
    loop = state.makeHandleKind("loop", slots: 0, loopMembers)
    task = state.makeHandleKind("task", slots: 0, taskMembers) { releaseTask($0) }
    callback = state.makeHandleKind("callback", slots: 0, []) { releaseCallback($0) }
    timer = state.makeHandleKind("timer", slots: 1, timerMembers) { releaseTimer($0) }
  }
}
