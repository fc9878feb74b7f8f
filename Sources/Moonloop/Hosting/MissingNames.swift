// What a guest uses in place of the names of stock Lua that it does not have.

internal import MoonloopCore

/// A name that a guest does not have, as Lua's messages say it, and what to use instead.
private struct MissingName {
  /// "global 'io'".
  let words: String
  let advice: String
  /// The grant that the advice needs.
  var grant: String?
  var capability: LuaCapabilities = []
}

private let missingNames: [MissingName] = [
  MissingName(
    words: "global 'io'", advice: "no 'io': print writes, and ml.fs reads and writes files",
    grant: "fs", capability: .files),
  MissingName(words: "global 'arg'", advice: "no 'arg': its arguments are in '...'"),
  MissingName(
    words: "field 'execute'", advice: "no os.execute: ml.process.run runs programs",
    grant: "process", capability: .processes),
  MissingName(
    words: "field 'getenv'", advice: "no os.getenv: what it needs is passed as its arguments"),
  MissingName(words: "field 'exit'", advice: "no os.exit: it ends when nothing is left to do"),
  MissingName(
    words: "field 'tmpname'", advice: "no os.tmpname: there is ml.fs.temporary_file", grant: "fs",
    capability: .files),
  MissingName(words: "global 'dofile'", advice: "no 'dofile': it can require its own modules"),
  MissingName(words: "global 'loadfile'", advice: "no 'loadfile': it can require its own modules"),
]

extension GuestGrants {
  /// What follows the message of an error that a name has caused which no guest has; "" for others.
  func advice(onMissingNameIn message: String) -> String {
    guard let name = missingNames.first(where: { message.hasSuffix(" a nil value (\($0.words))") })
    else { return "" }
    let text = "; a guest has \(name.advice)"
    guard let grant = name.grant, !capabilities.contains(name.capability) else { return text }
    return "\(text); \(advice(of: grant))"
  }
}
