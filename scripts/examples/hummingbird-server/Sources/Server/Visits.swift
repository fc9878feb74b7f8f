// What the program knows, and its scripts ask for.

internal import LuaEmbed
internal import Moonloop

/// Counts the visits of pages.
public actor Visits {
  private var counts: [String: Int] = [:]

  public init() {}

  func add(_ page: String) -> Int {
    counts[page, default: 0] += 1
    return counts[page, default: 0]
  }
}

extension Scripts {
  /// Gives scripts the function `visit(page)`; a handler that calls it waits, and no other does.
  public func give(_ visits: Visits) async throws {
    try await withState { _, lua in
      lua.registerAsync("visit") { (page: String) async -> Int in await visits.add(page) }
    }
  }
}
