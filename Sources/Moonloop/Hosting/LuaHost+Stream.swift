// Sequences that scripts produce and Swift awaits, and files that are reloaded.

public import LuaEmbed
internal import MoonloopCore

extension LuaHost {
  /// Calls a global function when the first element is requested, and returns what it produces.
  ///
  /// The function returns a channel (`ml.channel`), whose messages are the elements until it is
  /// closed, or a function, which is called for each element until it returns nil. That may wait,
  /// unless it comes from `coroutine.wrap`. Elements are requested one by one, so a script cannot
  /// run ahead by more than the channel's capacity.
  /// - Parameters:
  ///   - name: The function's name; dots lead into tables.
  ///   - arguments: Converted by their Swift types.
  ///   - element: The type of each element.
  /// - Returns: A sequence for a single loop. It throws `LuaError`, as `call` does. Cancelling its
  ///   task cancels the Lua task that waits.
  public nonisolated func stream<each A: LuaPushable & Sendable, Element: LuaReadable & Sendable>(
    _ name: String, _ arguments: repeat each A, of element: Element.Type = Element.self
  ) -> LuaStream<Element> {
    LuaStream(host: self) { [self] () async throws(LuaError) in
      try await open(name, repeat each arguments)
    }
  }

  private func open<each A: LuaPushable & Sendable>(
    _ name: String, _ arguments: repeat each A
  ) async throws(LuaError) -> LuaReference {
    try await finish(
      name,
      function: { (stack) throws(LuaError) in
        try stack.pushFunction(named: name)
        stack.pop()  // it is the first argument
        try opened().inner.load(openStream, name: "=moonloop", on: stack)
      },
      push: { stack in
        guard (try? stack.pushFunction(named: name)) != nil else { return 0 }
        return 1 + stack.push(all: repeat each arguments)
      },
      read: { (stack, index) throws(LuaError) in
        stack.pushValue(index)
        return LuaReference(popping: stack)
      })
  }

  /// Loads a file, or reloads it, as a transaction: if it has a mistake, nothing changes.
  ///
  /// This is what `ml.reload` does for scripts and `--watch` for programs: handlers and tasks of
  /// the previous generation end, and the contents of sockets and timers carry over. Load the file
  /// with this method from the start; what `run` made is not replaced.
  /// - Parameter path: The file. One host reloads one file.
  /// - Throws: `LuaError` with file and line; the previous generation goes on.
  public func reload(file path: String) async throws(LuaError) {
    guard let runtime = try opened().runtime else { throw .closed }
    if runtime.generations.file?.path != path {
      runtime.generations.allowReloads(of: path) { _ in 0 }
    }
    let failure: Failure? = try await finish(
      "reload",
      function: { (stack) throws(LuaError) in
        try opened().inner.load(reloadFile, name: "=moonloop", on: stack)
      },
      read: { (stack, index) throws(LuaError) in
        stack.string(index).map { Failure(message: $0, code: stack.string(index + 1)) }
      })
    if let failure { throw LuaError(message: failure.message, code: failure.code) }
  }

  private struct Failure: Sendable {
    let message: String
    let code: String?
  }
}

/// Makes a function that returns the elements of what a function produces.
private let openStream = """
  local make = ...
  local source = make(select(2, ...))
  if type(source) == "function" then return source end
  local ok, receive = pcall(function() return source.receive end)
  if not ok or type(receive) ~= "function" then
    error("a stream must be a channel or a function, got " .. type(source), 0)
  end
  return function() return (receive(source)) end
  """

private let reloadFile = """
  local ok, message, code = require("moonloop").reload()
  if not ok then return message, code end
  """

/// What a host's function produces, as a sequence: see `LuaHost.stream`.
public struct LuaStream<Element: LuaReadable & Sendable>: AsyncSequence, Sendable {
  fileprivate let host: LuaHost
  fileprivate let open: @Sendable () async throws(LuaError) -> LuaReference

  /// Requests one element after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let stream: LuaStream
    private var step: LuaReference?
    private var isOver = false

    fileprivate init(stream: LuaStream) { self.stream = stream }

    /// The next element; nil at the end, and after an error.
    /// - Throws: `LuaError`: what the function raises, or an element that does not fit; the stream
    ///   ends with it.
    public mutating func next() async throws(LuaError) -> Element? {
      if isOver { return nil }
      isOver = true
      let step = if let step { step } else { try await stream.open() }
      let element: Element? = try await stream.host.next(step)
      self.step = step
      isOver = element == nil
      return element
    }
  }

  /// Starts the iteration.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }
}

extension LuaHost {
  fileprivate func next<Element: LuaReadable & Sendable>(
    _ step: LuaReference
  ) async throws(LuaError) -> Element? {
    try await finish(
      "next", function: { (stack) throws(LuaError) in step.push(on: stack) },
      read: { (stack, index) throws(LuaError) in try stack.result(index) })
  }
}

extension LuaStack {
  /// Pushes values. [-0, +n, raises: -]
  /// - Returns: How many.
  func push<each A: LuaPushable>(all values: repeat each A) -> Int {
    var count = 0
    for value in repeat each values {
      guard reserve(8) else { break }
      value.push(on: self)
      count += 1
    }
    return count
  }
}
