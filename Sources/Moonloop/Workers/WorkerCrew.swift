// How many workers a guest has, on all of its threads: each may make some.

internal import Synchronization

/// The workers of one guest, and theirs. Any thread.
final class WorkerCrew: Sendable {
  private let count = Atomic(0)

  /// Counts as one worker for as long as it lives.
  final class Place: Sendable {
    private let crew: WorkerCrew

    fileprivate init(_ crew: WorkerCrew) { self.crew = crew }

    deinit { crew.count.subtract(1, ordering: .relaxed) }
  }

  /// - Returns: nil if that would be too many.
  func place(most: Int) -> Place? {
    let before = count.add(1, ordering: .relaxed).oldValue
    let place = Place(self)
    return before < most ? place : nil
  }
}
