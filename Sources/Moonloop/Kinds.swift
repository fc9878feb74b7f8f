// The kinds of handles that scripts hold: userdata with a few plain words (D56).

package import LuaEmbed

/// The kinds of one state.
package struct Kinds {
  package let loop: LuaHandleKind
  package let timer: LuaHandleKind

  package init(_ state: LuaState) {
    loop = state.makeHandleKind("loop", slots: 0, loopMembers)
    timer = state.makeHandleKind("timer", slots: 1, timerMembers) { releaseTimer($0) }
  }
}
