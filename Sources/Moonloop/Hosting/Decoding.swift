// Configurations: Codable values from files, and errors that name the line.

public import LuaEmbed

extension LuaState {
  /// Runs a file and decodes its result.
  ///
  /// ```swift
  /// struct Config: Codable, LuaDefaultFields, LuaExactFields {
  ///   var host = "127.0.0.1"
  ///   var port = 8080
  /// }
  /// let config = try lua.decode(Config.self, file: "config.lua")
  /// ```
  /// - Throws: `LuaError`; of kind `.file` if it cannot be read. A mismatch is reported with its
  ///   line, if the file spells it out: `config.lua:12: routes[2].port: must be an integer, got
  ///   "x"`.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self, file path: String)
    throws(LuaError) -> Value
  {
    let result = try evaluate("decode", file: path) { (stack, _) throws(LuaError) in
      Result { () throws(LuaDataFailure) in try stack.decode(type, 1) }
    }
    do { return try result.get() } catch {
      throw error.error(at: line(of: error.steps, in: path).map { "\(path):\($0)" } ?? path)
    }
  }

  /// The line of a file that contains a field of the table that it returns.
  private func line(of steps: [LuaValue], in path: String) -> Int? {
    let find = try? compile(
      """
      local path, steps = ...
      local file = io.open(path)
      local text = file and file:read "a"
      if file then file:close() end
      local positions = require "moonloop.configuration.positions"
      return text and positions.line(positions.of(text), steps)
      """)
    return try? find?(path, steps)
  }
}
