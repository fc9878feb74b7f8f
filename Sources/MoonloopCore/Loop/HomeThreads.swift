// Things that only one thread may release, and another has dropped, are brought home.

internal import CLinuxShims

/// The loops of all threads, for code that brings something there. Any thread.
enum HomeThreads {
  /// Something to be released at home.
  // Sendable: moved as a whole, and not accessed on the way.
  private final class Leftover: @unchecked Sendable {
    private var content: Any?
    private let home: Int32

    init(_ content: Any, _ home: Int32) { (self.content, self.home) = (content, home) }

    /// Home thread only.
    func open() { content = nil }

    // Never opened, because a loop has ended: if its thread goes on, the contents may be in use.
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

  private struct Home {
    let thread: Int32
    let loop: Loop
  }

  private struct Content {
    /// By thread: a sorted list, since the first dictionary of its type takes 0.1 million
    /// instructions, in each program.
    private var homes: [Home] = []
    /// For threads that had no loop.
    var waiting: [Int32: [Leftover]] = [:]

    /// The first place that is not before a thread's.
    private func place(of thread: Int32) -> Int {
      var (low, high) = (0, homes.count)
      while low < high {
        let middle = (low + high) / 2
        if homes[middle].thread < thread { low = middle + 1 } else { high = middle }
      }
      return low
    }

    func loop(of thread: Int32) -> Loop? {
      let place = place(of: thread)
      return place < homes.count && homes[place].thread == thread ? homes[place].loop : nil
    }

    /// - Returns: The loop that the thread had before.
    mutating func set(_ loop: Loop?, of thread: Int32) -> Loop? {
      let (place, old) = (place(of: thread), self.loop(of: thread))
      if old != nil { homes.remove(at: place) }
      if let loop { homes.insert(Home(thread: thread, loop: loop), at: place) }
      return old
    }
  }
  private static let content = Guarded(Content())

  /// A loop is the calling thread's from now on; nil: it has none.
  static func note(_ loop: Loop?) {
    let thread = cmx_thread_id()
    let (old, waiting) = content.withLock { content -> (Loop?, [Leftover]) in
      let old = content.set(loop, of: thread)
      if content.waiting.isEmpty { return (old, []) }
      return (old, content.waiting.removeValue(forKey: thread) ?? [])
    }
    withExtendedLifetime(old) {}
    for leftover in waiting { leftover.open() }
  }

  /// Releases something on the thread that it belongs to, when its loop next looks; at once if
  /// that thread is gone. What waits for a thread that had no loop and then goes is released here
  /// with the next thing that anybody brings.
  static func bring(_ things: Any, to thread: Int32) {
    let leftover = Leftover(things, thread)
    if let loop = content.withLock({ $0.loop(of: thread) }),
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
