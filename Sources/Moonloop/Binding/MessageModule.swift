// `require "moonloop.text.host"`: the parts of messages of modules written in Lua, which read like
// the host's: the nearest spelling, the value that was given, and the caller's line.

internal import LuaEmbed

extension LuaState {
  func preloadMessages() {
    preload(
      "moonloop.text.host",
      loader: { L, _ in
        let stack = LuaStack(L: L!)
        stack.newTable(fields: 3)
        for (name, function) in messageFunctions {
          stack.push(name)
          stack.push(function: function)
          stack.rawSet(-3)
        }
        return 1
      })
  }
}

private let messageFunctions: [(StaticString, LuaRawFunction)] = [
  ("nearest", nearestWord), ("given", givenValue), ("mistake", raiseMistake),
]

/// `nearest(word, words, limit)`: the word in the list that was probably meant; otherwise nil.
private let nearestWord: LuaRawFunction = { L, _ in
  let stack = LuaStack(L: L!)
  guard let word = stack.string(1) else { return 0 }
  var words: [String] = []
  while stack.rawGet(2, item: Int64(words.count + 1)) == .string, let known = stack.string(-1) {
    words.append(known)
    stack.pop()
  }
  stack.pop()
  guard let near = LuaText.nearest(to: word, among: words, limit: stack.integer(3)) else {
    return 0
  }
  stack.push(near)
  return 1
}

/// `given(value)`: what follows "got" in a message: the value if it is short, otherwise its type.
private let givenValue: LuaRawFunction = { L, _ in
  let stack = LuaStack(L: L!)
  stack.push(stack.given(1))
  return 1
}

/// `mistake(problem, hint)`: raises an error at the innermost line of a script. The hint, which
/// begins with "; ", follows the line.
private let raiseMistake: LuaRawFunction = { L, _ in
  let stack = LuaStack(L: L!)
  stack.push(LuaText.clean("\(stack.string(1) ?? "")\(stack.site)\(stack.string(2) ?? "")"))
  return LuaStatus.raise
}
