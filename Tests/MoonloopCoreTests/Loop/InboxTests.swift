// The queue between threads.

internal import MoonloopCore
internal import Synchronization
internal import Testing

@Suite struct InboxTests {
  private func take(_ inbox: Inbox<Int>) -> [Int] {
    var all: [Int] = []
    var queue = inbox.takeAll()
    while let message = queue.takeFirst() { all.append(message) }
    return all
  }

  @Test func `messages come in order, whether one is taken or all are`() {
    let inbox = Inbox<Int>()
    for message in 1...4 { inbox.post(message) }
    #expect(inbox.takeFirst() == 1 && inbox.waiting == 3)
    inbox.post(5)
    #expect(inbox.takeFirst() == 2)
    #expect(take(inbox) == [3, 4, 5] && inbox.isEmpty && inbox.takeFirst() == nil)
    inbox.post(6)
    #expect(take(inbox) == [6])
  }

  @Test func `the limit counts what was taken over and not yet taken`() {
    let inbox = Inbox<Int>()
    #expect((1...4).map { inbox.post($0, limit: 3) } == [0, 1, 2, nil])
    #expect(inbox.takeFirst() == 1)
    #expect((5...6).map { inbox.post($0, limit: 3) } == [2, nil])
    inbox.close()
    #expect(inbox.post(7) == nil && take(inbox) == [2, 3, 5])
  }

  @Test func `of many senders and receivers each message is taken once, those of one in order`()
    async
  {
    let (inbox, each) = (Inbox<Int>(), 20_000)
    let taken = await withTaskGroup(of: [Int].self) { group in
      for sender in 0..<3 {
        group.addTask {
          for number in 0..<each { inbox.post(sender * each + number) }
          return []
        }
      }
      let left = Counter(3 * each)
      for receiver in 0..<2 {
        group.addTask {
          var own: [Int] = []
          while left.value.load(ordering: .relaxed) > 0 {
            var batch: [Int] = []
            if receiver == 0 {
              batch = take(inbox)
            } else if let one = inbox.takeFirst() {
              batch = [one]
            }
            left.value.wrappingSubtract(batch.count, ordering: .relaxed)
            own += batch
            if batch.isEmpty { await Task.yield() }
          }
          return own
        }
      }
      return await group.reduce(into: [[Int]]()) { $0.append($1) }
    }
    for own in taken {
      for sender in 0..<3 {
        let ofOne = own.filter { $0 / each == sender }
        #expect(ofOne == ofOne.sorted())
      }
    }
    #expect(taken.joined().sorted() == Array(0..<3 * each) && inbox.isEmpty)
  }

  private final class Counter: Sendable {
    let value: Atomic<Int>
    init(_ start: Int) { value = Atomic(start) }
  }
}
