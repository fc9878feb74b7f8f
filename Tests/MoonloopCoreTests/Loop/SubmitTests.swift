// Closures of async code, performed on the loop's thread, with their values.

internal import MoonloopCore
internal import Synchronization
internal import Testing

/// What a submission ended with, as a word.
private func outcome<Value: Sendable>(
  _ body: @Sendable () async throws -> Value
) async -> String {
  do { return "\(try await body())" } catch is CancellationError {
    return "cancelled"
  } catch let error as LoopError {
    return error.code
  } catch {
    return "\(error)"
  }
}

@Suite struct SubmitTests {
  private struct Failure: Error, Equatable {}

  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
    func increment() { count.wrappingAdd(1, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
  }

  @Test func `a body gives its value or error, performed on the thread of the loop`() async {
    let thread = LoopThread(name: "submit")
    let loop = thread.loop
    #expect(await outcome { try await loop.submit { loop.isOnThread } } == "true")
    #expect(await outcome { try await loop.submit { throw Failure() } } == "Failure()")
    let later = await outcome {
      try await loop.submit {
        let before = loop.isOnThread
        await Task.yield()
        return [before, loop.isOnThread]
      }
    }
    #expect(later == "[true, true]")
    let failed = await outcome {
      try await loop.submit {
        await Task.yield()
        throw Failure()
      }
    }
    #expect(failed == "Failure()")
    thread.stop()
    thread.join()
    #expect(await outcome { try await loop.submit { 1 } } == "ESRCH")
    #expect(
      await outcome {
        try await loop.submit {
          await Task.yield()
          return 1
        }
      } == "ESRCH")
  }

  @Test func `a body that is cancelled before its turn is never performed`() async {
    let thread = LoopThread(name: "submit")
    let loop = thread.loop
    let performed = Counter()
    let task = Task {
      await outcome {
        try await loop.submit(modes: ["never"]) {
          performed.increment()
        }
      }
    }
    task.cancel()
    #expect(await task.value == "cancelled")
    thread.stop()
    thread.join()
    #expect(performed.value == 0)
  }

  @Test func `a caller that waits when the loop ends gets an error`() async {
    let thread = LoopThread(name: "submit")
    let loop = thread.loop
    async let waiting = outcome { try await loop.submit(modes: ["never"]) { 1 } }
    // Whichever comes first, the submission or the end.
    thread.stop()
    #expect(await waiting == "ESRCH")
    thread.join()
  }

  @Test func `of a thousand submissions none is lost while the loop is stopped`() async {
    for round in 0..<20 {
      let thread = LoopThread(name: "submit")
      let loop = thread.loop
      let performed = Counter()
      let words = await withTaskGroup(of: String.self) { group in
        for number in 0..<50 {
          group.addTask {
            if number == round * 2 { thread.stop() }
            return await outcome {
              try await loop.submit { performed.increment() }
            }
          }
        }
        return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
      }
      thread.join()
      #expect(words.values.reduce(0, +) == 50)
      #expect(words.keys.filter { $0 != "ESRCH" && !$0.hasPrefix("(") } == [])
      #expect(50 - words["ESRCH", default: 0] == performed.value)
    }
  }
}
