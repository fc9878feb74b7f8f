// Runs that can be done again: what the standard libraries tell scripts is recorded and played.

internal import CLuaShims
internal import Synchronization

/// The addresses of the hooks that were installed. They are as old as the program in the end: what
/// a closed state has left behind may ask them yet.
private let installed = Mutex<[UInt]>([])

/// Who keeps what functions such as `os.time` and `io.read` answer, and gives it back.
package struct LuaTapeHooks {
  package typealias Put = @convention(c) (UnsafeRawPointer?, Int) -> Void
  package typealias Take = @convention(c) (UnsafeMutablePointer<UnsafeRawPointer?>?) -> Int
  package typealias Random = @convention(c) (UnsafeMutablePointer<UInt64>?) -> Void
  package typealias Leave = @convention(c) () -> UnsafeMutableRawPointer?
  package typealias Resume = @convention(c) (UnsafeMutableRawPointer?) -> Void

  let plays: Bool
  let put: Put
  let take: Take
  let random: Random
  let leave: Leave
  let resume: Resume

  package init(
    plays: Bool, put: @escaping Put, take: @escaping Take, random: @escaping Random,
    leave: @escaping Leave, resume: @escaping Resume
  ) {
    self.plays = plays
    self.put = put
    self.take = take
    self.random = random
    self.leave = leave
    self.resume = resume
  }
}

extension LuaState {
  /// Has the next state of this thread give the same addresses, and the same order of `pairs`, to
  /// scripts that do the same.
  package static func reproduceNext(seed: UInt32) { cml_reproduce_next(seed) }

  /// Has those functions of the standard libraries that tell of the outside ask the hooks. Before
  /// the hooks of a program.
  package func install(_ hooks: LuaTapeHooks) {
    let raw = UnsafeMutablePointer<cml_tape_hooks>.allocate(capacity: 1)
    installed.withLock { $0.append(UInt(bitPattern: raw)) }
    raw.initialize(
      to: cml_tape_hooks(
        plays: hooks.plays, put: hooks.put, take: hooks.take, random: hooks.random,
        leave: hooks.leave, resume: hooks.resume))
    _ = cml_install_tape(record, raw)
  }
}
