// Pressure in Lua: `loop:pressure`, `ml.pressure`.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

private let pressureOptions: [StaticString] = [
  "resource", "stall", "window", "level", "file", "name", "modes", "keep_alive", "on_error",
  "handler",
]
private let resources: [(name: String, value: String)] = ["memory", "cpu", "io"].map { ($0, $0) }
private let levels: [(name: String, value: Bool)] = [("some", false), ("full", true)]

/// `loop:pressure { resource, stall, window, level, file, name, modes, …, handler }`
func makePressure(_ call: HostCall, _ entry: ItemEntry) throws -> Int32 {
  try call.requireRoom()
  let options = try call.options(
    entry.options, pressureOptions,
    example: "{ resource = \"memory\", function(pressure, figures) … end }")
  let wanted = try call.wantedPressure(options)
  let name = try options.name() ?? wanted.resource
  let modes = try call.modesOption(options, entry)
  _ = try options.pushHandler("[1]", isRequired: true)
  let kept = try call.remake(
    PressureKind.self, name, handlers: 1, options, modes: modes
  ) { ScriptPressure.of($0)?.isSame(as: wanted) ?? false }
  if kept != nil { return 1 }
  let source = try call.makeSource(of: wanted, name: name)
  return try call.finish(source, options, modes: modes)
}

extension HostCall {
  fileprivate func wantedPressure(_ options: Options) throws(ScriptMistake) -> ScriptPressure {
    guard let resource = try options.names("resource", resources, "resource"),
      resource.count == 1
    else { throw mistake("needs 'resource': \"memory\", \"cpu\" or \"io\"") }
    let levels = try options.names("level", levels, "level") ?? [false]
    if levels.count != 1 { throw mistake("'level' must be \"some\" or \"full\"") }
    let window = try options.seconds("window", .positive) ?? 2_000_000_000
    if !(500_000_000...10_000_000_000).contains(window) {
      throw mistake("'window' must be from 0.5 to 10 seconds, got \(Double(window) / 1e9)")
    }
    let stall = try options.seconds("stall", .positive) ?? window / 10
    if !(1000...window).contains(stall) {
      throw mistake("'stall' must be from 1e-6 seconds to 'window', got \(Double(stall) / 1e9)")
    }
    let path = try options.systemText("file") ?? "/proc/pressure/\(resource[0])"
    if path.isEmpty {
      throw mistake("'file' must be the path of a pressure file")
    }
    let trigger = Loop.PressureWatch.Trigger(
      isFull: levels[0], stall_us: stall / 1000, window_us: window / 1000)
    return ScriptPressure(resource[0], trigger, path: path)
  }

  /// Makes the source, and pushes its handle, with the handler on top of the stack. [-1, +1]
  fileprivate func makeSource(
    of wanted: ScriptPressure, name: String
  ) throws -> Loop.DescriptorSource {
    guard loop.kernel is LinuxKernel else {
      throw OperatingFailure("\(self.name): a simulated system has no pressure", "ENOTSUP")
    }
    let kind = kind(PressureKind.self)
    let source: Loop.DescriptorSource
    do throws(SystemError) {
      source = try Loop.PressureWatch.make(
        Array(wanted.path.utf8) + [0], wanted.trigger, name: name, on: loop
      ) { [unowned kind] in kind.deliver($0, $1) }  // the runtime holds it, and ends items first
    } catch { throw failure(error, wanted) }
    source.onFailure = self.kind(DescriptorKind.self).failure
    source.maker.state = wanted
    push(kind, source, handlers: 1)
    return source
  }

  /// A refusal of the system, with advice.
  private func failure(_ error: SystemError, _ wanted: ScriptPressure) -> OperatingFailure {
    let text = "\(name): \(wanted.path): "
    switch (error.call, error.code) {
    case ("open", _) where error.name == "ENOENT":
      return OperatingFailure(
        text + "there is no such file; the kernel does not measure pressure, or 'file' is wrong",
        "ENOENT")
    case (_, 95):  // EOPNOTSUPP
      return OperatingFailure(
        text + "it does not take a trigger; pressure is switched off (psi=1), or it is not a "
          + "pressure file",
        "ENOTSUP")
    case ("write", _) where error.name == "EINVAL":
      return OperatingFailure(
        text + "the kernel refuses this stall and window; without privileges the window must be a "
          + "multiple of 2 seconds", "EINVAL")
    default: return OperatingFailure(text + "\(error)", error.name)
    }
  }
}

/// `pressure.resource`: what is watched; nil once the handle has ended.
let pressureResource: LuaRawFunction = { L, context in
  hostValue(L, context, "pressure.resource") {
    ScriptPressure.of(try $0.selfItem(of: PressureKind.self))?.resource
  }
}

/// `pressure.level`: "some" or "full"; nil once the handle has ended.
let pressureLevel: LuaRawFunction = { L, context in
  hostValue(L, context, "pressure.level") {
    ScriptPressure.of(try $0.selfItem(of: PressureKind.self))?.trigger.level
  }
}

/// What a handle offers.
let pressureEntries: [LuaEntry] =
  [.field("resource", pressureResource), .field("level", pressureLevel)] + itemEntries
