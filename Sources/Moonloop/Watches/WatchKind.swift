// File watches: changes of files and folders, once it is quiet.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

final class WatchKind: ItemKind {
  static let word = "watch"
  static var handles: ItemHandles? { ItemHandles(slots: 1, watchEntries) }
  static var loopEntries: [LuaEntry] {
    [.method("watch") { hostLoop($0, $1, "loop:watch") { try makeWatch($0, .loop) } }]
  }
  static var moduleEntries: [LuaEntry] {
    [.function("watch") { host($0, $1, "ml.watch") { try makeWatch($0, .module) } }]
  }

  let seat: KindSeat

  init(_ seat: KindSeat) { self.seat = seat }

  /// Files have changed: the handler gets the handle and a list.
  func tell(_ source: Loop.Source, of changes: [FileChange], _ watch: ScriptWatch) {
    runtime.callOut(source) { ref in
      runtime.state.dispatch(ref: ref, slot: 1) { stack in
        stack.push(list: changes) { change in
          stack.newTable(fields: 3)
          stack.setField("kind", change.kind.rawValue)
          stack.setField("path", bytes: watch.text(of: change.path))
          if change.isReplaced { stack.setField("replaced", true) }
          if let before = change.before { stack.setField("from", bytes: watch.text(of: before)) }
        }
        return 1
      }
    }
  }

  func ended(_ source: Loop.Source) { ScriptWatch.of(source)?.end() }
  func collected(_ source: Loop.Source) { ended(source) }

  func stateText(of source: Loop.Source) -> String { ScriptWatch.of(source)?.stateText ?? "" }

  func obstacle(to source: Loop.Source) -> String {
    ScriptWatch.of(source)?.obstacle ?? "it has ended"
  }
}
