// Where reports go when no handler takes them.

internal import Glibc

/// Writes text to stderr with a newline; what cannot be written is dropped.
package func writeToStandardError(_ text: String) {
  var line = text.hasSuffix("\n") ? text : text + "\n"
  line.withUTF8 { writeToStandardError(UnsafeRawBufferPointer($0)) }
}

func writeToStandardError(_ bytes: UnsafeRawBufferPointer) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = write(2, bytes.baseAddress! + rest.startIndex, rest.count)
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { return }
    rest = rest.dropFirst(count)
  }
}
