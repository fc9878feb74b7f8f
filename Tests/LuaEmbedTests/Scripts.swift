// The scripts of Tests/Scripts, and how large a run of them is.

import CStockLua
import Glibc
import LuaEmbed
import Testing

/// The size of a run: 1, or what MOONLOOP_TEST_SCALE says.
let testScale: Int = getenv("MOONLOOP_TEST_SCALE").flatMap { Int(String(cString: $0)) } ?? 1

/// The folder of the package.
let repositoryPath: String = #filePath.split(separator: "/", omittingEmptySubsequences: false)
  .dropLast(3).joined(separator: "/")

/// The text of a file under Tests/Scripts.
func scriptText(_ name: String) throws -> String {
  try readFile("\(repositoryPath)/Tests/Scripts/\(name)")
}

func readFile(_ path: String) throws -> String {
  let file = try #require(fopen(path, "r"), "cannot open \(path)")
  defer { fclose(file) }
  var bytes: [UInt8] = []
  while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
  return String(decoding: bytes, as: UTF8.self)
}

/// Runs text in a fresh state of stock Lua: what it returns as text, or an error after a '!'.
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

/// Runs a closure on a thread with a stack of so many bytes, and waits for it.
func onThread(stackBytes: Int, _ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setstacksize(&attributes, stackBytes)
  var thread = pthread_t()
  pthread_create(
    &thread, &attributes,
    {
      Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  pthread_join(thread, nil)
  pthread_attr_destroy(&attributes)
}
