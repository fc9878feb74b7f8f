// Socket addresses: numeric ones, paths, and names in Linux's abstract namespace.

internal import CLinuxShims

/// The address of a socket.
package struct SocketAddress: Sendable {
  package enum Family: Sendable { case inet, inet6, unix }

  var raw = cmx_address()

  init(raw: cmx_address) { self.raw = raw }

  /// A numeric address; nil if the text is not one.
  package init?(numeric host: String, port: Int) {
    var address = cmx_address()
    guard !host.utf8.contains(0), cmx_address_parse(&address, host, Int32(port)) else {
      return nil
    }
    raw = address
  }

  package init?(path: String) { self.init(path: Array(path.utf8)) }

  /// A path, or an abstract name behind "@"; nil if it is empty or longer than 107 bytes.
  package init?(path: [UInt8]) {
    var address = cmx_address()
    let isPath = path.withUnsafeBytes { bytes in
      cmx_address_unix(&address, bytes.bindMemory(to: CChar.self).baseAddress, bytes.count)
    }
    guard isPath else { return nil }
    raw = address
  }

  package var family: Family {
    var raw = raw
    return switch cmx_family_of(&raw) {
    case cmx_family_unix: .unix
    case cmx_family_inet6: .inet6
    default: .inet
    }
  }

  /// The port; nil for a Unix socket.
  package var port: Int? {
    var raw = raw
    let port = cmx_address_port(&raw)
    return port < 0 ? nil : Int(port)
  }

  package func with(port: Int) -> SocketAddress {
    var copy = self
    cmx_address_set_port(&copy.raw, Int32(port))
    return copy
  }

  /// The address without its port; a path, or a name with "@"; empty for an unnamed socket.
  package var host: String { String(decoding: hostBytes, as: UTF8.self) }

  /// The same as the system has it: a path need not be UTF-8.
  package var hostBytes: [UInt8] {
    var raw = raw
    return Array(unsafeUninitializedCapacity: 128) { text, count in
      count = text.withMemoryRebound(to: CChar.self) {
        cmx_address_text(&raw, $0.baseAddress, $0.count)
      }
    }
  }

  /// What tells it from others: of two paths that read alike, one may be another.
  package var key: [UInt8] { hostBytes + (port.map { ":\($0)" } ?? "").utf8 }

  /// As text: "127.0.0.1:80", "[::1]:80", "/run/app.sock".
  package var text: String {
    guard let port else { return host.isEmpty ? "an unnamed socket" : host }
    return family == .inet6 && host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
