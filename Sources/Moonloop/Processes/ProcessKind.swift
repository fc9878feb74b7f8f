// Child processes. The item is the descriptor that reports the end; the handle is the process's.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

final class ProcessKind: ItemKind {
  static let word = "process"
  static var handles: ItemHandles? { nil }

  let seat: KindSeat

  init(_ seat: KindSeat) { self.seat = seat }

  func ended(_ source: Loop.DescriptorSource) { ScriptProcess.of(source)?.itemEnded() }
  func collected(_ source: Loop.DescriptorSource) { ended(source) }

  // MARK: Reloading

  func identity(of source: Loop.DescriptorSource) -> String {
    ScriptProcess.of(source)?.identity ?? ""
  }

  /// It is asked to end, and goes on until it does; a detached one goes on.
  func endAfterReload(_ source: Loop.DescriptorSource) -> Bool {
    source.maker.generation = 0
    guard let process = ScriptProcess.of(source), !process.isDetached else { return false }
    process.terminate(SignalNumber.term, grace: defaultGrace)
    return true
  }

  /// Its handler belongs to a file that was not loaded.
  func undo(_ source: Loop.DescriptorSource) {
    ScriptProcess.of(source)?.isSilent = true
    ScriptProcess.of(source)?.kill()
  }

  // MARK: As text

  func stateText(of source: Loop.DescriptorSource) -> String {
    ScriptProcess.of(source)?.stateText ?? ""
  }

  func obstacle(to source: Loop.DescriptorSource) -> String {
    ScriptProcess.of(source)?.obstacle ?? "it has ended"
  }
}
