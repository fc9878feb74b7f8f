// Pressure on memory, processors or input and output, as the kernel measures it.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

final class PressureKind: ItemKind {
  static let word = "pressure"
  static var handles: ItemHandles? { ItemHandles(slots: 1, pressureEntries) }
  static var loopEntries: [LuaEntry] {
    [.method("pressure") { hostLoop($0, $1, "loop:pressure") { try makePressure($0, .loop) } }]
  }
  static var moduleEntries: [LuaEntry] {
    [.function("pressure") { host($0, $1, "ml.pressure") { try makePressure($0, .module) } }]
  }

  let seat: KindSeat

  init(_ seat: KindSeat) { self.seat = seat }

  /// Tasks have stalled: the handler gets the handle, and the kernel's figures.
  func deliver(_ source: Loop.DescriptorSource, _ text: String) {
    guard let pressure = ScriptPressure.of(source) else { return }
    runtime.callOut(source) { ref in
      runtime.state.dispatch(ref: ref, slot: 1) { stack in
        stack.newTable(fields: 4)
        for (name, value) in pressure.figures(in: text) {
          stack.push(name)
          stack.push(value)
          stack.rawSet(-3)
        }
        return 1
      }
    }
  }

  func stateText(of source: Loop.DescriptorSource) -> String {
    ScriptPressure.of(source)?.words ?? ""
  }

  func obstacle(to source: Loop.DescriptorSource) -> String {
    guard let pressure = ScriptPressure.of(source) else { return "it has ended" }
    return "the kernel has not reported pressure: \(pressure.words)"
  }
}

/// What a script watches. Loop thread only.
final class ScriptPressure {
  let resource: String
  let trigger: Loop.PressureWatch.Trigger
  /// The file that takes the trigger.
  let path: String

  init(_ resource: String, _ trigger: Loop.PressureWatch.Trigger, path: String) {
    (self.resource, self.trigger, self.path) = (resource, trigger, path)
  }

  /// nil once the item has ended.
  static func of(_ source: Loop.DescriptorSource) -> ScriptPressure? {
    source.state(as: ScriptPressure.self)
  }

  func isSame(as other: ScriptPressure) -> Bool {
    resource == other.resource && trigger == other.trigger
      && ExactText(path) == ExactText(other.path)
  }

  /// As text: "memory, some tasks stalled for 0.1 s within 2 s".
  var words: String {
    let (stall, window) = (Double(trigger.stall_us) / 1e6, Double(trigger.window_us) / 1e6)
    return "\(resource), \(trigger.isFull ? "all" : "some") tasks stalled for "
      + "\(LuaText.short(stall)) s within \(LuaText.short(window)) s"
  }

  /// The line of our level: "some avg10=0.00 avg60=0.00 avg300=0.00 total=0".
  func figures(in text: String) -> [(name: String, value: Double)] {
    let line = text.split(separator: "\n").last { $0.hasPrefix(trigger.level + " ") }
    return (line ?? "").split(separator: " ").dropFirst().compactMap { field in
      let parts = field.split(separator: "=")
      guard parts.count == 2, let value = Double(parts[1]), value.isFinite else { return nil }
      return (String(parts[0]), parts[0] == "total" ? value / 1e6 : value)
    }
  }
}
