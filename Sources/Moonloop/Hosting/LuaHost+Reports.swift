// What scripts report to their host, and what it decides.

public import LuaEmbed
public import MoonloopCore

extension LuaHost {
  /// What follows an error.
  public enum Verdict: String, Sendable {
    /// The scripts go on: a timer fires again.
    case `continue`
    /// Everything that the scripts have on the loop ends: handles, and tasks under way.
    case stop
  }

  /// Where an error came from.
  public struct Subject: Sendable, Hashable, CustomStringConvertible {
    /// The kind of handle: "timer", "task", "descriptor".
    public let kind: String
    /// Its name; empty if it has none.
    public let name: String
    /// Where it was made, such as "app.lua:12"; empty for the main chunk and finalizers.
    public let place: String
    /// The mode in which its handler ran; nil outside of runs.
    public let mode: ModeName?

    init(_ words: SubjectWords, _ mode: ModeName?) {
      (kind, name, place) = (words.kind, words.name, words.place)
      self.mode = mode
    }

    /// Its description in reports: "timer 'poll' (made at app.lua:12)".
    public var description: String {
      SubjectWords(kind: kind, name: name, place: place).label
    }
  }
}

/// The description of a handle in reports.
struct SubjectWords {
  var kind: String
  var name = ""
  var place = ""

  var label: String {
    let named = name.isEmpty ? kind : "\(kind) '\(name)'"
    return place.isEmpty ? named : "\(named) (made at \(place))"
  }
}

extension LuaHost {
  /// Receives what scripts report; each closure is called on the loop's thread.
  public struct Reports: Sendable {
    /// An error in a handler, an unawaited task or a finalizer (`__gc`); nil: write it to standard
    /// error.
    ///
    /// It decides what happens next; in either case the host still takes calls. An error that a
    /// script's `on_error` handles does not come here.
    public var onError: (@Sendable (LuaError, Subject) -> Verdict)?
    /// Whole lines that scripts print or write to `io.stdout`; nil: standard output.
    public var onOutput: (@Sendable (String) -> Void)?
    /// What a script warns of, after `warn "@on"`; nil: write it to standard error.
    public var onWarning: (@Sendable (String) -> Void)?
    /// `os.exit` was called, with a status. It ends the state, not the program.
    public var onExit: (@Sendable (Int32) -> Void)?
    /// Scripts were stopped by limits more than ten times in a minute, so everything they had on
    /// the loop has been ended. The host still takes calls.
    public var onCondemned: (@Sendable () -> Void)?

    /// Makes a set of reports; what is left out behaves as without a host.
    public init(
      onError: (@Sendable (LuaError, Subject) -> Verdict)? = nil,
      onOutput: (@Sendable (String) -> Void)? = nil,
      onWarning: (@Sendable (String) -> Void)? = nil,
      onExit: (@Sendable (Int32) -> Void)? = nil,
      onCondemned: (@Sendable () -> Void)? = nil
    ) {
      self.onError = onError
      self.onOutput = onOutput
      self.onWarning = onWarning
      self.onExit = onExit
      self.onCondemned = onCondemned
    }

    func install(in outer: LuaState) {
      guard let runtime = outer.runtime else { return }
      let state = runtime.state
      runtime.errors.isHosted = true
      runtime.errors.onCondemned = onCondemned
      runtime.errors.decide = onError
      if let onOutput {
        _ = state.divertOutput { stream, bytes in
          if stream != 1 { return writeToStandardError(bytes) }
          onOutput(String(decoding: bytes, as: UTF8.self))
        }
      }
      var hasExited = false
      // Unowned: the state holds its hooks, and its runtime.
      runtime.errors.expectsInterrupts = { hasExited || Ending.isQuiet }
      state.install(
        LuaProgramHooks(
          exit: { [unowned state, onExit] status, _ in
            hasExited = true
            onExit?(status)
            state.close()  // takes effect when this call-out, which is stopped, is over
            state.interruptHandle.interrupt()
          },
          blocks: { _, _ in true },
          warns: { [unowned runtime, onWarning] text in
            if let onWarning { return onWarning(text) }
            runtime.errors.write("moonloop: warning: \(text)")
          }))
    }
  }
}
