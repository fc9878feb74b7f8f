// What TLS sessions share: certificates, trusted roots, protocols.

internal import CLinuxShims
internal import MoonloopCore

/// A text in PEM form, or the file that holds it.
package enum TLSText: Equatable, Sendable {
  case text(String)
  case file(String)

  fileprivate func withPEM<Result>(_ body: (cmx_tls_pem) -> Result) -> Result {
    switch self {
    case .text(let text): text.withCString { body(cmx_tls_pem(text: $0, is_path: false)) }
    case .file(let path): path.withCString { body(cmx_tls_pem(text: $0, is_path: true)) }
    }
  }
}

extension TLSText? {
  fileprivate func withPEM<Result>(_ body: (cmx_tls_pem) -> Result) -> Result {
    self?.withPEM(body) ?? body(cmx_tls_pem(text: nil, is_path: false))
  }
}

/// A certificate, with the chain behind it, and its key.
package struct TLSIdentity: Equatable, Sendable {
  var certificate: TLSText
  /// nil: the key is in the same text.
  var key: TLSText?

  package init(certificate: TLSText, key: TLSText?) {
    self.certificate = certificate
    self.key = key
  }
}

/// What one side wants of its sessions.
package struct TLSPlan: Equatable, Sendable {
  /// What the certificate of the peer must be.
  package enum Verification: Sendable {
    /// Any certificate, or none.
    case none
    /// Good, if there is one.
    case optional
    case required
  }

  package var isServer = false
  package var verification = Verification.required
  package var needsVersion13 = false
  /// What this side shows; those behind the first are for clients that ask for one of their names.
  package var identities: [TLSIdentity] = []
  /// The trusted roots; nil: the system's.
  package var authorities: TLSText?
  package var revocations: TLSText?
  /// Names of protocols, the best first (ALPN).
  package var protocols: [String] = []

  package init() {}
}

/// A plan, ready for use: the files are read. Loop thread only.
package final class TLSContext {
  /// Approximate bytes of one in the library.
  package static let footprint = 24 << 10

  let context: OpaquePointer
  /// What its owner keeps with it.
  package var companion: AnyObject?

  /// Why there is none: a library or a file is missing, or a text is not what it should be.
  package struct Failure: Error {
    package let message: String
    /// Such as `ENOENT`.
    package let code: String
  }

  package init(_ plan: TLSPlan) throws(Failure) {
    var code: Int32 = 0
    let made = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.reasonSize) { reason in
      let context = Self.make(plan, reason.baseAddress!, &code)
      let words = code == 0 ? "" : String(cString: reason.baseAddress!)
      return (context: context, words: words)
    }
    guard let context = made.context else {
      throw Failure(message: made.words, code: SystemError(call: "", code: code).name)
    }
    self.context = context
  }

  deinit { cmx_tls_context_free(context) }

  private static let reasonSize = Int(cmx_tls_text_size)

  private static func make(
    _ plan: TLSPlan, _ reason: UnsafeMutablePointer<CChar>, _ code: inout Int32
  ) -> OpaquePointer? {
    let protocols = plan.protocols.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8) }
    var made = cmx_tls_plan()
    made.is_server = plan.isServer
    made.verifies = plan.verification != .none
    made.is_optional = plan.verification == .optional
    made.needs_13 = plan.needsVersion13
    let first = plan.identities.first
    let context = protocols.withUnsafeBufferPointer { protocols in
      made.protocols = protocols.baseAddress
      made.protocols_count = protocols.count
      return (first?.certificate).withPEM { certificate in
        made.certificate = certificate
        return (first?.key).withPEM { key in
          made.key = key
          return plan.authorities.withPEM { authorities in
            made.authorities = authorities
            return plan.revocations.withPEM { revoked in
              made.revoked = revoked
              return cmx_tls_context_new(&made, reason, &code)
            }
          }
        }
      }
    }
    guard let context else { return nil }
    for identity in plan.identities.dropFirst() {
      let isAdded = identity.certificate.withPEM { certificate in
        identity.key.withPEM { cmx_tls_context_add(context, certificate, $0, reason, &code) }
      }
      if !isAdded {
        cmx_tls_context_free(context)
        return nil
      }
    }
    return context
  }
}
