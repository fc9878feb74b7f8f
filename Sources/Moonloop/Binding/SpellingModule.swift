// `require "moonloop.text.nearest"`: the edit distance of the host, for modules written in Lua, so
// that a misspelt option gets the same answer wherever it occurs.

internal import LuaEmbed

extension LuaState {
  func preloadSpelling() {
    preload(
      "moonloop.text.nearest",
      loader: { L, _ in
        LuaStack(L: L!).push(function: nearestWord)
        return 1
      })
  }
}

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
