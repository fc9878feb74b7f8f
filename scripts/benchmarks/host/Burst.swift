// What another thread of W4B signals: a source made in Swift, as a handle of a script belongs to
// its thread.
import Moonloop
import Sender

final class Burst: Sendable {
  private let source: Loop.Source
  private let loop: Loop

  init(_ source: Loop.Source, _ loop: Loop) {
    self.source = source
    self.loop = loop
  }

  /// Has a thread signal the source this often, in C; it is kept until the process ends.
  func start(count: Int) {
    _ = sender_start(
      { address in
        Unmanaged<Burst>.fromOpaque(address!)._withUnsafeGuaranteedRef { burst in
          burst.source.signal()
          burst.loop.wakeUp()
        }
        return 0
      }, Unmanaged.passRetained(self).toOpaque(), Int64(count))
  }
}
