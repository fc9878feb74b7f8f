// What one thread alone may let go of, and another has dropped: it is brought home.

internal import CLinuxShims

/// The loops of all threads, for those who bring something there. Any thread.
enum HomeThreads {
  /// Something that is let go of at home.
  // Sendable: moved whole, and not looked at on the way.
  private final class Leftover: @unchecked Sendable {
    private var content: Any?
    private let home: Int32

    init(_ content: Any, _ home: Int32) { (self.content, self.home) = (content, home) }

    /// Home thread only.
    func open() { content = nil }

    // Never opened, since a loop has ended: on a thread that goes on, what is in it may be in use.
    deinit {
      if let content, home != cmx_thread_id(), cmx_thread_exists(home) {
        _ = Unmanaged.passRetained(Kept(content))
      }
    }
  }

  private final class Kept {
    let content: Any
    init(_ content: Any) { self.content = content }
  }

  private struct Content {
    var loops: [Int32: Loop] = [:]
    /// For threads that had no loop.
    var waiting: [Int32: [Leftover]] = [:]
  }
  private static let content = Guarded(Content())

  /// A loop is the calling thread's from now on; nil: it has none.
  static func note(_ loop: Loop?) {
    let thread = cmx_thread_id()
    let (old, waiting) = content.withLock { content in
      let old = content.loops.removeValue(forKey: thread)
      content.loops[thread] = loop
      return (old, content.waiting.removeValue(forKey: thread) ?? [])
    }
    withExtendedLifetime(old) {}
    for leftover in waiting { leftover.open() }
  }

  /// Has something let go of on the thread that it belongs to, when its loop next looks; at once if
  /// that thread is gone.
  static func bring(_ things: Any, to thread: Int32) {
    let leftover = Leftover(things, thread)
    if let loop = content.withLock({ $0.loops[thread] }),
      loop.post(.change { _ in leftover.open() })
    {
      return
    }
    let isGone = !cmx_thread_exists(thread)
    let gone = content.withLock { content in
      var gone: [Leftover] = []
      if !isGone { content.waiting[thread, default: []].append(leftover) }
      for (thread, leftovers) in content.waiting where !cmx_thread_exists(thread) {
        gone += leftovers
        content.waiting[thread] = nil
      }
      return gone
    }
    withExtendedLifetime((gone, leftover)) {}
  }
}
