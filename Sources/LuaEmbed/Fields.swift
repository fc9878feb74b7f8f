// Small steps on the stack that the modules of a host are made of.

internal import CLuaShims

extension LuaStack {
  /// Sets a string field of the table on top of the stack, without metamethods. [-0, +0, raises: -]
  package func setField(_ name: StaticString, _ value: String) {
    push(name)
    push(value)
    rawSet(-3)
  }

  /// The same for one that need not be text.
  package func setField(_ name: StaticString, bytes: [UInt8]) {
    push(name)
    bytes.withUnsafeBytes { push(bytes: $0) }
    rawSet(-3)
  }

  package func setField(_ name: StaticString, _ value: Int) {
    push(name)
    push(value)
    rawSet(-3)
  }

  package func setField(_ name: StaticString, _ value: Double) {
    push(name)
    push(value)
    rawSet(-3)
  }

  package func setField(_ name: StaticString, _ value: Bool) {
    push(name)
    push(value)
    rawSet(-3)
  }

  package func setField(_ name: StaticString, _ value: some LuaPushable) {
    setField(name) { value.push(on: self) }
  }

  /// The same for what a closure pushes.
  @inline(__always)
  package func setField(_ name: StaticString, push: () -> Void) {
    self.push(name)
    push()
    rawSet(-3)
  }

  /// The same for a list of what a closure pushes for each element.
  package func setList<List: Collection>(
    _ name: StaticString, _ list: List, _ push: (List.Element) -> Void
  ) { setField(name) { self.push(list: list, push) } }

  /// Pushes a list of what a closure pushes for each element. [-0, +1, raises: -]
  package func push<List: Collection>(list: List, _ push: (List.Element) -> Void) {
    newTable(items: Int32(clamping: list.count))
    var place: Int64 = 0
    for element in list {
      push(element)
      place += 1
      rawSet(-2, item: place)
    }
  }

  /// Pops a table and makes it the metatable of a table; it must have no `__gc`.
  /// [-1, +0, raises: -]
  package func popMetatable(of index: Int32) { cml_set_metatable(L, index) }

  /// The value of a number that Lua stores as an integer; nil for floats and anything else.
  package func exactInteger(_ index: Int32) -> Int? {
    cml_isinteger(L, index) != 0 ? integer(index) : nil
  }

  /// The identity of a table, function or other reference while it lives.
  package func address(_ index: Int32) -> UnsafeRawPointer { cml_topointer(L, index) }

  /// Converts the number at an index to a string in place, as Lua writes it. [-0, +0, raises: -]
  package func makeString(_ index: Int32) {
    var count = 0
    _ = cml_tolstring(L, index, &count)
  }

  /// Goes on to the next field of a table: pops a key, pushes the next and its value.
  /// [-1, +(2|0), raises: -]
  /// - Returns: false if there is none; then nothing is pushed.
  package func next(_ index: Int32) -> Bool { cml_next(L, index) }

  /// The number in a table's only field, if that has this name; else nil. [-0, +0, raises: -]
  package func onlyNumber(_ name: StaticString, of index: Int32) -> Double? {
    let text = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    var number = 0.0
    return cml_only_number(L, index, text, name.utf8CodeUnitCount, &number) ? number : nil
  }

  /// What keeps the running coroutine from being suspended, such as `table.sort`; nil if it can be.
  package var boundary: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CML_NAME_BYTES)) { buffer in
      cml_boundary(L, buffer.baseAddress!) ? String(cString: buffer.baseAddress!) : nil
    }
  }
}

extension LuaState {
  /// Frees a registry reference, whatever is running. [-0, +0, raises: -]
  package func dropRef(_ ref: Int32) { door.dropRef(ref) }

  /// Pops a value and makes it what `require` returns for a name. [-1, +0, raises: -]
  package func popLoaded(_ name: String, on stack: LuaStack) {
    cml_set_loaded(stack.L, name)
  }
}

extension LuaText {
  /// The known word nearest to an unknown one, if it is close enough for a typo.
  /// - Parameter limit: How many letters may differ; nil: more for longer words.
  package static func nearest(
    to word: String, among words: [String], limit: Int? = nil
  ) -> String? {
    let limit = limit.map { Int32(clamping: $0) } ?? cml_distance_limit(word)
    let distances = words.map { (word: $0, distance: cml_distance(word, $0, limit + 1)) }
    return distances.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.word
  }
}
