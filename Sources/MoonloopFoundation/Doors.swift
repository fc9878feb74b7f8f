// Items of the host that call a closure: a source that is signalled, and one for a descriptor.

#if canImport(CoreFoundation)
  import CLinuxShims
  import CoreFoundation

  /// What a source of the host calls; the source holds it.
  private final class Call {
    let body: () -> Void
    let descriptor: Int32

    init(_ descriptor: Int32 = -1, _ body: @escaping () -> Void) {
      (self.descriptor, self.body) = (descriptor, body)
    }

    static func of(_ info: UnsafeRawPointer?) -> Call? {
      info.map { Unmanaged<Call>.fromOpaque($0).takeUnretainedValue() }
    }

    static func retain(_ info: UnsafeRawPointer?) -> UnsafeRawPointer? {
      info.map { UnsafeRawPointer(Unmanaged<Call>.fromOpaque($0).retain().toOpaque()) }
    }

    static func release(_ info: UnsafeRawPointer?) {
      if let info { Unmanaged<Call>.fromOpaque(info).release() }
    }
  }

  /// A source of version 0.
  func makeSource(_ body: @escaping () -> Void) -> CFRunLoopSource {
    let call = Call(-1, body)
    var context = CFRunLoopSourceContext()
    context.info = Unmanaged.passUnretained(call).toOpaque()
    context.retain = { Call.retain($0) }
    context.release = { Call.release($0) }
    context.perform = { Call.of($0)?.body() }
    return withExtendedLifetime(call) { CFRunLoopSourceCreate(nil, 0, &context) }
  }

  /// A source of the host that calls a closure when a descriptor becomes readable.
  ///
  /// It is notified once for what becomes ready at once: a caller that leaves some asks for the
  /// rest.
  final class DescriptorDoor {
    private let source: CFRunLoopSource
    private var isIn = false
    #if canImport(Darwin)
      private let descriptor: CFFileDescriptor
    #endif

    init(_ descriptor: Int32, _ body: @escaping () -> Void) {
      let call = Call(descriptor, body)
      let info = Unmanaged.passUnretained(call).toOpaque()
      #if canImport(Darwin)
        var context = CFFileDescriptorContext()
        context.info = info
        context.retain = { UnsafeMutableRawPointer(mutating: Call.retain($0)) }
        context.release = { Call.release($0) }
        self.descriptor = withExtendedLifetime(call) {
          CFFileDescriptorCreate(
            nil, descriptor, false,
            { descriptor, _, info in
              Call.of(info)?.body()
              CFFileDescriptorEnableCallBacks(descriptor, kCFFileDescriptorReadCallBack)
            }, &context)
        }
        CFFileDescriptorEnableCallBacks(self.descriptor, kCFFileDescriptorReadCallBack)
        source = CFFileDescriptorCreateRunLoopSource(nil, self.descriptor, 0)
      #else
        // Here a port is a descriptor. Core Foundation reads eight bytes of it before the call-out:
        // those of the bell; a set of descriptors has no bytes to read.
        var context = CFRunLoopSourceContext1()
        context.version = 1
        context.info = info
        context.retain = { Call.retain($0) }
        context.release = { Call.release($0) }
        context.getPort = { Call.of($0)?.descriptor ?? -1 }
        context.perform = { Call.of($0)?.body() }
        source = withExtendedLifetime(call) {
          withUnsafeMutablePointer(to: &context) { pointer in
            pointer.withMemoryRebound(to: CFRunLoopSourceContext.self, capacity: 1) {
              CFRunLoopSourceCreate(nil, 0, $0)
            }
          }
        }
      #endif
    }

    /// Puts it into a mode, or takes it out.
    func put(in host: CFRunLoop, _ mode: CFString, _ isWanted: Bool) {
      if isWanted == isIn { return }
      isIn = isWanted
      if isWanted {
        CFRunLoopAddSource(host, source, mode)
      } else {
        CFRunLoopRemoveSource(host, source, mode)
      }
    }

    func end() {
      CFRunLoopSourceInvalidate(source)
      #if canImport(Darwin)
        CFFileDescriptorInvalidate(descriptor)
      #endif
    }
  }

  /// A port of the host that is rung when one of ours is ready: it gets its turn among theirs.
  final class Bell {
    private let descriptor: Int32
    private var door: DescriptorDoor?
    private var isRung = false

    init(_ body: @escaping () -> Void) {
      descriptor = cmx_eventfd()
      door = DescriptorDoor(descriptor) { [unowned self] in  // `end` ends it
        isRung = false
        drain()
        body()
      }
    }

    func put(in host: CFRunLoop, _ mode: CFString, _ isWanted: Bool) {
      door?.put(in: host, mode, isWanted)
      // What has rung in vain is found when the mode is run again.
      if !isWanted { isRung = false }
    }

    func ring() {
      if isRung { return }
      isRung = true
      cmx_eventfd_signal(descriptor)
    }

    private func drain() {
      #if canImport(Darwin)
        var count: UInt64 = 0
        _ = cmx_read(descriptor, &count, 8)
      #endif
    }

    func end() {
      door?.end()
      cmx_close(descriptor)
    }
  }
#endif
