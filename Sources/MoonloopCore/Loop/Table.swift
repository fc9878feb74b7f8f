// Growable memory for plain records: the one place of the core where element pointers live.
//
// A `Table` is a handle to memory that its owner frees by hand; copying the handle copies nothing.
// That makes it a `let` of its owner, so that access needs no exclusivity check, and a handler may
// change the table while a caller stands between two accesses (never inside one).

/// A growable array of plain records with checked indices, owned by the caller of `deallocate`.
@usableFromInline
package struct Table<Element: BitwiseCopyable> {
  @usableFromInline
  struct Header {
    @usableFromInline var base: UnsafeMutablePointer<Element>
    @usableFromInline var count: Int
    @usableFromInline var capacity: Int
    /// How many unused elements precede the first.
    let lead: Int

    @usableFromInline
    init(capacity: Int, lead: Int) {
      base = Self.allocate(capacity, lead)
      count = 0
      self.capacity = capacity
      self.lead = lead
    }

    /// Elements that fill whole lines of the cache begin with one, and so does the memory before
    /// those with a lead.
    static func allocate(_ capacity: Int, _ lead: Int) -> UnsafeMutablePointer<Element> {
      let size = MemoryLayout<Element>.stride
      let alignment = size % 64 == 0 || lead > 0 ? 64 : MemoryLayout<Element>.alignment
      return UnsafeMutableRawPointer.allocate(
        byteCount: (capacity + lead) * size, alignment: alignment
      ).bindMemory(to: Element.self, capacity: capacity + lead) + lead
    }

    func deallocate() {
      // Memory with its own alignment is freed as raw memory.
      UnsafeMutableRawPointer(base - lead).deallocate()
    }
  }
  @usableFromInline let header: UnsafeMutablePointer<Header>

  /// - Parameter lead: How many elements are left free at the start, so that others than the first
  ///   begin a line of the cache.
  package init(minimumCapacity: Int = 8, lead: Int = 0) {
    header = .allocate(capacity: 1)
    header.initialize(to: Header(capacity: minimumCapacity, lead: lead))
  }

  /// Frees the memory; the handle and its copies are dead afterwards.
  package func deallocate() {
    header.pointee.deallocate()
    header.deallocate()
  }

  @inlinable
  package var count: Int { @inline(__always) get { header.pointee.count } }
  @inlinable
  package var isEmpty: Bool { @inline(__always) get { header.pointee.count == 0 } }

  @inlinable
  package subscript(_ index: Int) -> Element {
    @inline(__always) unsafeAddress {
      #if DEBUG
        Steps.note()
      #endif
      precondition(UInt(bitPattern: index) < UInt(bitPattern: header.pointee.count))
      return UnsafePointer(header.pointee.base + index)
    }
    @inline(__always) nonmutating unsafeMutableAddress {
      #if DEBUG
        Steps.note()
      #endif
      precondition(UInt(bitPattern: index) < UInt(bitPattern: header.pointee.count))
      return header.pointee.base + index
    }
  }

  /// The address of an element: valid until the next append.
  @inline(__always)
  func pointer(to index: Int) -> UnsafeMutablePointer<Element> {
    precondition(UInt(bitPattern: index) < UInt(bitPattern: header.pointee.count))
    return header.pointee.base + index
  }

  /// The elements' memory, for loops that neither call out nor append: valid until the next append.
  @inline(__always)
  var base: UnsafeMutablePointer<Element> { header.pointee.base }

  @inlinable
  @inline(__always)
  func append(_ element: Element) {
    if header.pointee.count == header.pointee.capacity { grow() }
    (header.pointee.base + header.pointee.count).initialize(to: element)
    header.pointee.count &+= 1
  }

  @inlinable
  @inline(__always)
  func removeLast() {
    precondition(header.pointee.count > 0)
    header.pointee.count &-= 1
  }

  func removeAll() { header.pointee.count = 0 }

  /// Appends copies of an element until there are at least this many.
  package func extend(to count: Int, with element: Element) {
    while header.pointee.count < count { append(element) }
  }

  @usableFromInline
  @inline(never)
  func grow() {
    let capacity = header.pointee.capacity * 2
    let base = Header.allocate(capacity, header.pointee.lead)
    base.moveInitialize(from: header.pointee.base, count: header.pointee.count)
    header.pointee.deallocate()
    header.pointee.base = base
    header.pointee.capacity = capacity
  }
}
