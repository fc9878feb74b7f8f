// A look at one descriptor in the words of poll(2), for faces that other libraries know.

internal import Glibc

/// Asks for events of a descriptor without waiting. Any thread.
/// - Returns: What poll(2) returns, `errno` included.
package func lookAt(_ fd: Int32, for events: Int16, found: inout Int16) -> Int32 {
  var one = pollfd(fd: fd, events: events, revents: 0)
  let count = poll(&one, 1, 0)
  found = one.revents
  return count
}

/// The same for several at once; the result has one element for each.
package func lookAt(_ asked: [(fd: Int32, events: Int16)], found: inout [Int16]) -> Int32 {
  var looks = asked.map { pollfd(fd: $0.fd, events: $0.events, revents: 0) }
  let count = poll(&looks, nfds_t(looks.count), 0)
  found = looks.map(\.revents)
  return count
}
