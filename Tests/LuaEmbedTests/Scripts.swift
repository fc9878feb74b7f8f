// The scripts of Tests/Scripts, and how large a run of them is.

import CStockLua
import Glibc
import LuaEmbed
import TestSupport
import Testing

/// The size of a run: 1, or what MOONLOOP_TEST_SCALE says.
let testScale: Int = getenv("MOONLOOP_TEST_SCALE").flatMap { Int(String(cString: $0)) } ?? 1

/// The text of a file under Tests/Scripts.
func scriptText(_ name: String) throws -> String {
  try RepositoryFile(path: "Tests/Scripts/\(name)").read()
}

/// Runs text in a fresh state of stock Lua; returns the result as text, or '!' and the error.
func runStock(_ text: String, name: String = "=stock") -> String {
  let result = cts_run(text, text.utf8.count, name)!
  defer { free(result) }
  return String(cString: result)
}

extension LuaState {
  /// Sets the global `stock` to a table of liblua's own libraries.
  func addStock() {
    let stack = self.stack
    cts_push_stock(UnsafeMutableRawPointer(stack.L))
    stack.popGlobal("stock")
  }
}
