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

  /// A path, or an abstract name behind "@"; nil if it is empty or longer than 107 bytes.
  package init?(path: String) {
    var address = cmx_address()
    var path = path
    let isPath = path.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        cmx_address_unix(&address, $0.baseAddress, $0.count)
      }
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
  package var host: String {
    var raw = raw
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
      let count = cmx_address_text(&raw, text.baseAddress, text.count)
      return text.withMemoryRebound(to: UInt8.self) {
        String(decoding: $0.prefix(count), as: UTF8.self)
      }
    }
  }

  /// As text: "127.0.0.1:80", "[::1]:80", "/run/app.sock".
  package var text: String {
    guard let port else { return host.isEmpty ? "an unnamed socket" : host }
    return family == .inet6 && host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
