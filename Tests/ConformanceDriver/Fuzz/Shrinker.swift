// Makes a differing scenario smaller, as long as it still differs.

import ConformanceFormat

struct Shrinker {
  let target: FuzzTarget

  func shrink(_ entry: FuzzCase) throws(FormatError) -> FuzzCase {
    var best = entry
    while let smaller = try smaller(than: best) { best = smaller }
    return best
  }

  /// All scenarios that are one part smaller run at once; the smallest that differs is taken.
  private func smaller(than entry: FuzzCase) throws(FormatError) -> FuzzCase? {
    var candidates: [FuzzCase] = []
    for (index, json) in Self.reductions(of: entry.json).enumerated() {
      let named = json.replacing("id", by: .string("shrunk-\(index)"))
      if let candidate = FuzzCase(named, withRulings: false) { candidates.append(candidate) }
    }
    candidates.sort { $0.json.text.utf8.count < $1.json.text.utf8.count }
    let scale: Int64 = target.isTimed ? 2 : 1
    for _ in 0..<(target.isTimed ? 2 : 1) {
      let traces = try target.perform(candidates, jobs: 16, scale: scale)
      candidates.removeAll { $0.accepts(traces[$0.scenario.id], of: target.face) }
    }
    return candidates.min { $0.json.text.utf8.count < $1.json.text.utf8.count }
  }

  /// Every JSON value that is this one without one part, or with a simpler part.
  private static func reductions(of json: JSON) -> [JSON] {
    switch json {
    case .array(let elements):
      var all: [JSON] = elements.indices.map { index in
        var rest = elements
        rest.remove(at: index)
        return .array(rest)
      }
      for (index, element) in elements.enumerated() {
        for smaller in reductions(of: element) {
          var changed = elements
          changed[index] = smaller
          all.append(.array(changed))
        }
      }
      return all
    case .object(let fields):
      var all: [JSON] = []
      for (index, field) in fields.enumerated() {
        if optional.contains(field.name) {
          var rest = fields
          rest.remove(at: index)
          all.append(.object(rest))
        }
        for smaller in reductions(of: field.value) {
          var changed = fields
          changed[index].value = smaller
          all.append(.object(changed))
        }
      }
      return all
    default: return []
    }
  }

  private static let optional: Set = [
    "do", "order", "interval_ms", "lifecycle", "deferred", "returnAfterSource", "modes", "repeats",
    "nth", "on", "activities", "unconditional",
  ]
}

extension JSON {
  func replacing(_ name: String, by value: JSON) -> JSON {
    guard case .object(var fields) = self else { return self }
    if let index = fields.firstIndex(where: { $0.name == name }) { fields[index].value = value }
    return .object(fields)
  }
}

extension FuzzCase {
  /// The scenario as a file of Tests/Conformance.
  var file: String {
    guard case .object(let fields) = json else { return json.text }
    var lines: [String] = []
    for (name, value) in fields where name != "expect" {
      guard case .array(let elements) = value, !elements.isEmpty else {
        lines.append("  \(JSON.quoted(name)): \(value.text)")
        continue
      }
      let list = elements.map { "    \($0.text)" }.joined(separator: ",\n")
      lines.append("  \(JSON.quoted(name)): [\n\(list)\n  ]")
    }
    func list(_ name: String, _ trace: [String]) -> String {
      let entries = trace.map { "    \(JSON.quoted($0))" }.joined(separator: ",\n")
      return "  \"\(name)\": [\n\(entries)\n  ]"
    }
    lines.append(list("expect", ours))
    if ours != cf { lines.append(list("cf", cf)) }
    return "{\n" + lines.joined(separator: ",\n") + "\n}"
  }
}
